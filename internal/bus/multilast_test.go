package bus

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus/embedded"
)

// A server that answers as it does when it is cut off in the middle.
func TestAnAnswerThatIsCutOffIsNeverTakenForTheWhole(t *testing.T) {
	t.Parallel()
	status := func(code string, headers ...string) *nats.Msg {
		m := nats.NewMsg("")
		m.Header.Set("Status", code)
		for i := 0; i < len(headers); i += 2 {
			m.Header.Set(headers[i], headers[i+1])
		}
		return m
	}
	message := nats.NewMsg("")
	message.Header.Set(jetstream.SubjectHeader, "s.1")
	message.Data = []byte("x")
	cases := map[string]struct {
		answer []*nats.Msg
		want   error
	}{
		"whole":                     {[]*nats.Msg{message, status("204", "Nats-Num-Pending", "0", "Nats-Last-Sequence", "7", "Nats-UpTo-Sequence", "9")}, nil},
		"nothing stands":            {[]*nats.Msg{status("404")}, nil},
		"no end":                    {[]*nats.Msg{message}, ErrIncomplete},
		"no answer":                 {nil, ErrIncomplete},
		"a message was not loaded":  {[]*nats.Msg{message, status("404")}, ErrIncomplete},
		"too many subjects":         {[]*nats.Msg{status("413")}, ErrIncomplete},
		"some left, none sent ever": {[]*nats.Msg{status("204", "Nats-Num-Pending", "3", "Nats-Last-Sequence", "0", "Nats-UpTo-Sequence", "9")}, ErrIncomplete},
	}
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	conn, err := Connect(t.Context(), Config{InProcess: server})
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			stream := "FAKE"
			sub, err := conn.NC.Subscribe("$JS.API.DIRECT.GET."+stream, func(r *nats.Msg) {
				for _, m := range c.answer {
					m := &nats.Msg{Subject: r.Reply, Header: m.Header, Data: m.Data}
					_ = conn.NC.PublishMsg(m)
				}
			})
			require.NoError(t, err)
			defer func() { require.NoError(t, sub.Unsubscribe()) }()
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			err = eachLast(ctx, conn.JS, stream, "s.*", func(string, []byte) error { return nil })
			require.ErrorIs(t, err, c.want)
		})
	}
}

func TestReadingFromAStreamThatIsNotThereFails(t *testing.T) {
	t.Parallel()
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	conn, err := Connect(t.Context(), Config{InProcess: server})
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	err = eachLast(t.Context(), conn.JS, "NONE", "s.*", func(string, []byte) error { return nil })
	require.ErrorIs(t, err, nats.ErrNoResponders)
}
