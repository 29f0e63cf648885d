package onnx

import (
	"fmt"
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
		return fmt.Errorf("this ONNX Runtime has no CUDA: %w", err)
	}
	defer cuda.Destroy()
	if err := cuda.Update(map[string]string{"device_id": strconv.Itoa(gpu)}); err != nil {
		return fmt.Errorf("choosing GPU %d: %w", gpu, err)
	}
	if err := opts.AppendExecutionProviderCUDA(cuda); err != nil {
		return fmt.Errorf("opening GPU %d: %w", gpu, err)
	}
	return nil
}
