// Package docblocktest holds documentation to what a test has measured.
package docblocktest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/docblock"
)

// Holds requires that the block of a page says what was measured; with
// STEPGAP_UPDATE=1 it writes it.
func Holds(t *testing.T, page, name, measured string) {
	t.Helper()
	if os.Getenv("STEPGAP_UPDATE") != "" {
		require.NoError(t, docblock.Renew(page, name, measured))
		return
	}
	said, err := docblock.Read(page, name)
	require.NoError(t, err)
	require.Equal(t, measured, said, "run the test with STEPGAP_UPDATE=1 to write the page anew")
}
