package llmtest

import (
	"io"
	"log"
)

// quiet drops what net/http logs about handshakes that the test means to fail.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
