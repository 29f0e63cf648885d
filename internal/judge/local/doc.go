// Package local is the judge that needs no model: entity overlap, abstention
// patterns and BM25-like choice of the deciding sentence. It is deterministic,
// makes no calls, and says in every trail entry that it is rules. It serves the
// demo, CI, and as the floor that an LLM judge must beat.
package local
