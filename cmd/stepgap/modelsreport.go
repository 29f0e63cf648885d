package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/stepgap/stepgap/internal/models"
)

// pullReport shows how a pull goes on: a bar on a terminal, and elsewhere a
// line now and then.
type pullReport struct {
	out  io.Writer
	tty  bool
	bar  *progressbar.ProgressBar
	now  func() time.Time
	file string
	// size is -1 where the server doesn't say.
	size, have int64
	last       time.Time
}

// lineEvery is how often a download says that it goes on, in a log.
const lineEvery = 15 * time.Second

func newPullReport(out io.Writer) *pullReport {
	f, ok := out.(*os.File)
	return &pullReport{out: out, tty: ok && term.IsTerminal(int(f.Fd())), now: time.Now}
}

var _ models.Reporter = (*pullReport)(nil)

func (r *pullReport) Note(line string) {
	r.close()
	fmt.Fprintln(r.out, line)
}

func (r *pullReport) Begin(file string, size, have int64) {
	r.close()
	r.file, r.size, r.have, r.last = file, size, have, r.now()
	if !r.tty {
		fmt.Fprintln(r.out, r.line())
		return
	}
	r.bar = progressbar.NewOptions64(size, progressbar.OptionSetWriter(r.out), progressbar.OptionSetDescription(file),
		progressbar.OptionShowBytes(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish())
	_ = r.bar.Set64(have) // a bar that can't be drawn is no reason to stop
}

func (r *pullReport) Advance(n int64) {
	r.have += n
	if r.bar != nil {
		_ = r.bar.Add64(n)
		return
	}
	if r.now().Sub(r.last) >= lineEvery {
		r.last = r.now()
		fmt.Fprintln(r.out, r.line())
	}
}

func (r *pullReport) line() string {
	text := r.file + ": " + models.Bytes(r.have)
	if r.size >= 0 {
		text += " of " + models.Bytes(r.size)
	}
	return text
}

func (r *pullReport) End(file string) {
	r.close()
	fmt.Fprintln(r.out, file+": done")
}

// close takes the bar away.
func (r *pullReport) close() {
	if r.bar != nil {
		_ = r.bar.Finish()
		r.bar = nil
	}
}
