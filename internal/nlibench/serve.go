package nlibench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Serve is our own peer's side of the talk: it reads commands and answers
// outcomes until in ends.
func (o *Ours) Serve(ctx context.Context, in io.Reader, out io.Writer, versions map[string]string) error {
	commands, answers := json.NewDecoder(in), json.NewEncoder(out)
	if _, err := o.Saturate(ctx, min(len(o.Load.Requests), 32), 16); err != nil {
		return errors.Join(fmt.Errorf("warming up: %w", err), answers.Encode(Hello{Error: err.Error()}))
	}
	if err := answers.Encode(Hello{Ready: true, Versions: versions}); err != nil {
		return err
	}
	for {
		var c Command
		if err := commands.Decode(&c); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a command: %w", err)
		}
		outcome, err := o.carryOut(ctx, c)
		if err != nil {
			outcome.Error = err.Error()
		}
		if err := answers.Encode(outcome); err != nil {
			return fmt.Errorf("answering: %w", err)
		}
	}
}

func (o *Ours) carryOut(ctx context.Context, c Command) (out Outcome, err error) {
	if c.Do != "repeats" && c.Requests > len(o.Load.Requests) {
		return out, fmt.Errorf("the load has %d requests, not %d", len(o.Load.Requests), c.Requests)
	}
	switch c.Do {
	case "saturate":
		return o.Saturate(ctx, c.Requests, c.Clients)
	case "arrive":
		return o.Arrive(ctx, c.Requests, c.Rate)
	case "repeats":
		return o.Repeats(ctx, c)
	case "logits":
		out.Logits, err = o.Logits(ctx, c.Requests)
		return out, err
	default:
		return out, fmt.Errorf("command %q is none of saturate, arrive, repeats, logits", c.Do)
	}
}
