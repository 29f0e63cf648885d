package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
)

func TestConfigurationTableIsThatOfTheCode(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	require.NoError(t, err)
	require.Contains(t, string(b), settingsTable(), "run `stepgap config` and put its table into docs/configuration.md")
}

func TestEveryFlagInTheTableIsTakenByItsCommand(t *testing.T) {
	t.Parallel()
	commands := map[string]string{"serve": "serve", "check": "check", "client": "publish", "bench": "bench", "models": "models verify"}
	root := newRoot("test")
	for _, s := range app.Settings() {
		for _, on := range s.Commands {
			cmd, _, err := root.Find(strings.Fields(commands[on]))
			require.NoError(t, err)
			require.NotNil(t, cmd.Flags().Lookup(strings.TrimPrefix(s.Flag, "--")), "%s %s", commands[on], s.Flag)
		}
	}
}

func load4(t *testing.T, file string, environ []string, args ...string) (app.Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	app.AddFlags(flags, "serve")
	if file != "" {
		path := filepath.Join(t.TempDir(), "stepgap.yaml")
		require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
		args = append(args, "--config", path)
	}
	require.NoError(t, flags.Parse(args))
	return app.LoadConfig(flags, func() []string { return environ })
}

func TestAFlagBeatsTheEnvironmentWhichBeatsTheFile(t *testing.T) {
	t.Parallel()
	const file = "workers: 3\nbudget: 7s\nllm_url: http://file/v1\n"
	environ := []string{"STEPGAP_WORKERS=4", "STEPGAP_BUDGET=8s", "STEPGAP_LLM_KEY=secret", "STEPGAP_DATA=elsewhere", "HOME=/"}
	c, err := load4(t, file, environ, "--workers", "5")
	require.NoError(t, err)
	require.Equal(t, 5, c.Workers, "the flag")
	require.Equal(t, "8s", c.Budget.String(), "the environment")
	require.Equal(t, "http://file/v1", c.LLMURL, "the file")
	require.Equal(t, "30m0s", c.Deadline.String(), "the default")
}

func TestAWrongSettingIsNamed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		file    string
		environ []string
		args    []string
		want    []string
	}{
		"unknown key":      {file: "thresold: 1\n", want: []string{"thresold"}},
		"not YAML":         {file: "a: [", want: []string{"stepgap.yaml"}},
		"no number":        {environ: []string{"STEPGAP_WORKERS=many"}, want: []string{"workers", "int"}},
		"zero workers":     {args: []string{"--workers", "0"}, want: []string{"workers", "above 0"}},
		"unknown judge":    {args: []string{"--judge", "oracle"}, want: []string{"judge", "oracle", "local"}},
		"unknown topology": {environ: []string{"STEPGAP_TOPOLOGY=maybe"}, want: []string{"topology", "maybe"}},
		"wrong rank":       {args: []string{"--nli-priority", "10"}, want: []string{"nli_priority", "0 to 9"}},
		"wrong device":     {args: []string{"--device", "cpu:3"}, want: []string{"device", "cuda:N"}},
		"negative threads": {args: []string{"--nli-threads", "-1"}, want: []string{"nli_threads"}},
		"deterministic":    {args: []string{"--deterministic=perhaps"}, want: []string{"deterministic", "auto, on, off"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load4(t, c.file, c.environ, c.args...)
			require.Error(t, err)
			for _, w := range c.want {
				require.ErrorContains(t, err, w)
			}
		})
	}
}

func TestSingleRolesNeedAServer(t *testing.T) {
	t.Parallel()
	root := newRoot("test")
	root.SetArgs([]string{"serve", "quote-extract"})
	require.ErrorContains(t, root.ExecuteContext(t.Context()), "--nats")
	root = newRoot("test")
	root.SetArgs([]string{"serve", "oracle"})
	require.ErrorContains(t, root.ExecuteContext(t.Context()), "entity-check")
}

func TestDeterministicAsABareFlagMeansOn(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{"auto": nil, "on": {"--deterministic"}, "off": {"--deterministic=off"}} {
		c, err := load4(t, "", nil, args...)
		require.NoError(t, err)
		require.Equal(t, want, c.Deterministic, args)
	}
}
