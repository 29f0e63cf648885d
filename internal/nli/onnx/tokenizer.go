package onnx

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	layout   []piece
	overhead int // tokens of a pair beside premise and hypothesis

	mu  sync.RWMutex // held for reading while encoding, for writing to close
	tok *tokenizers.Tokenizer
}

// openTokenizer reads dir's tokenizer.json. pairText is stepgap.json's pair_text.
func openTokenizer(dir, pairText string) (*pairTokenizer, error) {
	path := filepath.Join(dir, "tokenizer.json")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: other tokenizer files (vocab.txt, spm.model, merges.txt) are not read; make it with `python -c \"from transformers import AutoTokenizer as T; T.from_pretrained('%s').save_pretrained('%s')\"`", err, dir, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("reading tokenizer: %w", err)
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	layout, err := readLayout(file, pairText)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
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
	t := &pairTokenizer{layout: layout, tok: tok}
	if t.overhead, err = t.measureOverhead(); err != nil {
		return nil, errors.Join(fmt.Errorf("measuring the layout of %s: %w", path, err), t.close())
	}
	return t, nil
}

// readLayout says how a pair is put together by tokenizer.json's parts.
func readLayout(file map[string]json.RawMessage, pairText string) ([]piece, error) {
	var post postProcessor
	if err := json.Unmarshal(file["post_processor"], &post); err != nil {
		return nil, fmt.Errorf("post_processor: %w", err)
	}
	if pairText == "" {
		return post.pair()
	}
	var added []addedToken
	if err := json.Unmarshal(file["added_tokens"], &added); err != nil {
		return nil, fmt.Errorf("added_tokens: %w", err)
	}
	around, err := post.single()
	if err != nil {
		return nil, err
	}
	return withText(around, pairText, added)
}

// boundarySlack is how many tokens more than its parts a text may have for
// each of the two texts put into it: words may be split otherwise at the seams.
const boundarySlack = 4

// measureOverhead counts the tokens of a pair that are neither premise nor
// hypothesis; of a layout with text of its own, it is an upper bound.
func (t *pairTokenizer) measureOverhead() (int, error) {
	n := 0
	for _, p := range t.layout {
		n += len(p.special)
		if p.special != nil || p.text == premiseSlot || p.text == hypothesisSlot {
			continue
		}
		ids, err := t.encode(p.fill(nli.Pair{}))
		if err != nil {
			return 0, err
		}
		n += len(ids) + boundarySlack*p.slots()
	}
	return n, nil
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
	parts := make([][]uint32, len(t.layout))
	n := 0
	for i, piece := range t.layout {
		n += len(piece.special)
		if piece.special != nil {
			continue
		}
		ids, err := t.encode(piece.fill(p))
		if err != nil {
			return nli.Encoding{}, fmt.Errorf("encoding %s: %w", piece.text, err)
		}
		parts[i] = ids
		n += len(ids)
	}
	e := nli.Encoding{IDs: make([]int64, 0, n), TypeIDs: make([]int64, 0, n)}
	add := func(id, typeID int64) {
		e.IDs = append(e.IDs, id)
		e.TypeIDs = append(e.TypeIDs, typeID)
	}
	for i, piece := range t.layout {
		for _, id := range piece.special {
			add(id, piece.typeID)
		}
		for _, id := range parts[i] {
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
