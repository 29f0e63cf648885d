package spend

import (
	"context"

	"github.com/stepgap/stepgap/internal/cost"
	"github.com/stepgap/stepgap/internal/judge/llm"
)

// Meter returns a Completer that adds to a what every call of c costs,
// unusable and failed ones as well. It stands below any cache.
func Meter(c llm.Completer, price cost.Price, a *Account) llm.Completer {
	return &meter{c, price, a}
}

type meter struct {
	llm.Completer
	price   cost.Price
	account *Account
}

// Complete implements llm.Completer.
func (m *meter) Complete(ctx context.Context, req llm.Request) (llm.Completion, error) {
	done, err := m.Completer.Complete(ctx, req)
	m.account.Add(m.price.Of(done.Meta.TokensIn, done.Meta.TokensOut, done.Meta.TokensCached))
	return done, err
}
