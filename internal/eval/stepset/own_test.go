package stepset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/eval/stepset"
)

func TestOwnSetReads(t *testing.T) {
	t.Parallel()
	set, err := stepset.Own()
	require.NoError(t, err)
	require.NotEmpty(t, set.Rollouts)
}
