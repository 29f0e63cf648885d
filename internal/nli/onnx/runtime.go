package onnx

import (
	"fmt"
	"path/filepath"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// runtimeOwner holds ONNX Runtime's environment. That environment, like the
// library it comes from, exists once a process and is shared by all sessions,
// so this is the one place where the package keeps process-wide state: a count
// of open models. The first opens it, and a second library path beside it is
// refused. It then stays open until the process ends: unloading the library
// with its worker threads about is a known way to crash, and a later model
// finds it ready.
type runtimeOwner struct {
	mu      sync.Mutex
	library string
	models  int
}

var process runtimeOwner

// acquire makes sure that the environment is open with library.
func (r *runtimeOwner) acquire(library string) error {
	path, err := filepath.Abs(library)
	if err != nil {
		return fmt.Errorf("finding ONNX Runtime's library %s: %w", library, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.library != "" && r.library != path {
		return fmt.Errorf("ONNX Runtime is already loaded from %s; a process can't also load %s", r.library, path)
	}
	if r.library == "" {
		ort.SetSharedLibraryPath(path)
		if err := ort.InitializeEnvironment(); err != nil {
			return fmt.Errorf("loading ONNX Runtime from %s: %w", path, err)
		}
		// Nothing leaves the machine.
		if err := ort.DisableTelemetry(); err != nil {
			return fmt.Errorf("turning off ONNX Runtime's telemetry: %w", err)
		}
		r.library = path
	}
	r.models++
	return nil
}

// release gives a model's hold back.
func (r *runtimeOwner) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.models--
}

// OpenModels is how many models of this process hold the runtime; tests and
// metrics use it to see leaks.
func OpenModels() int {
	process.mu.Lock()
	defer process.mu.Unlock()
	return process.models
}
