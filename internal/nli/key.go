package nli

import (
	"crypto/sha256"
	"encoding/binary"
)

// key identifies a pair under one model. It is a cryptographic hash, so that
// hostile text can't make two pairs share a verdict.
type key [sha256.Size]byte

func pairKey(model string, p Pair) key {
	h := sha256.New()
	var n [8]byte
	for _, s := range [...]string{model, p.Premise, p.Hypothesis} {
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	var k key
	h.Sum(k[:0])
	return k
}
