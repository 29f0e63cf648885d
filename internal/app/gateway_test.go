package app_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/bustest"
)

func TestAGatewayThatOthersReachNeedsTokens(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{Memory: true})
	for _, c := range []struct {
		listen, token string
		open          bool
		refused       string
	}{
		{"127.0.0.1:0", "", false, ""},
		{"localhost:0", "", false, ""},
		{"[::1]:0", "", false, "any"}, // where the machine has IPv6
		{"0.0.0.0:0", "", false, "there are no tokens"},
		{":0", "", false, "there are no tokens"},
		{"example.org:0", "", false, "there are no tokens"},
		{"0.0.0.0:0", "a-token-of-a-trainer", false, ""},
		{"0.0.0.0:0", "", true, ""},
		{"0.0.0.0:0", "short", true, "shorter than"},
		{"8088", "", false, "host:port"},
		{"127.0.0.1:99999", "", false, "listening"},
	} {
		cfg, err := app.LoadConfig(nil, func() []string {
			return []string{"STEPGAP_GATEWAY_LISTEN=" + c.listen, "STEPGAP_GATEWAY_TOKEN=" + c.token}
		})
		require.NoError(t, err)
		cfg.GatewayOpen = c.open
		p, err := app.New(t.Context(), cfg, []app.Role{app.RoleGateway}, conn, slog.New(slog.DiscardHandler))
		switch {
		case err == nil:
			p.Close()
			require.Contains(t, []string{"", "any"}, c.refused, c.listen)
		case c.refused != "any":
			require.NotEmpty(t, c.refused, "%s: %v", c.listen, err)
			require.ErrorContains(t, err, c.refused, c.listen)
			require.NotContains(t, err.Error(), "a-token")
		}
	}
}

func TestTheGatewayRunsAndEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	conn, _ := bustest.Start(t, bus.Options{Memory: true})
	cfg, err := app.LoadConfig(nil, func() []string { return []string{"STEPGAP_GATEWAY_LISTEN=127.0.0.1:0"} })
	require.NoError(t, err)
	p, err := app.New(t.Context(), cfg, []app.Role{app.RoleSplit, app.RoleGateway}, conn, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	response, err := http.Get("http://" + p.Gateway().String() + "/healthz")
	require.NoError(t, err)
	b, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.JSONEq(t, `{"status":"ok"}`, string(b))
	cancel()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.FailNow(t, "the process did not end")
	}
}
