package nlibench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Command is what a peer is told, one JSON object a line.
type Command struct {
	// Do is "saturate", "arrive"; our own peer also knows "logits" and
	// "repeats".
	Do       string  `json:"do"`
	Requests int     `json:"requests"`
	Clients  int     `json:"clients,omitempty"`
	Rate     float64 `json:"rate,omitempty"` // requests a second
	// Load and Remember are for "repeats": another file of requests, and
	// whether the cache and the joining of equal pairs are on.
	Load     string `json:"load,omitempty"`
	Remember bool   `json:"remember,omitempty"`
}

// Hello is a peer's first line.
type Hello struct {
	Ready    bool              `json:"ready"`
	Versions map[string]string `json:"versions"`
	Error    string            `json:"error"`
}

// Outcome is what a peer answers.
type Outcome struct {
	Pairs      int     `json:"pairs"`
	Seconds    float64 `json:"wall_s"`
	CPUSeconds float64 `json:"cpu_s"`
	Batches    int     `json:"batches"`
	// PaddingShare is the part of all tokens computed that was padding; nil
	// where it can't be seen.
	PaddingShare *float64 `json:"padding_share"`
	// LatencyMS is each request's latency.
	LatencyMS []float64 `json:"latency_ms"`
	// Logits or Scores (probabilities) are a row a pair: entailment, neutral,
	// contradiction.
	Logits [][3]float64 `json:"logits,omitempty"`
	Scores [][3]float64 `json:"scores,omitempty"`
	// Computed is how many pairs the model ran, for "repeats".
	Computed int    `json:"computed,omitempty"`
	Error    string `json:"error,omitempty"`
}

// peer is a process that measures itself.
type peer struct {
	name    string
	hello   Hello
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Reader
}

// startPeer starts a process on one core and waits until it is ready.
func startPeer(ctx context.Context, name string, core int, log io.Writer, argv ...string) (*peer, error) {
	p := &peer{name: name}
	argv = append([]string{"taskset", "--cpu-list", fmt.Sprint(core)}, argv...)
	p.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	p.cmd.Stderr = log
	// No peer asks the network for anything, nor spreads out over threads.
	p.cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1", "DO_NOT_TRACK=1",
		"TOKENIZERS_PARALLELISM=false", "OMP_NUM_THREADS=1", "GOMAXPROCS=1")
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p.answers = bufio.NewReader(out)
	if err := p.read(&p.hello); err != nil {
		return nil, errors.Join(err, p.close())
	}
	if p.hello.Error != "" {
		// Its status says the same, less clearly.
		_ = p.close()
		return nil, errors.New(p.hello.Error)
	}
	return p, nil
}

func (p *peer) read(v any) error {
	line, err := p.answers.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s ended before it answered: %w", p.name, err)
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("reading what %s answered: %w", p.name, err)
	}
	return nil
}

// do has the peer carry out a command.
func (p *peer) do(c Command) (Outcome, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return Outcome{}, fmt.Errorf("telling %s to %s: %w", p.name, c.Do, err)
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return Outcome{}, fmt.Errorf("telling %s to %s: %w", p.name, c.Do, err)
	}
	var out Outcome
	if err := p.read(&out); err != nil {
		return out, err
	}
	if out.Error != "" {
		return out, fmt.Errorf("%s: %s: %s", p.name, c.Do, out.Error)
	}
	return out, nil
}

// close ends the process.
func (p *peer) close() error {
	if err := p.in.Close(); err != nil {
		return fmt.Errorf("stopping %s: %w", p.name, err)
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("stopping %s: %w", p.name, err)
	}
	return nil
}
