package onnx

import (
	"encoding/binary"
	"math"

	ort "github.com/yalue/onnxruntime_go"
)

// output is the tensor that the logits are written to.
type output struct {
	ort.Value
	floats func() []float32
}

func newOutput(g graph, rows int) (output, error) {
	shape := ort.NewShape(int64(rows), int64(g.classes))
	if !g.half {
		t, err := ort.NewEmptyTensor[float32](shape)
		if err != nil {
			return output{}, err
		}
		return output{t, t.GetData}, nil
	}
	t, err := ort.NewCustomDataTensor(shape, make([]byte, 2*rows*g.classes), ort.TensorElementDataTypeFloat16)
	if err != nil {
		return output{}, err
	}
	return output{t, func() []float32 { return fromHalf(t.GetData()) }}, nil
}

// fromHalf widens IEEE 754 half-precision numbers, little-endian as all
// machines are that ONNX Runtime is built for.
func fromHalf(data []byte) []float32 {
	out := make([]float32, len(data)/2)
	for i := range out {
		out[i] = halfToFloat(binary.LittleEndian.Uint16(data[2*i:]))
	}
	return out
}

func halfToFloat(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&0x1f, uint32(h)&0x3ff
	switch exponent {
	case 0: // zero and subnormal numbers: fraction * 2^-24, exact in float32
		v := float32(fraction) * (1.0 / (1 << 24))
		return math.Float32frombits(sign | math.Float32bits(v))
	case 0x1f: // infinity and NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	default:
		return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
	}
}
