package llm

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecret_NeverPrints(t *testing.T) {
	t.Parallel()
	cfg := testConfig("http://127.0.0.1/v1")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", cfg.Key, "cfg", cfg)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", cfg.Key, "cfg", cfg)
	data, err := json.Marshal(cfg)
	require.NoError(t, err)
	for _, out := range []string{
		log.String(), string(data),
		fmt.Sprint(cfg.Key), fmt.Sprintf("%v %+v %#v %s %q %x %d", cfg, cfg, cfg, cfg.Key, cfg.Key, cfg.Key, cfg.Key),
	} {
		require.NotContains(t, out, testKey)
		require.NotContains(t, out, fmt.Sprintf("%x", testKey))
		require.Contains(t, out, redacted)
	}
}

func TestLoadSecret(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	t.Setenv("LLM_TEST_KEY", " from-env ")
	for name, tc := range map[string]struct{ env, file, want, err string }{
		"environment":          {"LLM_TEST_KEY", "", "from-env", ""},
		"file wins":            {"LLM_TEST_KEY", write("key", "from-file\n"), "from-file", ""},
		"neither":              {"LLM_TEST_UNSET", "", "", ""},
		"missing file":         {"", filepath.Join(dir, "none"), "", "reading a secret"},
		"empty file":           {"", write("empty", " \n"), "", "it is empty"},
		"two lines":            {"", write("two", "topsecret\nX-Other: 1"), "", "one line"},
		"a file of megabytes":  {"", write("big", strings.Repeat("k", maxSecretFile+1)), "", "over"},
		"a folder, not a file": {"", dir, "", "reading a secret"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := LoadSecret(tc.env, tc.file)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				require.NotContains(t, err.Error(), "topsecret")
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, got.Reveal())
		})
	}
}

func TestConfig_Validate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"good":               {func(*Config) {}, ""},
		"no URL":             {func(c *Config) { c.BaseURL = "" }, "base URL"},
		"other scheme":       {func(c *Config) { c.BaseURL = "file:///etc/x" }, "base URL"},
		"key in the URL":     {func(c *Config) { c.BaseURL = "https://u:topsecret@h/v1" }, "no user"},
		"key in the query":   {func(c *Config) { c.BaseURL = "https://h/v1?key=topsecret" }, "no user"},
		"unparsable":         {func(c *Config) { c.BaseURL = "http://topsecret\x7f" }, "cannot be parsed"},
		"no model":           {func(c *Config) { c.Model = "" }, "model"},
		"format":             {func(c *Config) { c.Format = "yaml" }, "yaml"},
		"logprobs":           {func(c *Config) { c.TopLogProbs = 21 }, "logprobs"},
		"attempts":           {func(c *Config) { c.MaxAttempts = 0 }, "attempts"},
		"backoff":            {func(c *Config) { c.BackoffMax = 1 }, "backoff max"},
		"body":               {func(c *Config) { c.MaxBody = 0 }, "max body"},
		"unmarked reasoning": {func(c *Config) { c.Model = "o3-mini" }, "reasoning tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig("http://127.0.0.1/v1")
			tc.change(&cfg)
			_, err := New(cfg)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "topsecret")
		})
	}
}
