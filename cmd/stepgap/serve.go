package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/bus/embedded"
)

func serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve [role...]",
		Short: "Run stages of the pipeline",
		Long: "serve runs the named roles (" + strings.Trim(fmt.Sprint(app.AllRoles()), "[]") + ") against\n" +
			"the NATS server of --nats. Without roles it runs the whole pipeline, with a\n" +
			"gateway if --gateway-listen is given, and without --nats it brings a NATS\n" +
			"server of its own, on --listen.",
		Example: "  stepgap serve\n  stepgap serve quote-extract --nats nats://nats:4222 --llm-url http://vllm:8000/v1 --llm-model Qwen/Qwen2.5-7B-Instruct",
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := load(cmd)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), cfg, args, app.NewLogger(cmd.ErrOrStderr(), cfg))
		},
	}
	app.AddFlags(cmd.Flags(), "serve")
	return cmd
}

func serve(ctx context.Context, cfg app.Config, names []string, log *slog.Logger) error {
	roles, err := app.ParseRoles(names)
	if err != nil {
		return err
	}
	if len(names) == 0 && cfg.GatewayListen != "" {
		roles = append(roles, app.RoleGateway)
	}
	conn, closeConn, err := connect(ctx, cfg, names, log)
	if err != nil {
		return err
	}
	defer closeConn()
	if err := app.PrepareTopology(ctx, conn, cfg, log); err != nil {
		return fmt.Errorf("preparing streams and consumers: %w", err)
	}
	process, err := app.New(ctx, cfg, roles, conn, log)
	if err != nil {
		return err
	}
	defer process.Close()
	if cfg.HTTP != "" {
		addr, err := process.ServeHTTP(ctx, cfg.HTTP)
		if err != nil {
			return err
		}
		log.Info("HTTP listens", "addr", addr.String())
	}
	log.Info("serving", "roles", roles)
	err = process.Run(ctx)
	log.Info("stopped")
	return err
}

// connect connects to the server of --nats, or starts one.
func connect(ctx context.Context, cfg app.Config, names []string, log *slog.Logger) (*bus.Conn, func(), error) {
	name := "stepgap " + strings.Join(names, ",")
	if cfg.NATS != "" {
		conn, err := bus.Connect(ctx, bus.Config{URL: cfg.NATS, Name: name, Creds: cfg.NATSCreds, NKey: cfg.NATSNKey, CA: cfg.NATSCA, Log: log})
		if err != nil {
			return nil, nil, err
		}
		return conn, conn.Close, nil
	}
	if len(names) > 0 {
		return nil, nil, errors.New("single roles need a NATS server to share: give its URL with --nats (or STEPGAP_NATS)")
	}
	host, portText, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return nil, nil, fmt.Errorf("setting listen is %q; write host:port", cfg.Listen)
	}
	port, err := strconv.Atoi(portText)
	if err != nil || port < 0 || port > 65535 {
		return nil, nil, fmt.Errorf("setting listen is %q; the port must be a number from 0 to 65535", cfg.Listen)
	}
	if port == 0 {
		port = -1 // any free one
	}
	if cfg.Store == "" {
		log.Warn("streams are kept in a temporary folder and lost when this process ends; give one with --store")
	} else if err := os.MkdirAll(cfg.Store, 0o700); err != nil {
		return nil, nil, fmt.Errorf("making the folder of --store: %w", err)
	}
	server, err := embedded.Start(embedded.Options{Dir: cfg.Store, Host: host, Port: port, SyncAlways: cfg.SyncAlways})
	if err != nil {
		return nil, nil, err
	}
	conn, err := bus.Connect(ctx, bus.Config{InProcess: server, Name: name, Log: log})
	if err != nil {
		server.Close()
		return nil, nil, err
	}
	log.Info("NATS listens", "url", server.URL())
	return conn, func() { conn.Close(); server.Close() }, nil
}
