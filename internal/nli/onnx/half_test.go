package onnx

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHalfToFloat(t *testing.T) {
	t.Parallel()
	for bits, want := range map[uint16]float64{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x3555: 0.333251953125, 0x7bff: 65504,
		0x0001: math.Ldexp(1, -24), 0x03ff: math.Ldexp(1023, -24), 0x8001: -math.Ldexp(1, -24),
		0x0400: math.Ldexp(1, -14), 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		require.Equal(t, float32(want), halfToFloat(bits), "%#04x", bits)
	}
	require.True(t, math.Signbit(float64(halfToFloat(0x8000))))
	require.True(t, math.IsNaN(float64(halfToFloat(0x7e00))))
}
