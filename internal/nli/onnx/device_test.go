package onnx

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlainly holds errors as ONNX Runtime words them to one line that says the
// reason alone.
func TestPlainly(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"this ONNX Runtime was built without CUDA: CUDA execution provider is not enabled in this build. ": "this ONNX Runtime was built without CUDA: CUDA execution provider is not enabled in this build",
		"choosing GPU 0: /onnxruntime_src/onnxruntime/core/session/provider_bridge_ort.cc:1952 onnxruntime::Provider& onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library /opt/lib/libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open shared object file: No such file or directory\n":                                                                  "choosing GPU 0: libonnxruntime_providers_cuda.so can't be loaded: libcublasLt.so.12: cannot open shared object file: No such file or directory",
		"opening GPU 0: /onnxruntime_src/onnxruntime/core/providers/cuda/cuda_call.cc:129 std::conditional_t<THRW, void, common::Status> onnxruntime::CudaCall(ERRTYPE, const char*) [with ERRTYPE = cudaError; bool THRW = true] CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version ; GPU=-1 ; hostname=box ; file=/onnxruntime_src/x.cc ; line=280 ; expr=cudaSetDevice(info_.device_id);": "opening GPU 0: [with ERRTYPE = cudaError; bool THRW = true] CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version",
		"opening x.onnx: no space": "opening x.onnx: no space",
	} {
		require.Equal(t, want, plainly(errors.New(in)))
	}
}
