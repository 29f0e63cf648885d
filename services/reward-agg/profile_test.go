package rewardagg

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuiltinProfilesHoldTheDesignsNumbers(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"paper", "stepgap"}, Profiles())
	for _, name := range Profiles() {
		p := profile(t, name)
		require.Equal(t, name, p.Name)
		require.Equal(t, []float64{0.20, -0.10, 0.05, -0.05},
			[]float64{p.Base.None.Value, p.Base.Irrelevant.Value, p.Base.Contradicted.Value, p.Base.Missing.Value})
		require.Equal(t, []float64{0.10, -0.10, map[string]float64{"paper": -0.05, "stepgap": -0.10}[name]},
			[]float64{p.Shape.Repaired.Value, p.Shape.Ignored.Value, p.Shape.NearDuplicate.Value})
		require.Len(t, p.Hash(), 64)
		require.NotEmpty(t, p.Base.None.Source)
	}
	require.NotEqual(t, profile(t, "paper").Hash(), profile(t, "stepgap").Hash())
	def, err := LoadProfile("")
	require.NoError(t, err)
	require.Equal(t, DefaultProfile, def.Name)
}

func TestProfileHashIsOfWhatCanChangeAReward(t *testing.T) {
	t.Parallel()
	src, err := ProfileYAML("stepgap")
	require.NoError(t, err)
	hash := func(edit func(string) string) string {
		p, err := ParseProfile([]byte(edit(string(src))))
		require.NoError(t, err)
		return p.Hash()
	}
	same := hash(func(s string) string { return s })
	require.Equal(t, profile(t, "stepgap").Hash(), same)
	for name, edit := range map[string]func(string) string{
		"comment": func(s string) string { return "# note\n" + s },
		"source":  func(s string) string { return strings.Replace(s, "ours: as much", "ours: just as much", 1) },
		"layout":  func(s string) string { return strings.Replace(s, "0.20", "0.2", 1) },
		"order": func(s string) string {
			return strings.Replace(s, "[no_claim, repeated_claim", "[repeated_claim, no_claim", 1)
		},
	} {
		require.Equal(t, same, hash(edit), name)
	}
	for name, edit := range map[string]func(string) string{
		"number": func(s string) string { return strings.Replace(s, "0.20", "0.21", 1) },
		"rule":   func(s string) string { return strings.Replace(s, "[no_claim, ", "[", 1) },
		"name":   func(s string) string { return strings.Replace(s, "name: stepgap", "name: mine", 1) },
		"pattern": func(s string) string {
			return strings.Replace(s, "builtin: [en]", "builtin: [en]\n  patterns: [{language: de, match: 'das war falsch'}]", 1)
		},
	} {
		require.NotEqual(t, same, hash(edit), name)
	}
}

// wrongProfiles are edits of the built-in profile, with what is said of them.
func wrongProfiles() map[string]struct{ old, new, want string } {
	return map[string]struct{ old, new, want string }{
		"unknown key":        {"cap_gaps: true", "cap_gaps: true\ncap_gap: true", "field cap_gap: line"},
		"unknown nested key": {"base:\n", "base:\n  nonne: {value: 1, source: x}\n", "field base.nonne: line"},
		"no number":          {"none: {value: 0.20, ", "none: {", "field base.none:"},
		"no source":          {`0.20, source: "arXiv 2605.24733"`, "0.20", "field base.none.source:"},
		"missing magnitude":  {`  missing_bridge: {value: -0.05, source: "ours: the paper gives no number"}` + "\n", "", "field base.missing_bridge:"},
		"NaN":                {"none: {value: 0.20", "none: {value: .nan", "field base.none:"},
		"infinity":           {"none: {value: 0.20", "none: {value: .inf", "field base.none:"},
		"minus infinity":     {"ignored: {value: -0.10", "ignored: {value: -.inf", "field shape.ignored:"},
		"overflow":           {"none: {value: 0.20", "none: {value: 1e300", "field base.none:"},
		"not a number":       {"none: {value: 0.20", "none: {value: much", "much"},
		"above none":         {"contradicted_claim: {value: 0.05", "contradicted_claim: {value: 0.5", "field base.contradicted_claim:"},
		"reward for ignore":  {"ignored: {value: -0.10", "ignored: {value: 0.10", "field shape.ignored:"},
		"share":              {"min_graded_share: {value: 0.5", "min_graded_share: {value: 1.5", "field min_graded_share:"},
		"divisor":            {"{gains: steps", "{gains: tokens", "field divide.gains:"},
		"rule":               {"[no_claim, ", "[no_clam, ", "field unpaid["},
		"no cap":             {"cap_gaps: true\n", "", "field cap_gaps:"},
		"name":               {"name: stepgap", "name: 'a b'", "field name:"},
		"language":           {"builtin: [en]", "builtin: [xx]", "field retraction.builtin[0]:"},
		"no pattern":         {"builtin: [en]", "builtin: []", "field retraction:"},
		"bad pattern":        {"builtin: [en]", "patterns: [{language: en, match: '('}]", "field retraction.patterns[0].match:"},
		"matches all":        {"builtin: [en]", "patterns: [{language: en, match: 'x*'}]", "field retraction.patterns[0].match:"},
		"no language":        {"builtin: [en]", "patterns: [{match: 'x'}]", "field retraction.patterns[0].language:"},
		"two documents":      {"cap_gaps: true", "cap_gaps: true\n---\nname: other", "document"},
		"unknown list key":   {"builtin: [en]", "patterns: [{language: en, match: x, flags: i}]", "field retraction.patterns[0].flags: line"},
		"entity rule":        {"{names: part", "{names: first", "field bridge_search.names:"},
		"no values":          {"{names: part, values: false}", "{names: part}", "field bridge_search.values:"},
		"mode":               {"mode: pattern", "mode: hunch", "field retraction.mode:"},
		"nli, no threshold":  {"mode: pattern", "mode: nli", "field retraction.contradiction:"},
		"threshold, no nli":  {"mode: pattern", "mode: pattern\n  contradiction: {value: 0.5, source: x}", "field retraction.contradiction:"},
		"threshold of 0":     {"mode: pattern", "mode: nli\n  contradiction: {value: 0, source: x}", "field retraction.contradiction:"},
		"metric":             {"metric: em", "metric: bleu", "field outcome.metric:"},
		"negative weight":    {"weight: {value: 1", "weight: {value: -1", "field outcome.weight:"},
	}
}

func TestProfileErrorsNameTheField(t *testing.T) {
	t.Parallel()
	src, err := ProfileYAML("stepgap")
	require.NoError(t, err)
	for name, c := range wrongProfiles() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, string(src), c.old)
			_, err := ParseProfile([]byte(strings.Replace(string(src), c.old, c.new, 1)))
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err = ParseProfile(nil)
	require.ErrorContains(t, err, "empty")
}

func TestLoadProfileFromAFile(t *testing.T) {
	t.Parallel()
	src, err := ProfileYAML("paper")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(path, src, 0o600))
	p, err := LoadProfile(path)
	require.NoError(t, err)
	require.Equal(t, profile(t, "paper").Hash(), p.Hash())
	_, err = LoadProfile("papper")
	require.ErrorContains(t, err, "paper, stepgap")
	_, err = LoadProfile(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
