package onnx

import (
	"encoding/json"
	"fmt"
)

// piece is one part of a pair's layout: a run of special tokens, or one of the
// two texts.
type piece struct {
	special []int64 // nil for a text
	second  bool    // the hypothesis
	typeID  int64
}

// postProcessor is the part of tokenizer.json that says how a pair is put
// together.
type postProcessor struct {
	Type string `json:"type"`
	// TemplateProcessing
	Pair          []templatePiece          `json:"pair"`
	SpecialTokens map[string]templateToken `json:"special_tokens"`
	// BertProcessing, RobertaProcessing
	Sep tokenAndID `json:"sep"`
	Cls tokenAndID `json:"cls"`
	// Sequence
	Processors []postProcessor `json:"processors"`
}

type templatePiece struct {
	SpecialToken *struct {
		ID     string `json:"id"`
		TypeID int64  `json:"type_id"`
	} `json:"SpecialToken"`
	Sequence *struct {
		ID     string `json:"id"`
		TypeID int64  `json:"type_id"`
	} `json:"Sequence"`
}

type templateToken struct {
	IDs []int64 `json:"ids"`
}

// tokenAndID is written as ["[SEP]", 102].
type tokenAndID struct {
	ID    int64
	known bool
}

func (t *tokenAndID) UnmarshalJSON(data []byte) error {
	var pair [2]json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil {
		return fmt.Errorf("special token: %w", err)
	}
	if err := json.Unmarshal(pair[1], &t.ID); err != nil {
		return fmt.Errorf("special token's id: %w", err)
	}
	t.known = true
	return nil
}

// layout returns the pieces of a pair, in order.
func (p *postProcessor) layout() ([]piece, error) {
	switch p.Type {
	case "TemplateProcessing":
		return p.templateLayout()
	case "BertProcessing":
		if !p.Cls.known || !p.Sep.known {
			return nil, fmt.Errorf("BertProcessing lacks cls or sep")
		}
		cls, sep := []int64{p.Cls.ID}, []int64{p.Sep.ID}
		return []piece{{special: cls}, {}, {special: sep}, {second: true, typeID: 1}, {special: sep, typeID: 1}}, nil
	case "RobertaProcessing":
		if !p.Cls.known || !p.Sep.known {
			return nil, fmt.Errorf("RobertaProcessing lacks cls or sep")
		}
		cls, sep := []int64{p.Cls.ID}, []int64{p.Sep.ID}
		return []piece{{special: cls}, {}, {special: sep}, {special: sep}, {second: true}, {special: sep}}, nil
	case "Sequence":
		var found []piece
		for i := range p.Processors {
			if p.Processors[i].Type == "ByteLevel" { // trims offsets alone
				continue
			}
			if found != nil {
				return nil, fmt.Errorf("post_processor is a sequence of several layouts, which is not supported")
			}
			var err error
			if found, err = p.Processors[i].layout(); err != nil {
				return nil, err
			}
		}
		if found == nil {
			return nil, fmt.Errorf("post_processor has no layout for pairs")
		}
		return found, nil
	default:
		return nil, fmt.Errorf("post_processor %q is not supported (TemplateProcessing, BertProcessing, RobertaProcessing are)", p.Type)
	}
}

func (p *postProcessor) templateLayout() ([]piece, error) {
	var out []piece
	seen := map[string]int{}
	for _, t := range p.Pair {
		switch {
		case t.SpecialToken != nil:
			tok, ok := p.SpecialTokens[t.SpecialToken.ID]
			if !ok || len(tok.IDs) == 0 {
				return nil, fmt.Errorf("pair template uses the unknown special token %q", t.SpecialToken.ID)
			}
			out = append(out, piece{special: tok.IDs, typeID: t.SpecialToken.TypeID})
		case t.Sequence != nil:
			seen[t.Sequence.ID]++
			out = append(out, piece{second: t.Sequence.ID == "B", typeID: t.Sequence.TypeID})
		default:
			return nil, fmt.Errorf("pair template has a piece that is neither token nor sequence")
		}
	}
	if len(seen) != 2 || seen["A"] != 1 || seen["B"] != 1 {
		return nil, fmt.Errorf("pair template must hold each of A and B once")
	}
	return out, nil
}

// overhead is how many special tokens a layout adds.
func overhead(layout []piece) int {
	n := 0
	for _, p := range layout {
		n += len(p.special)
	}
	return n
}
