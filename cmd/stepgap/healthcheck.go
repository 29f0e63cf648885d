package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func healthcheckCommand() *cobra.Command {
	var live bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask a running serve on this machine whether it is ready",
		Long: "healthcheck asks /readyz of the process that listens on --http (or STEPGAP_HTTP)\n" +
			"and fails unless it answers that it is ready. It is made for containers, whose\n" +
			"image holds no HTTP client.",
		Example: "  STEPGAP_HTTP=0.0.0.0:8080 stepgap healthcheck\n  stepgap healthcheck --http :8080 --live",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			path := "/readyz"
			if live {
				path = "/healthz"
			}
			url, err := healthURL(cfg.HTTP, path)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			return askHealth(ctx, url)
		},
	}
	cmd.Flags().String("http", "", "address that serve listens on for HTTP (its --http)")
	cmd.Flags().BoolVar(&live, "live", false, "ask /healthz (do the loops turn?) instead of /readyz (can it work now?)")
	cmd.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "time for the answer")
	cmd.Flags().String("config", "", "path of a YAML file of settings")
	return cmd
}

// healthURL is where a process that listens on addr (host:port, as --http takes
// it) answers on its own machine: one that listens on every interface also
// listens on loopback.
func healthURL(addr, path string) (string, error) {
	if addr == "" {
		return "", errors.New("where does the process listen? give the address of its --http (or STEPGAP_HTTP)")
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("setting http is %q; write host:port", addr)
	}
	switch ip := net.ParseIP(host); {
	case host == "" || ip.Equal(net.IPv4zero):
		host = "127.0.0.1"
	case ip.Equal(net.IPv6unspecified):
		host = "::1"
	}
	return "http://" + net.JoinHostPort(host, port) + path, nil
}

// maxHealthAnswer bounds what is read of an answer: its first line says why.
const maxHealthAnswer = 4 << 10

// askHealth returns nil if url answers 200, else an error with the answer.
func askHealth(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("asking %s: %w", url, err)
	}
	// No proxy: the process asked is on this machine, whatever HTTP_PROXY says.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // read as far as it is wanted
	body, err := io.ReadAll(io.LimitReader(response.Body, maxHealthAnswer))
	if err != nil {
		return fmt.Errorf("reading the answer of %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, response.Status, strings.TrimSpace(string(body)))
	}
	return nil
}
