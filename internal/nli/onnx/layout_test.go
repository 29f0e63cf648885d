package onnx_test

import (
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stretchr/testify/require"
)

// folder is a model folder that a test makes from testdata.
type folder struct {
	config    map[string]any
	tokenizer string            // of which family in testdata; "" leaves it out
	files     map[string]string // place in the folder -> file in testdata/graphs
	own       string            // stepgap.json
}

func (f folder) write(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "model")
	put := func(name string, data []byte) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, data, 0o644))
	}
	read := func(parts ...string) []byte {
		data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
		require.NoError(t, err)
		return data
	}
	config, err := json.Marshal(f.config)
	require.NoError(t, err)
	put("config.json", config)
	if f.tokenizer != "" {
		put("tokenizer.json", read(f.tokenizer, "tokenizer.json"))
	}
	for place, graph := range f.files {
		put(place, read("graphs", graph))
	}
	if f.own != "" {
		put("stepgap.json", []byte(f.own))
	}
	return dir
}

func configOf(names ...string) map[string]any {
	id2label := map[int]string{}
	for i, n := range names {
		id2label[i] = n
	}
	return map[string]any{"model_type": "deberta-v2", "max_position_embeddings": 512, "id2label": id2label}
}

func three() map[string]any { return configOf("entailment", "neutral", "contradiction") }
func two() map[string]any   { return configOf("not_entailment", "entailment") }

// graphLogits is what the graphs in testdata answer (see models/deberta-tiny/graphs.py).
func graphLogits(e nli.Encoding, classes int) []float64 {
	sum := 0.0
	for i := range e.IDs {
		sum += float64(e.IDs[i] + 7*e.TypeIDs[i])
	}
	out := make([]float64, classes)
	for c := range out {
		out[c] = 4 * math.Sin(sum*float64(c+1)/100)
	}
	return out
}

func TestLayoutsThatAreRead(t *testing.T) {
	t.Parallel()
	_, library := paths(t)
	model := func(graph string) map[string]string { return map[string]string{"model.onnx": graph} }
	for _, c := range []struct {
		name      string
		folder    folder
		file      string // asked for
		order     [3]int // entailment, neutral, contradiction in the output
		tolerance float64
		info      nli.Info
	}{
		{name: "usual", folder: folder{three(), "deberta-tiny", model("plain.onnx"), ""}, order: [3]int{0, 1, 2}, info: nli.Info{File: "model.onnx", Precision: "fp32"}},
		{name: "labels in another order and case", folder: folder{configOf("CONTRADICTION", "Entails", "Neutral"), "deberta-tiny", model("plain.onnx"), ""}, order: [3]int{1, 2, 0}, info: nli.Info{File: "model.onnx", Precision: "fp32"}},
		{name: "in onnx/", folder: folder{three(), "deberta-tiny", map[string]string{"onnx/model.onnx": "plain.onnx", "onnx/model_fp16.onnx": "fp16.onnx"}, ""}, order: [3]int{0, 1, 2}, info: nli.Info{File: "onnx/model.onnx", Precision: "fp32"}},
		{name: "the only file", folder: folder{three(), "deberta-tiny", map[string]string{"onnx/model_fp16.onnx": "fp16.onnx"}, ""}, order: [3]int{0, 1, 2}, tolerance: 4e-3, info: nli.Info{File: "onnx/model_fp16.onnx", Precision: "fp16"}},
		{name: "a named file", folder: folder{three(), "deberta-tiny", map[string]string{"model.onnx": "one_output.onnx", "onnx/a.onnx": "plain.onnx"}, ""}, file: "onnx/a.onnx", order: [3]int{0, 1, 2}, info: nli.Info{File: "onnx/a.onnx", Precision: "fp32"}},
		{name: "a file named by stepgap.json", folder: folder{three(), "deberta-tiny", map[string]string{"model.onnx": "one_output.onnx", "b.onnx": "plain.onnx"}, `{"file": "b.onnx"}`}, order: [3]int{0, 1, 2}, info: nli.Info{File: "b.onnx", Precision: "fp32"}},
		{name: "int32 ids", folder: folder{three(), "deberta-tiny", model("int32.onnx"), ""}, order: [3]int{0, 1, 2}, info: nli.Info{File: "model.onnx", Precision: "fp32"}},
		{name: "float16 logits", folder: folder{three(), "deberta-tiny", model("fp16.onnx"), ""}, order: [3]int{0, 1, 2}, tolerance: 4e-3, info: nli.Info{File: "model.onnx", Precision: "fp16"}},
		{name: "an output of another name", folder: folder{three(), "deberta-tiny", model("other_name.onnx"), ""}, order: [3]int{0, 1, 2}, info: nli.Info{File: "model.onnx", Precision: "fp32"}},
		{name: "a pooled output too", folder: folder{three(), "deberta-tiny", model("pooled_too.onnx"), ""}, order: [3]int{0, 1, 2}, info: nli.Info{File: "model.onnx", Precision: "fp32"}},
		{name: "external data", folder: folder{three(), "deberta-tiny", map[string]string{"onnx/model.onnx": "external.onnx", "onnx/external.onnx_data": "external.onnx_data"}, ""}, order: [3]int{0, 1, 2}, info: nli.Info{File: "onnx/model.onnx", Precision: "fp32"}},
		{name: "two labels", folder: folder{two(), "deberta-tiny", model("two_labels.onnx"), ""}, order: [3]int{1, 0, -1}, info: nli.Info{File: "model.onnx", Precision: "fp32", TwoWay: true}},
		{name: "two labels named by stepgap.json", folder: folder{configOf("LABEL_0", "LABEL_1"), "deberta-tiny", model("two_labels.onnx"), `{"labels": {"0": "unsupported", "1": "supported"}}`}, order: [3]int{1, 0, -1}, info: nli.Info{File: "model.onnx", Precision: "fp32", TwoWay: true}},
		{name: "RoBERTa", folder: folder{map[string]any{"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1, "id2label": three()["id2label"]}, "roberta-tiny", model("plain.onnx"), ""}, order: [3]int{0, 1, 2}, info: nli.Info{File: "model.onnx", Precision: "fp32"}},
		{name: "one text for both", folder: folder{two(), "deberta-tiny", model("two_labels.onnx"), `{"pair_text": "{premise}\n\nCan we conclude that \"{hypothesis}\"?"}`}, order: [3]int{1, 0, -1}, info: nli.Info{File: "model.onnx", Precision: "fp32", TwoWay: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := open(t, onnx.Options{Dir: c.folder.write(t), File: c.file, Library: library, Device: "cpu"})
			info := m.Info()
			require.Equal(t, c.info, nli.Info{File: info.File, Precision: info.Precision, TwoWay: info.TwoWay})
			require.Equal(t, 512, info.MaxTokens)
			if c.tolerance == 0 {
				c.tolerance = 1e-3
			}
			var encs []nli.Encoding
			for _, p := range []nli.Pair{
				{Premise: "The mill was opened in 1931.", Hypothesis: "It was opened."},
				{Premise: "A"},
				{Premise: "Ada Marsh studied music in Lyon and mathematics in Cork.", Hypothesis: "She studied music."},
			} {
				e, err := m.Encode(p)
				require.NoError(t, err)
				require.LessOrEqual(t, e.Len(), info.PairOverhead+tokens(t, m, p.Premise)+tokens(t, m, p.Hypothesis))
				encs = append(encs, e)
			}
			rows, err := m.Run(t.Context(), encs)
			require.NoError(t, err)
			for i, row := range rows {
				classes := 3
				if c.info.TwoWay {
					classes = 2
				}
				want := graphLogits(encs[i], classes)
				require.InDelta(t, want[c.order[0]], row.Entailment, c.tolerance)
				require.InDelta(t, want[c.order[1]], row.Neutral, c.tolerance)
				require.Equal(t, c.info.TwoWay, row.TwoWay)
				if !c.info.TwoWay {
					require.InDelta(t, want[c.order[2]], row.Contradiction, c.tolerance)
				}
				_, err := nli.Probabilities(row)
				require.NoError(t, err)
			}
		})
	}
}

func tokens(t *testing.T, m *onnx.Model, text string) int {
	t.Helper()
	n, err := m.CountTokens(text)
	require.NoError(t, err)
	return n
}

func TestLayoutsThatAreRefused(t *testing.T) {
	t.Parallel()
	_, library := paths(t)
	model := func(graph string) map[string]string { return map[string]string{"model.onnx": graph} }
	multi := two()
	multi["problem_type"] = "multi_label_classification"
	for _, c := range []struct {
		name   string
		folder folder
		file   string
		want   []string
	}{
		{"two files of the usual names", folder{three(), "deberta-tiny", map[string]string{"model.onnx": "plain.onnx", "onnx/model.onnx": "plain.onnx"}, ""}, "", []string{"several ONNX files (model.onnx, onnx/model.onnx)", "--nli-file"}},
		{"several files of other names", folder{three(), "deberta-tiny", map[string]string{"onnx/a.onnx": "plain.onnx", "b.onnx": "plain.onnx"}, ""}, "", []string{"several ONNX files (b.onnx, onnx/a.onnx)"}},
		{"no file", folder{three(), "deberta-tiny", nil, ""}, "", []string{"no ONNX file", "optimum-cli export onnx"}},
		{"a named file that isn't there", folder{three(), "deberta-tiny", model("plain.onnx"), ""}, "model_int8.onnx", []string{"model_int8.onnx", "the folder has model.onnx"}},
		{"no tokenizer.json", folder{three(), "", model("plain.onnx"), ""}, "", []string{"tokenizer.json", "save_pretrained"}},
		{"names without meaning", folder{configOf("LABEL_0", "LABEL_1", "LABEL_2"), "deberta-tiny", model("plain.onnx"), ""}, "", []string{"says nothing about its meaning", "stepgap.json"}},
		{"two names without meaning", folder{configOf("LABEL_0", "LABEL_1"), "deberta-tiny", model("two_labels.onnx"), ""}, "", []string{"says nothing about its meaning", "not_entailment"}},
		{"one output", folder{configOf("LABEL_0"), "deberta-tiny", model("one_output.onnx"), ""}, "", []string{"one output"}},
		{"a score a class", folder{multi, "deberta-tiny", model("two_labels.onnx"), ""}, "", []string{"multi_label_classification"}},
		{"three labels of two outputs", folder{three(), "deberta-tiny", model("two_labels.onnx"), ""}, "", []string{"shape (batch, 3)", "logits"}},
		{"two outputs that could be it", folder{three(), "deberta-tiny", model("two_candidates.onnx"), ""}, "", []string{"several could be the logits", "output_0", "output_1"}},
		{"an input that isn't known", folder{three(), "deberta-tiny", model("unknown_input.onnx"), ""}, "", []string{"position_ids"}},
		{"ids of another type", folder{three(), "deberta-tiny", model("float_ids.onnx"), ""}, "", []string{"int64 and int32"}},
		{"external data that isn't there", folder{three(), "deberta-tiny", model("external.onnx"), ""}, "", []string{"external.onnx_data", "beside it"}},
		{"external data outside the folder", folder{three(), "deberta-tiny", map[string]string{"model.onnx": "outside.onnx", "../outside.onnx_data": "external.onnx_data"}, ""}, "", []string{"outside its folder"}},
		{"no ONNX in the file", folder{three(), "deberta-tiny", map[string]string{"model.onnx": "../roberta-tiny/tokenizer.json"}, ""}, "", []string{"as an ONNX model"}},
		{"a misspelt key in stepgap.json", folder{three(), "deberta-tiny", model("plain.onnx"), `{"label": {}}`}, "", []string{"stepgap.json", "label"}},
		{"a pair_text without the hypothesis", folder{three(), "deberta-tiny", model("plain.onnx"), `{"pair_text": "{premise}?"}`}, "", []string{"pair_text", "{hypothesis}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, err := onnx.Open(onnx.Options{Dir: c.folder.write(t), File: c.file, Library: library, Device: "cpu", Log: slog.New(slog.DiscardHandler)})
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
			require.Nil(t, m)
		})
	}
}

func TestHashCoversAllThatDecides(t *testing.T) {
	t.Parallel()
	_, library := paths(t)
	base := func() folder {
		return folder{three(), "deberta-tiny", map[string]string{"model.onnx": "external.onnx", "external.onnx_data": "external.onnx_data"}, `{}`}
	}
	hash := func(f folder, edit func(dir string)) string {
		dir := f.write(t)
		edit(dir)
		return open(t, onnx.Options{Dir: dir, Library: library, Device: "cpu"}).Info().Hash
	}
	same := hash(base(), func(string) {})
	require.Equal(t, same, hash(base(), func(string) {}))
	require.NotEqual(t, same, hash(base(), func(dir string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "external.onnx_data"), make([]byte, 12), 0o644))
	}), "external weights")
	own := base()
	own.own = `{"labels": {"0": "neutral", "1": "entailment", "2": "contradiction"}}`
	require.NotEqual(t, same, hash(own, func(string) {}), "stepgap.json")
}

func TestWhatAModelCannotSayIsLogged(t *testing.T) {
	t.Parallel()
	_, library := paths(t)
	var log strings.Builder
	m, err := onnx.Open(onnx.Options{
		Dir:     folder{two(), "deberta-tiny", map[string]string{"model.onnx": "two_labels.onnx"}, ""}.write(t),
		Library: library, Device: "cpu", Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, err)
	defer m.Close()
	require.Equal(t, 2, strings.Count(log.String(), "\n"), log.String())
	require.Contains(t, log.String(), "contradicted_claim can't come from it")
	require.Contains(t, log.String(), "not_entailment, entailment")
	require.Contains(t, log.String(), "not checked against reference logits")
	require.Zero(t, m.Info().Reference)
}
