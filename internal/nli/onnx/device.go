package onnx

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	ort "github.com/yalue/onnxruntime_go"
)

// Device says where a session should run.
type Device struct {
	kind string // "auto", "cpu", "cuda"
	gpu  int
}

// ParseDevice reads auto, cpu, cuda or cuda:N. The empty string is auto.
func ParseDevice(s string) (Device, error) {
	kind, n, numbered := strings.Cut(strings.ToLower(strings.TrimSpace(s)), ":")
	switch {
	case kind == "" && !numbered:
		return Device{kind: "auto"}, nil
	case (kind == "auto" || kind == "cpu" || kind == "cuda") && !numbered:
		return Device{kind: kind}, nil
	case kind == "cuda":
		gpu, err := strconv.Atoi(n)
		if err != nil || gpu < 0 {
			return Device{}, fmt.Errorf("device %q: the part after cuda: must be a GPU's number", s)
		}
		return Device{kind: kind, gpu: gpu}, nil
	default:
		return Device{}, fmt.Errorf("device %q is none of auto, cpu, cuda, cuda:N", s)
	}
}

// addCUDA asks for the CUDA provider. It fails, without harm, where the
// library has none or finds no GPU.
func addCUDA(opts *ort.SessionOptions, gpu int) error {
	cuda, err := ort.NewCUDAProviderOptions()
	if err != nil {
		return fmt.Errorf("this ONNX Runtime was built without CUDA: %w", err)
	}
	defer cuda.Destroy()
	err = cuda.Update(map[string]string{
		"device_id": strconv.Itoa(gpu),
		// TF32 keeps ten bits of what fp32 keeps 23 of. Who wants speed for
		// digits gives an fp16 file, whose parity is held to that.
		"use_tf32": "0",
		// Memory grows by what a batch needs, not to the next power of two.
		"arena_extend_strategy": "kSameAsRequested",
	})
	if err != nil {
		return fmt.Errorf("choosing GPU %d: %w", gpu, err)
	}
	if err := opts.AppendExecutionProviderCUDA(cuda); err != nil {
		return fmt.Errorf("opening GPU %d: %w", gpu, err)
	}
	return nil
}

// ErrNoGPU says that a GPU was demanded and can't be had.
var ErrNoGPU = errors.New("use --device auto or cpu, or see docs/gpu.md for what a GPU needs")

// Where ONNX Runtime's errors name lines of its own source, and what follows
// the reason in those of CUDA.
var (
	ortSource = regexp.MustCompile(`(?:/\S+:\d+ .*?)?\[ONNXRuntimeError\] : \d+ : \w+ : `)
	ortFile   = regexp.MustCompile(`/onnxruntime_src/\S+:\d+ \S.*?\) `)
	cudaTail  = regexp.MustCompile(` ; GPU=.*$`)
	libraryAt = regexp.MustCompile(`Failed to load library \S*?([^/\s]+) with error: `)
)

// plainly makes one short line of an error of ONNX Runtime: what it says, not
// where in its source it says it.
func plainly(err error) string {
	s := strings.Join(strings.Fields(err.Error()), " ")
	s = ortSource.ReplaceAllString(s, "")
	s = ortFile.ReplaceAllString(s, "")
	s = cudaTail.ReplaceAllString(s, "")
	s = libraryAt.ReplaceAllString(s, "$1 can't be loaded: ")
	return strings.TrimRight(s, ". ")
}
