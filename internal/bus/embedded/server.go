// Package embedded runs a NATS server with JetStream inside the process. It is
// apart from bus so that clients need not link a server.
package embedded

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/stepgap/stepgap/pkg/schema"
)

// MaxPayload is what the embedded server takes in one message: the largest
// body and its headers.
const MaxPayload = schema.MaxMessage + 128<<10

// Server is a NATS server with JetStream inside this process.
type Server struct {
	server *server.Server
	dir    string
	remove bool
}

// Options configure an embedded server.
type Options struct {
	// Dir is where streams are stored; empty takes a temporary folder that
	// Close removes.
	Dir string
	// Host and Port to listen on; Port 0 means in-process connections only,
	// -1 any free port.
	Host string
	Port int
	// SyncAlways makes every write reach the disk before it is acknowledged,
	// at about an eighth of the speed.
	SyncAlways bool
}

// Start starts a server and waits until it takes connections.
func Start(o Options) (*Server, error) {
	e := &Server{dir: o.Dir}
	if e.dir == "" {
		dir, err := os.MkdirTemp("", "stepgap-nats-")
		if err != nil {
			return nil, fmt.Errorf("making a folder for the embedded NATS server: %w", err)
		}
		e.dir, e.remove = dir, true
	}
	opts := &server.Options{
		ServerName: "stepgap", Host: o.Host, Port: o.Port,
		DontListen: o.Port == 0, JetStream: true, StoreDir: e.dir,
		MaxPayload: MaxPayload, NoLog: true, NoSigs: true,
		// Streams reserve their limits; the embedded server lets them, whatever
		// the disk, and refuses writes when it really is full.
		JetStreamMaxStore: 1 << 42, JetStreamMaxMemory: 1 << 42,
		SyncAlways: o.SyncAlways,
	}
	if opts.Host == "" {
		opts.Host = "127.0.0.1"
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("configuring the embedded NATS server: %w", err), e.cleanup())
	}
	e.server = s
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		e.Close()
		return nil, fmt.Errorf("the embedded NATS server was not ready after 10 s (store %s, port %d)", e.dir, o.Port)
	}
	return e, nil
}

// URL is the address other processes connect to; empty if it doesn't listen.
func (e *Server) URL() string {
	if e.server.Addr() == nil {
		return ""
	}
	return e.server.ClientURL()
}

// InProcessConn connects without a socket; see nats.InProcessConnProvider.
func (e *Server) InProcessConn() (net.Conn, error) { return e.server.InProcessConn() }

// Close stops the server and, if its folder was temporary, removes it.
func (e *Server) Close() {
	if e.server != nil {
		e.server.Shutdown()
		e.server.WaitForShutdown()
	}
	_ = e.cleanup() // a left-over temporary folder harms nobody
}

func (e *Server) cleanup() error {
	if !e.remove {
		return nil
	}
	return os.RemoveAll(e.dir)
}
