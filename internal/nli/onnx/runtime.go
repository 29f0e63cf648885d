package onnx

import (
	"fmt"
	"path/filepath"
	"sync"

	ort "github.com/yalue/onnxruntime_go"
)

// runtimeOwner holds ONNX Runtime's environment. That environment, like the
// library it comes from, exists once a process and is shared by all sessions,
// so this is the one place where the package keeps process-wide state. The first
// model opens it, and a second library path beside it is refused. It then stays
// open until the process ends: unloading the library with its worker threads
// about is a known way to crash, and a later model finds it ready.
type runtimeOwner struct {
	mu      sync.Mutex
	library string
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
		// What fails is returned; ONNX Runtime's own log would say it again, in
		// another form, beside ours.
		if err := ort.InitializeEnvironment(ort.WithLogLevelFatal()); err != nil {
			return fmt.Errorf("loading ONNX Runtime from %s: %w", path, err)
		}
		// Nothing leaves the machine.
		if err := ort.DisableTelemetry(); err != nil {
			return fmt.Errorf("turning off ONNX Runtime's telemetry: %w", err)
		}
		r.library = path
	}
	return nil
}
