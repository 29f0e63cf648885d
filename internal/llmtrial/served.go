package llmtrial

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Served is a `stepgap serve` process of its own, with an embedded NATS server,
// and a client of it.
type Served struct {
	Client *client.Client

	cmd  *exec.Cmd
	done chan error
}

// stopTime is how long the process may take to drain.
const stopTime = 30 * time.Second

// JudgeFlags are the flags by which one stage is judged by the llm judge and
// the others by rules, so that an item's way to the stage, and from it, costs
// no call. With an empty stage all three are judged by rules: the floor. D and
// E pass everything, so that a label's quotes are those of the stage.
func JudgeFlags(stage schema.Stage) []string {
	flags := []string{"--judge", "local", "--judge-nli", "free"}
	switch stage {
	case schema.StageEntity:
		return append(flags, "--judge-entity", "llm")
	case schema.StageAbstain:
		return append(flags, "--judge-abstain", "llm")
	case schema.StageQuote:
		return append(flags, "--judge-quote", "llm")
	}
	return flags
}

// Serve starts `program serve` with flags and waits until it serves. What it
// logs goes to log.
func Serve(ctx context.Context, program string, log io.Writer, flags ...string) (*Served, error) {
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "info"}, flags...)
	s := &Served{cmd: exec.Command(program, args...), done: make(chan error, 1)}
	out, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s serve: %w", program, err)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s serve: %w", program, err)
	}
	up := make(chan string, 1)
	go func() {
		said := follow(out, log, up)
		if err := s.cmd.Wait(); err != nil {
			s.done <- fmt.Errorf("%s serve: %w: %s", program, err, said)
			return
		}
		s.done <- nil
	}()
	select {
	case url := <-up:
		if s.Client, err = client.Connect(url); err != nil {
			return nil, errors.Join(err, s.Stop())
		}
		return s, nil
	case err := <-s.done:
		return nil, errors.Join(errors.New("the pipeline ended before it served"), err)
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), s.Stop())
	}
}

// follow copies lines to log, sends the NATS server's address to up once the
// process serves, and returns the last line.
func follow(lines io.Reader, log io.Writer, up chan<- string) string {
	url, last := "", ""
	scanner := bufio.NewScanner(lines)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		last = scanner.Text()
		fmt.Fprintln(log, last)
		var line struct {
			Msg string `json:"msg"`
			URL string `json:"url"`
		}
		if json.Unmarshal(scanner.Bytes(), &line) != nil {
			continue
		}
		switch {
		case line.Msg == "NATS listens":
			url = line.URL
		case line.Msg == "serving" && url != "":
			up <- url
			url = ""
		}
	}
	_, _ = io.Copy(io.Discard, lines) // a line beyond the scanner's limit must not block the process
	return strings.TrimSpace(last)
}

// Stop ends the process, as an operator does, and waits for it.
func (s *Served) Stop() error {
	if s.Client != nil {
		s.Client.Close()
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended: then done says why
	timer := time.NewTimer(stopTime)
	defer timer.Stop()
	select {
	case err := <-s.done:
		return err
	case <-timer.C:
		_ = s.cmd.Process.Kill()
		return errors.Join(fmt.Errorf("the pipeline did not stop within %s", stopTime), <-s.done)
	}
}
