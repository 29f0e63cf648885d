package cache

import (
	"container/list"
	"sync"

	"github.com/stepgap/stepgap/internal/judge/llm"
)

// lru keeps the most recently used verdicts.
type lru struct {
	mu    sync.Mutex
	limit int
	order *list.List // front is the most recent; values are *kept
	byKey map[string]*list.Element
}

type kept struct {
	key     string
	verdict llm.Remembered
}

func newLRU(limit int) *lru {
	return &lru{limit: limit, order: list.New(), byKey: map[string]*list.Element{}}
}

func (c *lru) get(key string) (llm.Remembered, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.byKey[key]
	if !ok {
		return llm.Remembered{}, false
	}
	c.order.MoveToFront(el)
	return el.Value.(*kept).verdict, true
}

func (c *lru) put(key string, v llm.Remembered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.byKey[key]; ok {
		el.Value.(*kept).verdict = v
		c.order.MoveToFront(el)
		return
	}
	c.byKey[key] = c.order.PushFront(&kept{key, v})
	for c.order.Len() > c.limit {
		oldest := c.order.Back()
		c.order.Remove(oldest)
		delete(c.byKey, oldest.Value.(*kept).key)
	}
}
