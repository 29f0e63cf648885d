package stagetest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
)

// Environment of the tests against a real model.
const (
	EnvURL    = "STEPGAP_LLM_URL"    // base URL; unset: the tests are skipped
	EnvModel  = "STEPGAP_LLM_MODEL"  // model name
	EnvKey    = "STEPGAP_LLM_KEY"    // key, if the endpoint wants one
	EnvReport = "STEPGAP_LLM_REPORT" // folder for <stage>.json; unset: none is written
)

// budget is what one item may take. A small model on a busy core needs it.
const budget = 3 * time.Minute

// Answer is what a judge made of an item.
type Answer struct {
	Got   string
	Right bool
	Meta  judge.Meta
	// Counts are further things to sum up, such as quotes found verbatim.
	Counts map[string]int
}

// Item is one hand-written case.
type Item struct {
	Name, Want string
	Ask        func(ctx context.Context) (Answer, error)
}

// Report is what Real measured.
type Report struct {
	Date         string         `json:"date"`
	Stage        string         `json:"stage"`
	Model        string         `json:"model"`
	Prompt       string         `json:"prompt"`
	Items        int            `json:"items"`
	Right        int            `json:"right"`
	Errors       int            `json:"errors"`
	Calls        int            `json:"calls"`
	TokensIn     int            `json:"tokens_in"`
	TokensCached int            `json:"tokens_cached"`
	TokensOut    int            `json:"tokens_out"`
	P50Seconds   float64        `json:"p50_s"`
	MaxSeconds   float64        `json:"max_s"`
	Counts       map[string]int `json:"counts,omitempty"`
	// ConfidenceRight and ConfidenceWrong are means; nil where there is none.
	ConfidenceRight *float64 `json:"confidence_right"`
	ConfidenceWrong *float64 `json:"confidence_wrong"`
	Cases           []Case   `json:"cases"`
}

// Case is one item's outcome.
type Case struct {
	Name       string   `json:"name"`
	Want       string   `json:"want"`
	Got        string   `json:"got"`
	Right      bool     `json:"right"`
	Confidence *float64 `json:"confidence,omitempty"`
	Seconds    float64  `json:"s"`
	Error      string   `json:"error,omitempty"`
}

// RealSetup returns what a judge is built from, asking the model that the
// environment names; without one the test is skipped.
func RealSetup(t *testing.T) llm.Setup {
	t.Helper()
	url := os.Getenv(EnvURL)
	if url == "" {
		t.Skipf("%s is not set: no real model to ask", EnvURL)
	}
	cfg := llm.DefaultConfig()
	cfg.BaseURL, cfg.Model, cfg.CallTimeout = url, os.Getenv(EnvModel), budget
	key, err := llm.LoadSecret(EnvKey, "")
	require.NoError(t, err)
	cfg.Key = key
	client, err := llm.New(cfg)
	require.NoError(t, err)
	// A fixed secret, so that a model at temperature 0 sees the same prompts in
	// every run.
	return llm.Setup{Completer: client, Fencer: llm.NewFencer(llm.NewSecret("measured"))}
}

// Real asks the items one after the other, prints what it measured and, where
// the environment names a folder, writes it there. A verdict is asked of every
// item; being right no more often than the best constant answer fails the test.
func Real(t *testing.T, stage string, items []Item) {
	t.Helper()
	r := Report{Date: time.Now().UTC().Format(time.DateOnly), Stage: stage, Items: len(items), Counts: map[string]int{}}
	var right, wrong, seconds []float64
	for _, item := range items {
		ctx, cancel := context.WithTimeout(t.Context(), budget)
		start := time.Now()
		got, err := item.Ask(ctx)
		took := time.Since(start).Seconds()
		cancel()
		c := Case{Name: item.Name, Want: item.Want, Got: got.Got, Right: got.Right && err == nil, Confidence: got.Meta.Confidence, Seconds: took}
		if err != nil {
			r.Errors++
			c.Error = err.Error()
			if je := judge.AsError(err); je != nil {
				got.Meta = je.Meta
			}
		}
		r.Model, r.Prompt = cmp.Or(got.Meta.Model, r.Model), cmp.Or(got.Meta.Prompt, r.Prompt)
		r.Calls += got.Meta.Calls
		r.TokensIn += got.Meta.TokensIn
		r.TokensCached += got.Meta.TokensCached
		r.TokensOut += got.Meta.TokensOut
		for name, n := range got.Counts {
			r.Counts[name] += n
		}
		seconds = append(seconds, took)
		if conf := got.Meta.Confidence; conf != nil && c.Right {
			right = append(right, *conf)
		} else if conf != nil {
			wrong = append(wrong, *conf)
		}
		if c.Right {
			r.Right++
		}
		r.Cases = append(r.Cases, c)
		t.Logf("%-5v %5.1f s  conf %-5s  %-28s want %q got %q %s", c.Right, took, number(conf(got)), c.Name, c.Want, c.Got, c.Error)
	}
	slices.Sort(seconds)
	r.P50Seconds, r.MaxSeconds = seconds[len(seconds)/2], seconds[len(seconds)-1]
	r.ConfidenceRight, r.ConfidenceWrong = mean(right), mean(wrong)
	t.Logf("%s, %s, %s, %s: %d of %d right, %d errors, %d calls; p50 %.1f s, max %.1f s; tokens in %d (cached %d), out %d; confidence right %s, wrong %s; %v",
		r.Date, stage, r.Model, r.Prompt, r.Right, r.Items, r.Errors, r.Calls, r.P50Seconds, r.MaxSeconds,
		r.TokensIn, r.TokensCached, r.TokensOut, number(r.ConfidenceRight), number(r.ConfidenceWrong), r.Counts)
	write(t, r)
	require.Zero(t, r.Errors, "every item must get a verdict")
	require.Greater(t, r.Right, constant(items), "no better than giving every item the same answer")
}

// constant is how many items the best constant answer gets right.
func constant(items []Item) int {
	count, best := map[string]int{}, 0
	for _, item := range items {
		count[item.Want]++
		best = max(best, count[item.Want])
	}
	return best
}

func write(t *testing.T, r Report) {
	t.Helper()
	folder := os.Getenv(EnvReport)
	if folder == "" {
		return
	}
	require.NoError(t, os.MkdirAll(folder, 0o755))
	data, err := json.MarshalIndent(r, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, r.Stage+".json"), append(data, '\n'), 0o644))
}

func conf(a Answer) *float64 { return a.Meta.Confidence }

func mean(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	m := sum / float64(len(values))
	return &m
}

func number(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *v)
}
