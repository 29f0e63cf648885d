package systems

import (
	"errors"
	"log/slog"
	"sync"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/nli/onnx"
)

// Models are NLI models that pipelines borrow, each opened once. The zero value
// has none yet.
type Models struct {
	mu   sync.Mutex
	open map[modelKey]*onnx.Scorer
}

// modelKey is what of the settings a model depends on.
type modelKey struct {
	model, file, models, lib, device, deterministic string
	lanes, threads                                  int
}

// Open is the model of cfg. It is an app.Lender.
func (m *Models) Open(cfg app.Config, log *slog.Logger) (*onnx.Scorer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := modelKey{cfg.NLIModel, cfg.NLIFile, cfg.Models, cfg.ORTLib, cfg.Device, cfg.Deterministic, cfg.NLILanes, cfg.NLIThreads}
	if s, ok := m.open[key]; ok {
		return s, nil
	}
	s, err := app.OpenScorer(cfg, log)
	if err != nil {
		return nil, err
	}
	if m.open == nil {
		m.open = map[modelKey]*onnx.Scorer{}
	}
	m.open[key] = s
	return s, nil
}

// Close closes all of them, once no pipeline borrows one any more.
func (m *Models) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for _, s := range m.open {
		errs = append(errs, s.Close())
	}
	m.open = nil
	return errors.Join(errs...)
}
