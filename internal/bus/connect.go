package bus

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Config says which server to connect to, and as whom.
type Config struct {
	URL   string
	Name  string // shown in the server's connection list
	Creds string // path of a .creds file
	NKey  string // path of an NKey seed file
	CA    string // path of a CA certificate, for TLS
	// InProcess, if set, is an embedded server to connect to without a socket;
	// URL is ignored.
	InProcess nats.InProcessConnProvider
	Log       *slog.Logger
}

// Conn is a connection and its JetStream context.
type Conn struct {
	NC *nats.Conn
	JS jetstream.JetStream
}

// Connect connects, and keeps reconnecting for as long as the process lives.
func Connect(ctx context.Context, c Config) (*Conn, error) {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	opts := []nats.Option{
		nats.Name(c.Name),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, time.Second),
		nats.Timeout(5 * time.Second),
		// Publishes made while disconnected fail instead of being buffered:
		// the message that caused them is delivered again, and a buffer that
		// is lost on exit would be a promise broken.
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("disconnected from NATS", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) { log.Info("reconnected to NATS", "url", nc.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			log.Warn("NATS reported an error", "error", err, "subject", subject)
		}),
	}
	url := c.URL
	if c.InProcess != nil {
		url = ""
		opts = append(opts, nats.InProcessServer(c.InProcess))
	}
	if c.Creds != "" {
		opts = append(opts, nats.UserCredentials(c.Creds))
	}
	if c.NKey != "" {
		opt, err := nats.NkeyOptionFromSeed(c.NKey)
		if err != nil {
			return nil, fmt.Errorf("reading the NKey seed %s: %w", c.NKey, err)
		}
		opts = append(opts, opt)
	}
	if c.CA != "" {
		opts = append(opts, nats.RootCAs(c.CA))
	}
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		return nil, fmt.Errorf("connecting to NATS at %s: %w", orInProcess(url), err)
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(10*time.Second))
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("opening JetStream: %w", err)
	}
	conn := &Conn{NC: nc, JS: js}
	if err := conn.check(ctx); err != nil {
		nc.Close()
		return nil, fmt.Errorf("NATS at %s: %w", orInProcess(url), err)
	}
	return conn, nil
}

func orInProcess(url string) string {
	if url == "" {
		return "the embedded server"
	}
	return url
}

// minPayload is what a server must take for ordinary evidence to pass at all.
const minPayload = 1 << 20

func (c *Conn) check(ctx context.Context) error {
	if _, err := c.JS.AccountInfo(ctx); err != nil {
		return fmt.Errorf("JetStream does not answer; start the server with JetStream on (-js): %w", err)
	}
	if got := c.NC.MaxPayload(); got < minPayload {
		return fmt.Errorf("max_payload is %d bytes; StepGap needs at least %d, and %d to take every valid message", got, minPayload, schema.MaxMessage)
	}
	return nil
}

// Close closes the connection.
func (c *Conn) Close() { c.NC.Close() }
