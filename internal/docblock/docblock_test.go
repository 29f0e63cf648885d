package docblock

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneBlockIsRenewedAndNothingElse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page.md")
	const page = "head\n<!-- a: begin -->\nold\n<!-- a: end -->\nbetween\n<!-- b: begin -->\n<!-- b: end -->\ntail"
	require.NoError(t, os.WriteFile(path, []byte(page), 0o600))
	require.NoError(t, Renew(path, "a", "new"))
	require.NoError(t, Renew(path, "b", "two\nlines\n"))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "head\n<!-- a: begin -->\nnew\n<!-- a: end -->\nbetween\n<!-- b: begin -->\ntwo\nlines\n<!-- b: end -->\ntail", string(got))
	text, err := Read(path, "b")
	require.NoError(t, err)
	require.Equal(t, "two\nlines\n", text)
}

func TestAFileWithoutTheBlockIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page.md")
	for _, page := range []string{"", "<!-- a: begin -->\nopen", "<!-- a: end -->\n<!-- a: begin -->\n"} {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o600))
		require.ErrorContains(t, Renew(path, "a", "new"), path)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, page, string(got))
	}
	require.ErrorIs(t, Renew(filepath.Join(t.TempDir(), "none.md"), "a", ""), os.ErrNotExist)
}
