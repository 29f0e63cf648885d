// Package lru keeps the most recently used entries of a bounded map.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps at most a fixed number of entries. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	limit int
	order *list.List // front is the most recent; values are *entry
	byKey map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// New returns a cache of at most limit entries; with limit 0 or less it keeps
// nothing. It takes its memory at once.
func New[K comparable, V any](limit int) *Cache[K, V] {
	// Twice the room: under steady replacement a map that is filled to its brim
	// splits its tables some time, after hundreds of thousands of entries, and
	// what was flat memory takes a step.
	return &Cache[K, V]{limit: limit, order: list.New(), byKey: make(map[K]*list.Element, max(0, 2*limit))}
}

// Get returns the value of key, which then is the most recent.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(el)
	return el.Value.(*entry[K, V]).value, true
}

// Put keeps value under key as the most recent, in place of the one that may be
// there, and drops the least recent if there are too many.
func (c *Cache[K, V]) Put(key K, value V) {
	if c.limit <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if el, ok := c.byKey[key]; ok {
		el.Value.(*entry[K, V]).value = value
		c.order.MoveToFront(el)
		return
	}
	c.byKey[key] = c.order.PushFront(&entry[K, V]{key, value})
	for len(c.byKey) > c.limit {
		last := c.order.Back()
		c.order.Remove(last)
		delete(c.byKey, last.Value.(*entry[K, V]).key)
	}
}

// Len is the number of entries.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.byKey)
}
