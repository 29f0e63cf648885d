package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Pipeline is what the gateway needs of a client.
type Pipeline interface {
	PublishTranscript(ctx context.Context, t *schema.Transcript) error
	PublishStep(ctx context.Context, step *schema.Step, opts ...client.StepOption) (schema.StepRef, error)
	PublishEnd(ctx context.Context, end *schema.RolloutEnd) error
	Reward(ctx context.Context, id schema.RolloutID) (*schema.Reward, error)
	WaitReward(ctx context.Context, id schema.RolloutID) (*schema.Reward, error)
	Labels(ctx context.Context, id schema.RolloutID) (map[int]*schema.Label, error)
}

// Options configure a gateway. The zero value of a number takes its default.
type Options struct {
	Pipeline Pipeline
	// Tokens that may call; nil lets everyone in.
	Tokens *Tokens
	// Local says that only this machine can connect; then, without tokens, a
	// request must also name this machine as its host, so that a web page can't
	// be made to speak for whoever opens it.
	Local bool
	// Ready says whether the pipeline can be reached; nil for always.
	Ready func() error
	// MaxBody is the most bytes of a request's body; default 16 MiB.
	MaxBody int64
	// MaxPosts is how many requests with a body are read and published at once;
	// default 32. MaxBody times MaxPosts bounds their memory.
	MaxPosts int
	// MaxWaits is how many requests may wait for rewards at once; default 2048.
	MaxWaits int
	// MaxBatch is the most rollouts of a request; default 256.
	MaxBatch int
	// MaxWait is the longest wait of a request; default 150 s.
	MaxWait time.Duration
	// BodyTimeout is how long a caller may take to send a body; default 60 s.
	BodyTimeout time.Duration
	// Rate is how many rollouts or readings a second a token may ask for, or an
	// address where there are no tokens; 0 for no bound.
	Rate float64
	// Run is the run of OpenRLHF's rollouts where a request names none; default
	// a fresh one.
	Run string
	// Registerer takes the gateway's metrics; nil for none.
	Registerer prometheus.Registerer
	Log        *slog.Logger
}

// Times that are not worth a setting.
const (
	headerTimeout  = 5 * time.Second
	writeTimeout   = 30 * time.Second // to take an answer
	idleTimeout    = 2 * time.Minute
	publishTimeout = 20 * time.Second
	readTimeout    = 10 * time.Second // to read what stands, off the pipeline
	defaultWait    = 30 * time.Second
	stopTimeout    = 5 * time.Second
)

func (o Options) withDefaults() (Options, error) {
	if o.Pipeline == nil {
		return o, errors.New("the gateway needs a pipeline to publish to")
	}
	fill(&o.MaxBody, 16<<20)
	fill(&o.MaxPosts, 32)
	fill(&o.MaxWaits, 2048)
	fill(&o.MaxBatch, 256)
	fill(&o.MaxWait, 150*time.Second)
	fill(&o.BodyTimeout, 60*time.Second)
	if o.Run == "" {
		o.Run = "openrlhf-" + randomID(6)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, schema.CheckID("run", o.Run)
}

// randomID is n random bytes in hex.
func randomID(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func fill[T int | int64 | time.Duration](v *T, fallback T) {
	if *v == 0 {
		*v = fallback
	}
}
