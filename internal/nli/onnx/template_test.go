package onnx

import (
	"encoding/json"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stretchr/testify/require"
)

func TestPairLayouts(t *testing.T) {
	t.Parallel()
	sp := func(typeID int64, ids ...int64) piece { return piece{special: ids, typeID: typeID} }
	a := piece{text: premiseSlot}
	b := func(typeID int64) piece { return piece{text: hypothesisSlot, typeID: typeID} }
	for _, c := range []struct {
		name, json string
		want       []piece
		err        string
	}{
		{"bert", `{"type":"BertProcessing","sep":["[SEP]",102],"cls":["[CLS]",101]}`,
			[]piece{sp(0, 101), a, sp(0, 102), b(1), sp(1, 102)}, ""},
		{"roberta", `{"type":"RobertaProcessing","sep":["</s>",2],"cls":["<s>",0],"trim_offsets":true}`,
			[]piece{sp(0, 0), a, sp(0, 2), sp(0, 2), b(0), sp(0, 2)}, ""},
		{"template", `{"type":"TemplateProcessing","pair":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}},{"Sequence":{"id":"B","type_id":1}},{"SpecialToken":{"id":"[SEP]","type_id":1}}],"special_tokens":{"[CLS]":{"ids":[1]},"[SEP]":{"ids":[2]}}}`,
			[]piece{sp(0, 1), a, sp(0, 2), b(1), sp(1, 2)}, ""},
		{"sequence", `{"type":"Sequence","processors":[{"type":"ByteLevel"},{"type":"BertProcessing","sep":["s",2],"cls":["c",1]}]}`,
			[]piece{sp(0, 1), a, sp(0, 2), b(1), sp(1, 2)}, ""},
		{"no hypothesis", `{"type":"TemplateProcessing","pair":[{"Sequence":{"id":"A","type_id":0}}]}`, nil, "each of them once"},
		{"unknown token", `{"type":"TemplateProcessing","pair":[{"SpecialToken":{"id":"?","type_id":0}}]}`, nil, "unknown special token"},
		{"none", `null`, nil, "not supported"},
	} {
		var p postProcessor
		require.NoError(t, json.Unmarshal([]byte(c.json), &p), c.name)
		got, err := p.pair()
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, c.name)
	}
}

func TestPairText(t *testing.T) {
	t.Parallel()
	added := []addedToken{{2, "</s>", true}, {7, "</s></s>", true}, {9, "word", false}}
	around := []piece{{special: []int64{0}}, {text: premiseSlot}, {special: []int64{2}}}
	for text, want := range map[string][]piece{
		"{premise}</s>{hypothesis}":            {{text: premiseSlot}, {special: []int64{2}}, {text: hypothesisSlot}},
		"{premise}</s></s>{hypothesis}":        {{text: premiseSlot}, {special: []int64{7}}, {text: hypothesisSlot}},
		"word {premise}: is {hypothesis}?</s>": {{text: "word {premise}: is {hypothesis}?"}, {special: []int64{2}}},
	} {
		got, err := withText(around, text, added)
		require.NoError(t, err)
		require.Equal(t, append(append(around[:1:1], want...), around[2]), got, text)
	}
	for _, bad := range []string{"{premise}", "{hypothesis} {premise} {premise}", "none"} {
		_, err := withText(around, bad, added)
		require.ErrorContains(t, err, "once", bad)
	}
	p := piece{text: "{premise} / {hypothesis}"}
	require.Equal(t, "{hypothesis} / b", p.fill(nli.Pair{Premise: "{hypothesis}", Hypothesis: "b"}), "braces in a pair are text")
}
