package stage_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain lets many tests run at once: they wait for servers, time-outs and
// each other, and compute next to nothing.
func TestMain(m *testing.M) {
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == p.DefValue {
		_ = flag.Set("test.parallel", "24")
	}
	os.Exit(m.Run())
}
