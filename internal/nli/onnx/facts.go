package onnx

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"google.golang.org/protobuf/encoding/protowire"
)

// Precisions of a model, as nli.Info names them.
const (
	precisionFP32 = "fp32"
	precisionFP16 = "fp16"
	precisionInt8 = "int8" // or another quantisation
)

// facts is what a model file itself says of how it computes. Names of files
// are no proof: "model_int8.onnx" may hold anything.
type facts struct {
	// external are the files that hold weights, relative to the model file's
	// folder, sorted.
	external  []string
	quantised bool // it has an operator of quantised arithmetic
	// elements counts the numbers in the weights by ONNX data type.
	elements map[uint64]uint64
}

// ONNX data types, as TensorProto.DataType numbers them.
const (
	typeFloat    = 1
	typeUint8    = 2
	typeInt8     = 3
	typeFloat16  = 10
	typeDouble   = 11
	typeBfloat16 = 16
	typeUint4    = 21
	typeInt4     = 22
)

// quantisedOps are the operators whose results depend on quantised weights or
// activations.
var quantisedOps = [...]string{
	"MatMulInteger", "ConvInteger", "DynamicQuantizeLinear", "QuantizeLinear", "DequantizeLinear",
	"QLinearMatMul", "QLinearConv", "DynamicQuantizeMatMul", "MatMulIntegerToFloat", "QAttention",
	"QGemm", "MatMulNBits", "MatMulBnb4", "DynamicQuantizeLSTM", "QEmbedLayerNormalization",
	"GatherBlockQuantized",
}

// precision is fp32, fp16 or int8.
func (f facts) precision() string {
	floats := f.elements[typeFloat] + f.elements[typeDouble]
	halves := f.elements[typeFloat16] + f.elements[typeBfloat16]
	bytes := f.elements[typeInt8] + f.elements[typeUint8] + f.elements[typeInt4] + f.elements[typeUint4]
	switch {
	case f.quantised || bytes > floats+halves:
		return precisionInt8
	case halves > 0: // mixed files keep some weights, such as norms, in fp32
		return precisionFP16
	default:
		return precisionFP32
	}
}

// readFacts reads a model file's operators and the types of its weights; the
// weights themselves are passed over.
func readFacts(path string) (facts, error) {
	data, unmap, err := mapFile(path)
	if err != nil {
		return facts{}, fmt.Errorf("reading the model file: %w", err)
	}
	defer unmap()
	f := facts{elements: make(map[uint64]uint64)}
	err = fields(data, func(n protowire.Number, value []byte, _ uint64) error {
		if n == 7 { // ModelProto.graph
			return f.graph(value, 0)
		}
		return nil
	})
	if err != nil {
		return facts{}, fmt.Errorf("reading %s as an ONNX model: %w", path, err)
	}
	slices.Sort(f.external)
	f.external = slices.Compact(f.external)
	for _, name := range f.external {
		if !filepath.IsLocal(name) {
			return facts{}, fmt.Errorf("model %s wants weights from %q, which is outside its folder", path, name)
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), name)); err != nil {
			return facts{}, fmt.Errorf("model %s keeps weights in the file %q, which must lie beside it: %w", path, name, err)
		}
	}
	return f, nil
}

// maxDepth bounds graphs within graphs (branches and loops).
const maxDepth = 16

func (f *facts) graph(data []byte, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("graphs are nested more than %d deep", maxDepth)
	}
	return fields(data, func(n protowire.Number, value []byte, _ uint64) error {
		switch n {
		case 1: // GraphProto.node
			return f.node(value, depth)
		case 5: // GraphProto.initializer
			return f.tensor(value)
		}
		return nil
	})
}

func (f *facts) node(data []byte, depth int) error {
	return fields(data, func(n protowire.Number, value []byte, _ uint64) error {
		switch n {
		case 4: // NodeProto.op_type
			f.quantised = f.quantised || slices.Contains(quantisedOps[:], string(value))
		case 5: // NodeProto.attribute
			return fields(value, func(n protowire.Number, value []byte, _ uint64) error {
				switch n {
				case 5: // AttributeProto.t
					return f.tensor(value)
				case 6, 11: // AttributeProto.g, graphs
					return f.graph(value, depth+1)
				}
				return nil
			})
		}
		return nil
	})
}

func (f *facts) tensor(data []byte) error {
	elements, kind := uint64(1), uint64(0)
	err := fields(data, func(n protowire.Number, value []byte, number uint64) error {
		switch n {
		case 1: // TensorProto.dims, packed or not
			if value == nil {
				elements *= number
				return nil
			}
			for len(value) > 0 {
				v, n := protowire.ConsumeVarint(value)
				if n < 0 {
					return protowire.ParseError(n)
				}
				elements *= v
				value = value[n:]
			}
		case 2: // TensorProto.data_type
			kind = number
		case 13: // TensorProto.external_data
			return f.externalEntry(value)
		}
		return nil
	})
	f.elements[kind] += elements
	return err
}

func (f *facts) externalEntry(data []byte) error {
	var key, value string
	err := fields(data, func(n protowire.Number, v []byte, _ uint64) error {
		switch n {
		case 1:
			key = string(v)
		case 2:
			value = string(v)
		}
		return nil
	})
	if key == "location" {
		f.external = append(f.external, value)
	}
	return err
}

// fields calls each with every field of a message: its number, and its bytes
// or, for a varint, nil and the number.
func fields(data []byte, each func(n protowire.Number, value []byte, number uint64) error) error {
	for len(data) > 0 {
		n, kind, size := protowire.ConsumeTag(data)
		if size < 0 {
			return protowire.ParseError(size)
		}
		data = data[size:]
		var value []byte
		var number uint64
		switch kind {
		case protowire.BytesType:
			value, size = protowire.ConsumeBytes(data)
		case protowire.VarintType:
			number, size = protowire.ConsumeVarint(data)
		default:
			size = protowire.ConsumeFieldValue(n, kind, data)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		if kind == protowire.BytesType || kind == protowire.VarintType {
			if err := each(n, value, number); err != nil {
				return err
			}
		}
		data = data[size:]
	}
	return nil
}

// mapFile maps a file into memory, so that only the pages that are looked at
// are read; a model has up to 2 GB of weights between them.
func mapFile(path string) (data []byte, unmap func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 {
		return nil, nil, fmt.Errorf("%s is empty", path)
	}
	data, err = syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	return data, func() { _ = syscall.Munmap(data) }, nil
}
