package stepset

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// chance is a source of random numbers that depends on nothing but the names
// given, so that a change to one rollout leaves all others as they were.
func chance(names ...string) *rand.Rand {
	h := sha256.New()
	for _, n := range names {
		h.Write([]byte(n))
		h.Write([]byte{0})
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:])))
}

// pick returns one of options.
func pick[T any](rnd *rand.Rand, options []T) T { return options[rnd.IntN(len(options))] }
