package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPriorityGoesByTheDeviceUnlessGiven(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given  int
		device string
		want   int
	}{
		{-1, "cuda:0", 0}, {-1, "cpu", 5}, {-1, "", 5}, {0, "cpu", 0}, {9, "cuda:1", 9},
	} {
		require.Equal(t, c.want, priorityOf(Config{NLIPriority: c.given}, c.device), "%+v", c)
	}
}
