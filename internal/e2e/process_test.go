package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/check"
)

// programs are built once for all tests of the package.
type programs struct{ stepgap, nats string }

var build = sync.OnceValues(func() (programs, error) {
	dir, err := os.MkdirTemp("", "stepgap-e2e-")
	if err != nil {
		return programs{}, err
	}
	p := programs{filepath.Join(dir, "stepgap"), filepath.Join(dir, "nats-server")}
	for out, pkg := range map[string]string{p.stepgap: "github.com/stepgap/stepgap/cmd/stepgap", p.nats: "github.com/nats-io/nats-server/v2"} {
		if b, err := exec.Command("go", "build", "-o", out, pkg).CombinedOutput(); err != nil {
			return p, fmt.Errorf("building %s: %w\n%s", pkg, err, b)
		}
	}
	return p, nil
})

func built(t *testing.T) programs {
	t.Helper()
	p, err := build()
	require.NoError(t, err)
	return p
}

func TestMain(m *testing.M) {
	code := m.Run()
	if p, err := build(); err == nil {
		_ = os.RemoveAll(filepath.Dir(p.stepgap))
	}
	os.Exit(code)
}

// process is a running program whose output is kept for failures.
type process struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	done chan struct{}

	mu  sync.Mutex
	log bytes.Buffer
}

// start runs a program and waits until a line of its output holds ready.
func start(t *testing.T, ready, path string, args ...string) *process {
	t.Helper()
	p := &process{t: t, name: filepath.Base(path) + " " + strings.Join(args, " "), cmd: exec.Command(path, args...), done: make(chan struct{})}
	out, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	p.cmd.Stdout = p.cmd.Stderr
	require.NoError(t, p.cmd.Start())
	up := make(chan struct{})
	go p.read(out, ready, up)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("output of %s:\n%s", p.name, p.tail())
		}
	})
	select {
	case <-up:
	case <-p.done:
		require.FailNow(t, "ended before it was ready", "%s\n%s", p.name, p.tail())
	case <-time.After(90 * time.Second):
		require.FailNow(t, "not ready", "%s\n%s", p.name, p.tail())
	}
	return p
}

func (p *process) read(out io.Reader, ready string, up chan struct{}) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	told := false
	for lines.Scan() {
		p.mu.Lock()
		if p.log.Len() < 1<<20 {
			p.log.WriteString(lines.Text() + "\n")
		}
		p.mu.Unlock()
		if !told && strings.Contains(lines.Text(), ready) {
			told = true
			close(up)
		}
	}
	_ = p.cmd.Wait() // killed is how most of them end
	close(p.done)
}

func (p *process) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.log.String()
	return s[max(0, len(s)-4000):]
}

// kill is SIGKILL: no handler runs.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// natsServer starts an external server with JetStream and returns its URL.
func natsServer(t *testing.T) string {
	t.Helper()
	p := start(t, "Server is ready", built(t).nats, "-js", "-sd", t.TempDir(), "-a", "127.0.0.1", "-p", "-1", "-c", config(t))
	m := listening.FindStringSubmatch(p.tail())
	require.NotNil(t, m, p.tail())
	return "nats://" + m[1]
}

var listening = regexp.MustCompile(`Listening for client connections on (\S+)`)

func config(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "nats.conf")
	require.NoError(t, os.WriteFile(path, []byte("max_payload: 5242880\n"), 0o600))
	return path
}

// role starts one role against url.
func role(t *testing.T, url, name string, args ...string) *process {
	t.Helper()
	return start(t, "msg=serving", built(t).stepgap, append([]string{"serve", name, "--nats", url, "--judge", "local", "--ack-wait", ackWait.String()}, args...)...)
}

// ackWait is short, so that what a killed worker held comes back soon.
const ackWait = 2 * time.Second

// results runs a command that prints results as JSON.
func results(t *testing.T, args ...string) map[string]*check.Result {
	t.Helper()
	cmd := exec.Command(built(t).stepgap, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "stepgap %s\n%s", strings.Join(args, " "), stderr.String())
	all := map[string]*check.Result{}
	dec := json.NewDecoder(bytes.NewReader(out))
	for dec.More() {
		var r check.Result
		require.NoError(t, dec.Decode(&r))
		require.NotContains(t, all, r.Source, "each rollout once")
		all[r.Source] = &r
	}
	t.Logf("stepgap %s: %s", args[0], firstLine(stderr.String()))
	return all
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
