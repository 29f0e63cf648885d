package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func withoutGPU(t *testing.T) {
	t.Helper()
	if os.Getenv("STEPGAP_ORT_LIB") == "" {
		t.Skip("STEPGAP_ORT_LIB is not set (make test sets it)")
	}
	if _, err := os.Stat("/dev/nvidia0"); err == nil {
		t.Skip("this machine has a GPU")
	}
}

// TestADemandedGPUThatIsMissingEndsTheWorkerWithOneSentence also holds a wrong
// device, which is found before anything is opened.
func TestADemandedGPUThatIsMissingEndsTheWorkerWithOneSentence(t *testing.T) {
	t.Parallel()
	withoutGPU(t)
	url := natsServer(t)
	for device, want := range map[string]string{
		"cuda":   "device cuda:0 was demanded and is not available",
		"cuda:3": "device cuda:3 was demanded and is not available",
		"gpu":    `device "gpu" is none of auto, cpu, cuda, cuda:N`,
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(built(t).stepgap, "serve", "nli-worker", "--nats", url, "--device", device)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, device)
		require.Equal(t, 1, exit.ExitCode(), device)
		require.Empty(t, stdout.String(), device)
		line, rest, _ := strings.Cut(stderr.String(), "\n")
		require.Empty(t, rest, "%s: more than one line:\n%s", device, stderr.String())
		require.True(t, strings.HasPrefix(line, "stepgap: "), line)
		require.Contains(t, line, want)
		require.NotContains(t, line, "goroutine")
		require.Less(t, len(line), 400, line)
	}
}

func TestAutoFallsBackToCPUWithOneLine(t *testing.T) {
	t.Parallel()
	withoutGPU(t)
	p := start(t, "serving", built(t).stepgap, "serve", "nli-worker", "--nats", natsServer(t), "--device", "auto")
	log := p.tail()
	about := 0
	for line := range strings.Lines(log) {
		if strings.Contains(strings.ToLower(line), "gpu") || strings.Contains(strings.ToLower(line), "cuda") {
			about++
			require.Contains(t, line, "NLI model runs on CPU")
		}
	}
	require.Equal(t, 1, about, log)
	warm, serving := strings.Index(log, "NLI model is warm"), strings.Index(log, "serving")
	require.Positive(t, warm, log)
	require.Less(t, warm, serving, "the model is warm before the process says that it serves:\n%s", log)
}
