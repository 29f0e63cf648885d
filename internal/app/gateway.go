package app

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/stepgap/stepgap/internal/gateway"
	"github.com/stepgap/stepgap/pkg/client"
)

// defaultGateway is where the role gateway listens if it is given no address.
const defaultGateway = "127.0.0.1:8088"

// addGateway opens the gateway's listener, so that a process that can't have its
// address says so before it serves anything.
func (p *Process) addGateway(ctx context.Context) error {
	addr := p.cfg.GatewayListen
	if addr == "" {
		addr = defaultGateway
	}
	tokens, err := gateway.LoadTokens(p.cfg.GatewayTokens, p.cfg.GatewayToken)
	if err != nil {
		return err
	}
	local, err := loopbackOnly(addr)
	if err != nil {
		return fmt.Errorf("setting gateway_listen is %q; write host:port: %w", addr, err)
	}
	if !local && tokens == nil && !p.cfg.GatewayOpen {
		return fmt.Errorf("gateway_listen is %s, which other machines reach, and there are no tokens: give some (gateway_tokens, or STEPGAP_GATEWAY_TOKEN), listen on 127.0.0.1, or allow everyone with gateway_open", addr)
	}
	c, err := client.New(p.conn.NC)
	if err != nil {
		return err
	}
	server, err := gateway.New(gateway.Options{
		Pipeline: c, Tokens: tokens, Local: local && !p.cfg.GatewayOpen, Ready: p.Ready,
		MaxBody: p.cfg.GatewayBody, MaxPosts: p.cfg.GatewayPosts, MaxWaits: p.cfg.GatewayWaits, MaxBatch: p.cfg.GatewayBatch,
		MaxWait: p.cfg.GatewayWait, Rate: p.cfg.GatewayRate, Registerer: p.registry, Log: p.log.With("role", string(RoleGateway)),
	})
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listening for the gateway: %w", err)
	}
	p.gateway = listener.Addr()
	p.closers = append(p.closers, func() {
		if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			p.log.Debug("closing the gateway's listener", "error", err)
		}
	})
	p.servers = append(p.servers, func(ctx context.Context) error { return server.Serve(ctx, listener) })
	p.log.Info("gateway listens", "url", "http://"+p.gateway.String(), "tokens", tokens != nil)
	return nil
}

// Gateway is the address of the process's gateway; nil if it has none.
func (p *Process) Gateway() net.Addr { return p.gateway }

// loopbackOnly reports whether nothing but this machine can reach addr.
func loopbackOnly(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, err
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback(), nil
	}
	return host == "localhost", nil
}
