package onnx

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/nli"
)

// piece is one part of a pair's layout: a run of special tokens, or a text.
type piece struct {
	special []int64 // nil for a text
	text    string  // with premiseSlot, hypothesisSlot or both in it
	typeID  int64
}

// The places of the two texts in a layout.
const (
	premiseSlot    = "{premise}"
	hypothesisSlot = "{hypothesis}"
)

// fill puts a pair into a piece's text. Braces in the pair itself are text.
func (p piece) fill(pair nli.Pair) string {
	switch p.text {
	case premiseSlot:
		return pair.Premise
	case hypothesisSlot:
		return pair.Hypothesis
	}
	return strings.NewReplacer(premiseSlot, pair.Premise, hypothesisSlot, pair.Hypothesis).Replace(p.text)
}

// slots is how many of the two texts a piece holds.
func (p piece) slots() int {
	return strings.Count(p.text, premiseSlot) + strings.Count(p.text, hypothesisSlot)
}

// postProcessor is the part of tokenizer.json that says how a pair is put
// together.
type postProcessor struct {
	Type string `json:"type"`
	// TemplateProcessing
	Single        []templatePiece          `json:"single"`
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

// addedToken is an entry of tokenizer.json's added_tokens.
type addedToken struct {
	ID      int64  `json:"id"`
	Content string `json:"content"`
	Special bool   `json:"special"`
}

// pair returns the pieces of a pair, in order.
func (p *postProcessor) pair() ([]piece, error) {
	real, cls, sep, err := p.resolve()
	if err != nil {
		return nil, err
	}
	premise, hypothesis := piece{text: premiseSlot}, piece{text: hypothesisSlot}
	switch real.Type {
	case "BertProcessing":
		hypothesis.typeID = 1
		return []piece{cls, premise, sep, hypothesis, {special: sep.special, typeID: 1}}, nil
	case "RobertaProcessing":
		return []piece{cls, premise, sep, sep, hypothesis, sep}, nil
	default:
		return real.template(real.Pair, map[string]string{"A": premiseSlot, "B": hypothesisSlot})
	}
}

// single returns the pieces of one text, which is premiseSlot here.
func (p *postProcessor) single() ([]piece, error) {
	real, cls, sep, err := p.resolve()
	if err != nil {
		return nil, err
	}
	if real.Type != "TemplateProcessing" {
		return []piece{cls, {text: premiseSlot}, sep}, nil
	}
	return real.template(real.Single, map[string]string{"A": premiseSlot})
}

// resolve finds the one processor that puts texts together and, of the two
// kinds that name them, its special tokens.
func (p *postProcessor) resolve() (real *postProcessor, cls, sep piece, err error) {
	switch p.Type {
	case "TemplateProcessing":
		return p, piece{}, piece{}, nil
	case "BertProcessing", "RobertaProcessing":
		if !p.Cls.known || !p.Sep.known {
			return nil, piece{}, piece{}, fmt.Errorf("%s lacks cls or sep", p.Type)
		}
		return p, piece{special: []int64{p.Cls.ID}}, piece{special: []int64{p.Sep.ID}}, nil
	case "Sequence":
		for i := range p.Processors {
			if p.Processors[i].Type == "ByteLevel" { // trims offsets alone
				continue
			}
			if real != nil {
				return nil, piece{}, piece{}, fmt.Errorf("post_processor is a sequence of several layouts, which is not supported")
			}
			real = &p.Processors[i]
		}
		if real == nil {
			return nil, piece{}, piece{}, fmt.Errorf("post_processor has no layout for pairs")
		}
		return real.resolve()
	default:
		return nil, piece{}, piece{}, fmt.Errorf("post_processor %q is not supported (TemplateProcessing, BertProcessing, RobertaProcessing are)", p.Type)
	}
}

// template reads the pieces of a TemplateProcessing, whose sequences are to be
// the keys of slots, each once.
func (p *postProcessor) template(pieces []templatePiece, slots map[string]string) ([]piece, error) {
	var out []piece
	seen := map[string]int{}
	for _, t := range pieces {
		switch {
		case t.SpecialToken != nil:
			tok, ok := p.SpecialTokens[t.SpecialToken.ID]
			if !ok || len(tok.IDs) == 0 {
				return nil, fmt.Errorf("post_processor's template uses the unknown special token %q", t.SpecialToken.ID)
			}
			out = append(out, piece{special: tok.IDs, typeID: t.SpecialToken.TypeID})
		case t.Sequence != nil:
			seen[t.Sequence.ID]++
			out = append(out, piece{text: slots[t.Sequence.ID], typeID: t.Sequence.TypeID})
		default:
			return nil, fmt.Errorf("post_processor's template has a piece that is neither token nor sequence")
		}
	}
	for id := range slots {
		if len(seen) != len(slots) || seen[id] != 1 {
			return nil, fmt.Errorf("post_processor's template for %d texts must hold each of them once", len(slots))
		}
	}
	return out, nil
}

// withText puts text (stepgap.json's pair_text) in the place of the one text of
// around. Special tokens written in it are the real ones, as the model's own
// code means them; in premise and hypothesis they stay text.
func withText(around []piece, text string, added []addedToken) ([]piece, error) {
	for _, slot := range []string{premiseSlot, hypothesisSlot} {
		if strings.Count(text, slot) != 1 {
			return nil, fmt.Errorf("pair_text of %s must hold %s once; it is %q", overrideFile, slot, text)
		}
	}
	var out []piece
	for _, p := range around {
		if p.special != nil {
			out = append(out, p)
			continue
		}
		for rest := text; rest != ""; {
			at, token := nextSpecial(rest, added)
			if at > 0 {
				out = append(out, piece{text: rest[:at], typeID: p.typeID})
			}
			if token.Content == "" {
				break
			}
			out = append(out, piece{special: []int64{token.ID}, typeID: p.typeID})
			rest = rest[at+len(token.Content):]
		}
	}
	return out, nil
}

// nextSpecial finds the first special token in text, the longest of those that
// start there, or the end of text and no token.
func nextSpecial(text string, added []addedToken) (int, addedToken) {
	at, found := len(text), addedToken{}
	for _, t := range added {
		if !t.Special || t.Content == "" {
			continue
		}
		if i := strings.Index(text, t.Content); i >= 0 && (i < at || i == at && len(t.Content) > len(found.Content)) {
			at, found = i, t
		}
	}
	return at, found
}
