package onnx

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPairLayouts(t *testing.T) {
	t.Parallel()
	sp := func(typeID int64, ids ...int64) piece { return piece{special: ids, typeID: typeID} }
	for _, c := range []struct {
		name, json string
		want       []piece
		err        string
	}{
		{"bert", `{"type":"BertProcessing","sep":["[SEP]",102],"cls":["[CLS]",101]}`,
			[]piece{sp(0, 101), {}, sp(0, 102), {second: true, typeID: 1}, sp(1, 102)}, ""},
		{"roberta", `{"type":"RobertaProcessing","sep":["</s>",2],"cls":["<s>",0],"trim_offsets":true}`,
			[]piece{sp(0, 0), {}, sp(0, 2), sp(0, 2), {second: true}, sp(0, 2)}, ""},
		{"template", `{"type":"TemplateProcessing","pair":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}},{"Sequence":{"id":"B","type_id":1}},{"SpecialToken":{"id":"[SEP]","type_id":1}}],"special_tokens":{"[CLS]":{"ids":[1]},"[SEP]":{"ids":[2]}}}`,
			[]piece{sp(0, 1), {}, sp(0, 2), {second: true, typeID: 1}, sp(1, 2)}, ""},
		{"sequence", `{"type":"Sequence","processors":[{"type":"ByteLevel"},{"type":"BertProcessing","sep":["s",2],"cls":["c",1]}]}`,
			[]piece{sp(0, 1), {}, sp(0, 2), {second: true, typeID: 1}, sp(1, 2)}, ""},
		{"no hypothesis", `{"type":"TemplateProcessing","pair":[{"Sequence":{"id":"A","type_id":0}}]}`, nil, "each of A and B once"},
		{"unknown token", `{"type":"TemplateProcessing","pair":[{"SpecialToken":{"id":"?","type_id":0}}]}`, nil, "unknown special token"},
		{"none", `null`, nil, "not supported"},
	} {
		var p postProcessor
		require.NoError(t, json.Unmarshal([]byte(c.json), &p), c.name)
		got, err := p.layout()
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, c.name)
	}
}
