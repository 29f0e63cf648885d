package nli

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/stepgap/stepgap/pkg/schema"
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

// cache keeps the most recently used results.
type cache struct {
	mu    sync.Mutex
	limit int
	order *list.List // front is the most recent; values are *cached
	byKey map[key]*list.Element
}

type cached struct {
	key    key
	scores schema.Scores
}

// newCache returns a cache of at most limit results; with limit 0 it keeps
// nothing.
func newCache(limit int) *cache {
	return &cache{limit: limit, order: list.New(), byKey: make(map[key]*list.Element)}
}

func (c *cache) get(k key) (schema.Scores, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.byKey[k]
	if !ok {
		return schema.Scores{}, false
	}
	c.order.MoveToFront(el)
	return el.Value.(*cached).scores, true
}

func (c *cache) put(k key, s schema.Scores) {
	if c.limit <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.byKey[k]; ok {
		c.order.MoveToFront(el)
		return
	}
	c.byKey[k] = c.order.PushFront(&cached{key: k, scores: s})
	for len(c.byKey) > c.limit {
		last := c.order.Back()
		c.order.Remove(last)
		delete(c.byKey, last.Value.(*cached).key)
	}
}
