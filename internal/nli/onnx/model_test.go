package onnx_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stretchr/testify/require"
)

// paths returns the default model and ONNX Runtime's library, as make sets
// them, or skips.
func paths(t testing.TB) (model, library string) {
	t.Helper()
	model, library = os.Getenv("STEPGAP_NLI_MODEL"), os.Getenv("STEPGAP_ORT_LIB")
	if model == "" || library == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	return model, library
}

func open(t testing.TB, opts onnx.Options) *onnx.Model {
	t.Helper()
	opts.Log = slog.New(slog.DiscardHandler)
	m, err := onnx.Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func openDefault(t testing.TB) *onnx.Model {
	model, library := paths(t)
	return open(t, onnx.Options{Dir: model, Library: library, Device: "cpu"})
}

// copyModel copies a model folder, with file replaced by what edit makes of it.
func copyModel(t *testing.T, dir, file string, edit func([]byte) []byte) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(dir))
	require.NoError(t, os.Mkdir(to, 0o755))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() != file {
			abs, err := filepath.Abs(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			require.NoError(t, os.Symlink(abs, filepath.Join(to, e.Name())))
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, file))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(to, file), edit(data), 0o644))
	return to
}

func TestDefaultModelJudgesPlainPairs(t *testing.T) {
	t.Parallel()
	b := nli.NewBatcher(openDefault(t), nli.BatcherOptions{})
	defer b.Close()
	const entailment, neutral, contradiction = 0, 1, 2
	for _, c := range []struct {
		premise, hypothesis string
		want                int
	}{
		{"Harrow Mill was built in 1790 by Josiah Pell, a miller from Kent.", "Josiah Pell built Harrow Mill.", entailment},
		{"Harrow Mill was built in 1790 by Josiah Pell, a miller from Kent.", "Harrow Mill was built in 1790.", entailment},
		{"Harrow Mill was built in 1790 by Josiah Pell, a miller from Kent.", "Harrow Mill was built in 1845.", contradiction},
		{"Harrow Mill was built in 1790 by Josiah Pell, a miller from Kent.", "Josiah Pell had three daughters.", neutral},
	} {
		s, err := b.Score(t.Context(), []nli.Pair{{Premise: c.premise, Hypothesis: c.hypothesis}})
		require.NoError(t, err)
		p := []float64{s[0].Entailment, s[0].Neutral, s[0].Contradiction}
		best := 0
		for i := range p {
			if p[i] > p[best] {
				best = i
			}
		}
		require.Equal(t, c.want, best, "%q => %q: %+v", c.premise, c.hypothesis, s[0])
	}
}

func TestScoresAreIndependentOfTheBatch(t *testing.T) {
	t.Parallel()
	m := openDefault(t)
	var encs []nli.Encoding
	premise := "The bridge over the Tarn was opened in 2004 and is 2,460 metres long."
	for i := range 12 {
		e, err := m.Encode(nli.Pair{Premise: strings.Repeat(premise+" ", i/2+1), Hypothesis: "The bridge opened in 2004."})
		require.NoError(t, err)
		encs = append(encs, e)
	}
	alone := make([]nli.Logits, len(encs))
	for i := range encs {
		rows, err := m.Run(t.Context(), encs[i:i+1])
		require.NoError(t, err)
		alone[i] = rows[0]
	}
	for _, batch := range [][]int{{0, 11}, {11, 0, 5, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {4, 4, 4}} {
		var in []nli.Encoding
		for _, i := range batch {
			in = append(in, encs[i])
		}
		rows, err := m.Run(t.Context(), in)
		require.NoError(t, err)
		for k, i := range batch {
			require.InDelta(t, alone[i].Entailment, rows[k].Entailment, 1e-4)
			require.InDelta(t, alone[i].Neutral, rows[k].Neutral, 1e-4)
			require.InDelta(t, alone[i].Contradiction, rows[k].Contradiction, 1e-4)
		}
	}
}

func TestInt8PassesItsOwnParity(t *testing.T) {
	t.Parallel()
	model, library := paths(t)
	if _, err := os.Stat(filepath.Join(model, "model_int8.onnx")); err != nil {
		t.Skip("the model folder has no model_int8.onnx")
	}
	m := open(t, onnx.Options{Dir: model, File: "model_int8.onnx", Library: library, Device: "cpu"})
	require.NotEqual(t, openDefault(t).Info().Hash, m.Info().Hash)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	model, library := paths(t)
	for _, c := range []struct {
		name, file string
		edit       func(string) string
		want       string
	}{
		{"labels without meaning", "config.json", func(s string) string {
			return strings.NewReplacer(`"0": "entailment"`, `"0": "LABEL_0"`, `"1": "neutral"`, `"1": "LABEL_1"`, `"2": "contradiction"`, `"2": "LABEL_2"`).Replace(s)
		}, "says nothing about its meaning"},
		{"logits off", "reference.json", func(s string) string {
			return strings.Replace(s, `"logits": [`, `"logits": [9, 1, 1], "was": [`, 1)
		}, "differ from"},
		{"ids off", "reference.json", func(s string) string { return strings.Replace(s, `"ids": [101, `, `"ids": [101, 7, `, 1) }, "tokenizer and reference differ"},
		{"type ids off", "reference.json", func(s string) string { return strings.Replace(s, `"type_ids": [0, `, `"type_ids": [1, `, 1) }, "type ids"},
		{"unknown layout", "tokenizer.json", func(s string) string { return strings.Replace(s, `"TemplateProcessing"`, `"Novel"`, 1) }, "post_processor"},
		{"broken config", "config.json", func(string) string { return "{" }, "config.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := copyModel(t, model, c.file, func(b []byte) []byte {
				after := c.edit(string(b))
				require.NotEqual(t, string(b), after)
				return []byte(after)
			})
			m, err := onnx.Open(onnx.Options{Dir: dir, Library: library, Device: "cpu"})
			require.ErrorContains(t, err, c.want)
			require.Nil(t, m)
		})
	}
}

func TestDevice(t *testing.T) {
	t.Parallel()
	model, library := paths(t)
	t.Run("auto falls back and says so once", func(t *testing.T) {
		t.Parallel()
		var log strings.Builder
		m, err := onnx.Open(onnx.Options{Dir: model, Library: library, Log: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		defer m.Close()
		require.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
		if m.Info().Device == "cpu" {
			require.Contains(t, log.String(), "runs on CPU")
		}
	})
	t.Run("cuda demanded", func(t *testing.T) {
		t.Parallel()
		m, err := onnx.Open(onnx.Options{Dir: model, Library: library, Device: "cuda:0", Log: slog.New(slog.DiscardHandler)})
		if err == nil {
			require.Equal(t, "cuda:0", m.Info().Device)
			require.NoError(t, m.Close())
			return
		}
		require.ErrorContains(t, err, "device cuda:0 was demanded and is not available")
	})
	for _, bad := range []string{"gpu", "cuda:x", "cuda:-1", "cpu:1", ":1"} {
		_, err := onnx.ParseDevice(bad)
		require.Error(t, err, bad)
	}
}

func TestCloseDuringRuns(t *testing.T) {
	t.Parallel()
	model, library := paths(t)
	m, err := onnx.Open(onnx.Options{Dir: model, Library: library, Device: "cpu", Threads: 1})
	require.NoError(t, err)
	e, err := m.Encode(nli.Pair{Premise: "a b c", Hypothesis: "d e f"})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				if _, err := m.Run(context.Background(), []nli.Encoding{e}); err != nil {
					if err != nli.ErrClosed {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	require.NoError(t, m.Close())
	wg.Wait()
	require.NoError(t, m.Close())
	_, err = m.Encode(nli.Pair{Premise: "a", Hypothesis: "b"})
	require.ErrorIs(t, err, nli.ErrClosed)
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	m := openDefault(t)
	count := func(s string) int {
		n, err := m.CountTokens(s)
		require.NoError(t, err)
		return n
	}
	require.Equal(t, count("before after"), count("before \x00after"), "text behind a NUL byte counts")
	require.Greater(t, count("[SEP]"), 1, "a literal special token is text")
	require.Zero(t, count(""))
	require.Zero(t, count(" \n\t\u200b"))
	for _, s := range []string{"\xff\xfe", "a\xc3", "שלום עולם", "👩‍👩‍👧", "\u202eabc", strings.Repeat("x", 5000)} {
		_, err := m.Encode(nli.Pair{Premise: s, Hypothesis: s})
		require.NoError(t, err, "%q", s)
	}
	_, err := m.Encode(nli.Pair{Premise: strings.Repeat("word ", 600), Hypothesis: "x"})
	require.ErrorIs(t, err, nli.ErrTooLong)
}

// TestStrangersDeberta opens a DeBERTa-v2 model that the project did not make,
// with and without token_type_ids.
func TestStrangersDeberta(t *testing.T) {
	t.Parallel()
	_, library := paths(t)
	data := os.Getenv("STEPGAP_DATA")
	if data == "" {
		t.Skip("STEPGAP_DATA is not set")
	}
	dir := filepath.Join(data, "..", "models", "deberta-tiny")
	raw, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Skipf("no model beside STEPGAP_DATA: %v", err)
	}
	var refs []struct {
		Premise, Hypothesis string
		IDs                 []int64   `json:"ids"`
		Logits              []float32 `json:"logits"`
	}
	require.NoError(t, json.Unmarshal(raw, &refs))
	require.NotEmpty(t, refs)
	for _, file := range []string{"model.onnx", "model_tt.onnx"} {
		m := open(t, onnx.Options{Dir: dir, File: file, Library: library, Device: "cpu"})
		require.Equal(t, 512, m.Info().MaxTokens)
		var encs []nli.Encoding
		for _, r := range refs {
			e, err := m.Encode(nli.Pair{Premise: r.Premise, Hypothesis: r.Hypothesis})
			require.NoError(t, err)
			require.Equal(t, r.IDs, e.IDs, "%s => %s", r.Premise, r.Hypothesis)
			encs = append(encs, e)
		}
		rows, err := m.Run(t.Context(), encs)
		require.NoError(t, err)
		for i, r := range refs {
			for k, got := range []float32{rows[i].Entailment, rows[i].Neutral, rows[i].Contradiction} {
				require.Less(t, math.Abs(float64(got-r.Logits[k])), 1e-3, "%s pair %d", file, i)
			}
		}
	}
}
