package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/audit"
	"github.com/stepgap/stepgap/pkg/schema"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

// command runs the program with args, and returns what it printed.
func command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRoot("test")
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestProfilesAreListedShownAndChecked(t *testing.T) {
	t.Parallel()
	out, err := command(t, "reward", "profiles")
	require.NoError(t, err)
	require.Contains(t, out, "stepgap (default)")
	require.Contains(t, out, "paper")

	out, err = command(t, "reward", "show", "paper", "--json")
	require.NoError(t, err)
	var shown struct {
		Hash    string
		Profile struct{ Outcome struct{ Metric string } }
		Sources map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(out), &shown))
	require.Len(t, shown.Hash, 64)
	require.Equal(t, "em", shown.Profile.Outcome.Metric)
	require.Contains(t, shown.Sources["base.none"], "arXiv")

	yaml, err := command(t, "reward", "show", "paper", "--yaml")
	require.NoError(t, err)
	mine := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(mine, []byte(yaml), 0o600))
	out, err = command(t, "reward", "check", mine)
	require.NoError(t, err)
	require.Contains(t, out, shown.Hash)

	require.NoError(t, os.WriteFile(mine, []byte(strings.Replace(yaml, "cap_gaps", "cap_gap", 1)), 0o600))
	_, err = command(t, "reward", "check", mine)
	require.ErrorContains(t, err, "field cap_gap: line")

	out, err = command(t, "reward", "schema")
	require.NoError(t, err)
	require.True(t, json.Valid([]byte(out)))
}

// log writes the labels and rewards of n rollouts in groups of four, padded with
// no-ops if the policy farms, as `stepgap watch --json` prints them.
func log(t *testing.T, n int, farms bool) string {
	t.Helper()
	p, err := rewardagg.LoadProfile("paper")
	require.NoError(t, err)
	var file bytes.Buffer
	enc := json.NewEncoder(&file)
	for i := range n {
		labels := map[int]*schema.Label{}
		end := &schema.RolloutEnd{Run: "r", Rollout: fmt.Sprint(i), Group: fmt.Sprint(i / 4), GroupSize: 4, Answer: "no", Gold: []string{"yes"}}
		if i%3 == 0 {
			end.Answer = "yes"
		}
		add := func(gap schema.Gap, reason schema.Reason, query, claim string) {
			index := len(labels) + 1
			l := &schema.Label{Run: "r", Rollout: end.Rollout, Index: index, Digest: strings.Repeat("a", 64), Label: gap, Repair: gap.Repair(),
				Stage: schema.StageLocal, Reason: reason, Facts: &schema.Facts{Kind: schema.KindSearch, Query: query, Text: claim, Claim: claim}}
			labels[index] = l
			end.Steps = append(end.Steps, schema.StepRef{Index: index, Digest: l.Digest})
			require.NoError(t, enc.Encode(l))
		}
		add(schema.GapNone, "", fmt.Sprintf("author of book%d", i), fmt.Sprintf("Book%d was written by Mara.", i))
		if i%2 == 0 {
			add(schema.GapIrrelevant, "", "Mara birthplace", "")
		}
		for range 3 {
			if farms {
				add(schema.GapNone, schema.ReasonNoClaim, "", "")
			}
		}
		r := rewardagg.Compute(end, labels, p)
		require.NoError(t, enc.Encode(&r))
	}
	path := filepath.Join(t.TempDir(), "log.jsonl")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
	return path
}

func TestAnAuditEndsWithItsOwnCode(t *testing.T) {
	t.Parallel()
	out, err := command(t, "reward", "audit", "--in", log(t, 60, false))
	require.NoError(t, err)
	require.Contains(t, out, "nothing suspicious")

	farmed := log(t, 60, true)
	out, err = command(t, "reward", "audit", "--in", farmed, "--json")
	require.Equal(t, codeSuspicious, exitCode(err))
	var report audit.Report
	require.NoError(t, json.NewDecoder(strings.NewReader(out)).Decode(&report))
	require.True(t, report.Suspicious())
	require.Equal(t, 60, report.All.Rollouts)

	_, err = command(t, "reward", "audit", "--in", farmed, "--limit", "vacuous=1")
	require.NoError(t, err)
	_, err = command(t, "reward", "audit", "--in", farmed, "--limit", "vacuous")
	require.ErrorContains(t, err, "SIGNAL=SHARE")
	require.Equal(t, 1, exitCode(err))
	_, err = command(t, "reward", "audit")
	require.ErrorContains(t, err, "--in")
	_, err = command(t, "reward", "audit", "run", "--in", farmed)
	require.Error(t, err)
}

func TestTuneWritesAProfileThatLoads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tuned.yaml")
	sample := log(t, 60, false)
	out, err := command(t, "reward", "tune", "--in", sample, "--out", path, "--model", "small-1B", "--profile", "paper")
	require.NoError(t, err)
	require.Contains(t, out, "15 groups")
	p, err := rewardagg.LoadProfile(path)
	require.NoError(t, err)
	require.Equal(t, "paper-tuned", p.Name)
	require.Contains(t, p.Base.None.Source, "small-1B")

	none := filepath.Join(t.TempDir(), "none.yaml")
	_, err = command(t, "reward", "tune", "--in", log(t, 4, false), "--out", none)
	require.ErrorIs(t, err, rewardagg.ErrTooLittle)
	require.NoFileExists(t, none)
	_, err = command(t, "reward", "tune", "--in", sample)
	require.ErrorContains(t, err, "--out")
}

func TestRescoreNeedsAServerAndAnotherRun(t *testing.T) {
	t.Parallel()
	_, err := command(t, "rescore", "--run", "a", "--as", "a")
	require.ErrorContains(t, err, "another run")
	_, err = command(t, "rescore", "--run", "a", "--as", "b", "--entail", "0.99")
	require.ErrorContains(t, err, "entailment")
	_, err = command(t, "rescore", "--run", "a", "--as", "b")
	require.ErrorContains(t, err, "--nats")
}
