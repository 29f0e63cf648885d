package bus

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

func TestClassifyTellsTheServersAnswersApart(t *testing.T) {
	t.Parallel()
	cases := []struct {
		code        jetstream.ErrorCode
		description string
		want        answer
	}{
		{10071, "wrong last sequence: 17", answerAlreadyThere},
		{10071, "wrong last sequence: 0", answerFull},
		{10164, "wrong last sequence", answerInFlight},
		{10077, "maximum messages per subject exceeded", answerAlreadyThere},
		{10077, "maximum messages exceeded", answerFull},
		{10077, "maximum bytes exceeded", answerFull},
		{10023, "insufficient resources", answerFull},
		{10059, "stream not found", answerOther},
	}
	for _, c := range cases {
		err := fmt.Errorf("publishing: %w", &jetstream.APIError{ErrorCode: c.code, Description: c.description})
		require.Equal(t, c.want, classify(err), "%d %s", c.code, c.description)
	}
	require.Equal(t, answerOther, classify(errors.New("timeout")))
	require.Equal(t, answerOther, classify(nil))
}
