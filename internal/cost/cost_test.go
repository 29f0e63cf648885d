package cost_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/internal/cost"
	"github.com/stepgap/stepgap/pkg/schema"
)

func TestBill(t *testing.T) {
	t.Parallel()
	var l cost.Ledger
	l.Add(&schema.Label{Label: schema.GapNone, Trail: []schema.TrailEntry{
		{Stage: schema.StageEntity, Judge: "llm", Model: "m", Calls: 3, TokensIn: 100, TokensCached: 60, TokensOut: 10, LatencyUS: 2000},
		{Stage: schema.StageQuote, Outcome: "no_passages"},
		{Stage: schema.StageLocal, Judge: "nli", Model: "n", Calls: 5, LatencyUS: 100},
	}})
	l.Add(&schema.Label{Label: schema.GapUngraded, Trail: []schema.TrailEntry{
		{Stage: schema.StageEntity, Judge: "llm", Model: "m", CacheHit: true, LatencyUS: 1},
		{Stage: schema.StageQuote, Judge: "llm", Model: "m", Calls: 1, TokensIn: 50, TokensOut: 1},
	}})
	price := cost.Price{In: 1e6, Out: 2e6}
	b := l.Bill("r", cost.Prices{Models: map[string]cost.Price{"m": price}})
	require.Equal(t, 2, b.Labels)
	require.Equal(t, 1, b.Ungraded)
	require.Len(t, b.Lines, 3)
	require.Equal(t, []schema.Stage{schema.StageEntity, schema.StageQuote, schema.StageLocal}, []schema.Stage{b.Lines[0].Stage, b.Lines[1].Stage, b.Lines[2].Stage})
	total := 172.0
	require.Equal(t, cost.Usage{Verdicts: 3, Calls: 4, Extra: 2, CacheHits: 1, TokensIn: 150, TokensOut: 11, TokensCached: 60, Latency: 2001 * time.Microsecond, Cost: &total}, b.Total)
	require.Nil(t, b.Lines[2].Cost, "the NLI model costs no money")
	require.Zero(t, b.Lines[2].Extra, "its pairs are no retries")

	unknown := l.Bill("r", cost.Prices{})
	require.Nil(t, unknown.Total.Cost, "an unknown price is no number")
	require.Equal(t, []string{"m"}, unknown.Unpriced)
}

// The bill of labels is the sum of their bills, in any order.
func TestBillsAddUp(t *testing.T) {
	t.Parallel()
	entry := rapid.Custom(func(t *rapid.T) schema.TrailEntry {
		in := rapid.IntRange(0, 5000).Draw(t, "in")
		return schema.TrailEntry{
			Stage: rapid.SampledFrom([]schema.Stage{schema.StageEntity, schema.StageAbstain, schema.StageQuote}).Draw(t, "stage"),
			Judge: "llm", Model: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "model"),
			Calls: rapid.IntRange(0, 5).Draw(t, "calls"), TokensIn: in, TokensCached: rapid.IntRange(0, in).Draw(t, "cached"),
			TokensOut: rapid.IntRange(0, 400).Draw(t, "out"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOf(entry).Draw(t, "entries")
		var l cost.Ledger
		in, out, calls, money := 0, 0, 0, 0.0
		price := cost.Price{In: 0.15, Out: 0.6}
		for _, e := range entries {
			l.Add(&schema.Label{Trail: []schema.TrailEntry{e}})
			in, out, calls = in+e.TokensIn, out+e.TokensOut, calls+e.Calls
			money += price.Of(e.TokensIn, e.TokensOut, e.TokensCached)
		}
		b := l.Bill("r", cost.Prices{Other: &price})
		if b.Total.TokensIn != in || b.Total.TokensOut != out || b.Total.Calls != calls || *b.Total.Cost-money > 1e-9 || money-*b.Total.Cost > 1e-9 {
			t.Fatalf("%+v, want %d in, %d out, %d calls, %v", b.Total, in, out, calls, money)
		}
	})
}

func TestLoadPrices(t *testing.T) {
	t.Parallel()
	load := func(text string) (map[string]cost.Price, error) {
		path := filepath.Join(t.TempDir(), "prices.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return cost.LoadPrices(path)
	}
	got, err := load("gpt-4.1-mini: {in: 0.4, out: 1.6, cached: 0.1}\nlocal: {in: 0, out: 0}\n")
	require.NoError(t, err)
	require.InDelta(t, 0.1, *got["gpt-4.1-mini"].Cached, 0)
	require.Contains(t, got, "local")
	for _, bad := range []string{"m: {in: 1, out: 1, outt: 2}", "m: {in: -1, out: 1}", "m: {in: 1, out: .nan}", "- m", "m: {in: 1, out: 1}\nm: {in: 2, out: 1}", "m: {in: 1}", "m: {out: 1}", "m:"} {
		_, err := load(bad)
		require.Error(t, err, bad)
	}
}
