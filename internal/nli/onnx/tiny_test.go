package onnx_test

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/pkg/schema"
	"github.com/stretchr/testify/require"
)

// tiny is a DeBERTa-v2 of the project's own making (models/deberta-tiny), in
// DeBERTa-v3's layout. It memorized the pairs of its pairs.json.
var tiny = filepath.Join("testdata", "deberta-tiny")

type goldPair struct {
	Premise, Hypothesis, Gold string
}

func TestTinyDebertaLoadsEncodesAndBatches(t *testing.T) {
	t.Parallel()
	_, library := paths(t)
	var pairs []goldPair
	require.NoError(t, json.Unmarshal(read(t, filepath.Join(tiny, "pairs.json")), &pairs))
	hashes := map[string]string{}
	for file, precision := range map[string]string{
		"model.onnx": "fp32", "model_tt.onnx": "fp32", "model_fp16.onnx": "fp16", "model_int8.onnx": "int8",
	} {
		s, err := onnx.OpenScorer(onnx.Options{Dir: tiny, File: file, Library: library, Device: "cpu", Log: slog.New(slog.DiscardHandler)}, nli.BatcherOptions{})
		require.NoError(t, err)
		info := s.Info()
		require.Equal(t, []any{file, precision, 512, 3, len(pairs)}, []any{info.File, info.Precision, info.MaxTokens, info.PairOverhead, info.Reference})
		require.Empty(t, hashes[info.Hash])
		hashes[info.Hash] = file
		var ask []nli.Pair
		for _, p := range pairs {
			ask = append(ask, nli.Pair{Premise: p.Premise, Hypothesis: p.Hypothesis})
		}
		scores, err := s.Score(t.Context(), ask)
		require.NoError(t, err)
		for i, p := range pairs {
			require.Equal(t, p.Gold, best(scores[i]), "%s: %q => %q: %+v", file, p.Premise, p.Hypothesis, scores[i])
		}
		require.NoError(t, s.Close())
	}
}

func best(s schema.Scores) string {
	switch max(s.Entailment, s.Neutral, s.Contradiction) {
	case s.Entailment:
		return "entailment"
	case s.Neutral:
		return "neutral"
	default:
		return "contradiction"
	}
}

// TestParityIsHeldToByWhatAFileComputesWith breaks models and references, and
// gives files names that say something else.
func TestParityIsHeldToByWhatAFileComputesWith(t *testing.T) {
	t.Parallel()
	_, library := paths(t)
	file := func(name string) []byte { return read(t, filepath.Join(tiny, name)) }
	reference := func(edit func(i int, logits []float64)) []byte {
		var refs []map[string]any
		require.NoError(t, json.Unmarshal(file("reference.json"), &refs))
		for i, r := range refs {
			raw := r["logits"].([]any)
			logits := []float64{raw[0].(float64), raw[1].(float64), raw[2].(float64)}
			edit(i, logits)
			r["logits"] = logits
			delete(r, "label")
		}
		data, err := json.Marshal(refs)
		require.NoError(t, err)
		return data
	}
	nudge := func(by float64) []byte {
		return reference(func(_ int, l []float64) { l[0] += by })
	}
	turned := reference(func(i int, l []float64) { // one sure pair in four means another class
		if i%4 == 0 {
			l[0], l[1], l[2] = l[1], l[2], l[0]
		}
	})
	for _, c := range []struct {
		name  string
		file  string
		files map[string][]byte
		want  string // "" where it is to be opened
	}{
		{"fp32 under another name", "model_int8.onnx", map[string][]byte{"model_int8.onnx": file("model.onnx"), "reference.json": nudge(0.01)}, "by 0.01"},
		{"fp16 under a plain name", "model.onnx", map[string][]byte{"model.onnx": file("model_fp16.onnx")}, ""},
		{"int8 under a plain name", "model.onnx", map[string][]byte{"model.onnx": file("model_int8.onnx")}, ""},
		{"fp16 a little off", "model_fp16.onnx", map[string][]byte{"reference.json": nudge(0.01)}, ""},
		{"fp16 off", "model_fp16.onnx", map[string][]byte{"reference.json": turned}, "the fp16 model differs from its fp32 reference"},
		{"int8 off", "model_int8.onnx", map[string][]byte{"reference.json": turned}, "changes the class of 9 of 36 sure ones"},
		{"no pairs", "model.onnx", map[string][]byte{"reference.json": []byte("[]")}, "holds no pairs"},
		{"no reference", "model.onnx", map[string][]byte{"reference.json": nil}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			m, err := onnx.Open(onnx.Options{Dir: withFiles(t, tiny, c.files), File: c.file, Library: library, Device: "cpu", Log: slog.New(slog.NewTextHandler(&log, nil))})
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				require.ErrorContains(t, err, "refused")
				require.Nil(t, m)
				return
			}
			require.NoError(t, err)
			defer m.Close()
			_, left := c.files["reference.json"]
			unchecked := left && c.files["reference.json"] == nil
			require.Equal(t, unchecked, strings.Contains(log.String(), "not checked against reference"), log.String())
			require.Equal(t, unchecked, m.Info().Reference == 0)
		})
	}
}
