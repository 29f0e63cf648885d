package onnx

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/daulet/tokenizers"
	"github.com/stepgap/stepgap/internal/nli"
)

// pairTokenizer encodes pairs as Python's tokenizers does with truncation and
// padding off and encode_special_tokens on: a literal "[SEP]" in a web page
// stays text and can't end the premise.
type pairTokenizer struct {
	layout []piece

	mu  sync.RWMutex // held for reading while encoding, for writing to close
	tok *tokenizers.Tokenizer
}

func openTokenizer(path string) (*pairTokenizer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading tokenizer: %w", err)
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	var post postProcessor
	if err := json.Unmarshal(file["post_processor"], &post); err != nil {
		return nil, fmt.Errorf("reading post_processor of %s: %w", path, err)
	}
	layout, err := post.layout()
	if err != nil {
		return nil, fmt.Errorf("reading post_processor of %s: %w", path, err)
	}
	// Files carry truncation and padding of their own (128 tokens, say), which
	// would cut silently.
	file["truncation"] = json.RawMessage("null")
	file["padding"] = json.RawMessage("null")
	stripped, err := json.Marshal(file)
	if err != nil {
		return nil, fmt.Errorf("rewriting %s: %w", path, err)
	}
	tok, err := tokenizers.FromBytes(stripped, tokenizers.WithEncodeSpecialTokens())
	if err != nil {
		return nil, fmt.Errorf("opening tokenizer %s: %w", path, err)
	}
	return &pairTokenizer{layout: layout, tok: tok}, nil
}

// clean makes text safe for the C boundary: the library reads up to the first
// NUL byte, and invalid UTF-8 is its own affair. Both become U+FFFD.
func clean(text string) string {
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return text
}

// encode returns one text's ids without special tokens.
func (t *pairTokenizer) encode(text string) ([]uint32, error) {
	text = clean(text)
	if text == "" {
		return nil, nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.tok == nil {
		return nil, nli.ErrClosed
	}
	enc := t.tok.EncodeWithOptions(text, false)
	// The library reports failure as an empty encoding. Text without a single
	// token is possible (white space, control characters), but only of little
	// text.
	if len(enc.IDs) == 0 && strings.ContainsFunc(text, isLetterOrDigit) {
		return nil, fmt.Errorf("tokenizer gave nothing for %d bytes of text", len(text))
	}
	return enc.IDs, nil
}

func (t *pairTokenizer) pair(p nli.Pair) (nli.Encoding, error) {
	a, err := t.encode(p.Premise)
	if err != nil {
		return nli.Encoding{}, fmt.Errorf("encoding premise: %w", err)
	}
	b, err := t.encode(p.Hypothesis)
	if err != nil {
		return nli.Encoding{}, fmt.Errorf("encoding hypothesis: %w", err)
	}
	n := len(a) + len(b) + overhead(t.layout)
	e := nli.Encoding{IDs: make([]int64, 0, n), TypeIDs: make([]int64, 0, n)}
	add := func(id, typeID int64) {
		e.IDs = append(e.IDs, id)
		e.TypeIDs = append(e.TypeIDs, typeID)
	}
	for _, piece := range t.layout {
		if piece.special != nil {
			for _, id := range piece.special {
				add(id, piece.typeID)
			}
			continue
		}
		ids := a
		if piece.second {
			ids = b
		}
		for _, id := range ids {
			add(int64(id), piece.typeID)
		}
	}
	return e, nil
}

func (t *pairTokenizer) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tok == nil {
		return nil
	}
	err := t.tok.Close()
	t.tok = nil
	return err
}
