package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMissingFileIsNamedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"check", "nowhere.jsonl"}, {"publish", "--nats", "nats://127.0.0.1:1", "nowhere.jsonl"}} {
		root := newRoot("test")
		root.SetArgs(args)
		require.ErrorContains(t, root.ExecuteContext(t.Context()), "nowhere.jsonl", args)
	}
	root := newRoot("test")
	root.SetArgs([]string{"check", t.TempDir()})
	require.ErrorContains(t, root.ExecuteContext(t.Context()), "folder")
}
