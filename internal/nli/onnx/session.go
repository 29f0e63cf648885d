package onnx

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stepgap/stepgap/internal/nli"
	ort "github.com/yalue/onnxruntime_go"
)

const classes = 3

// graph is what is needed to know of a model's inputs and outputs.
type graph struct {
	inputs []string // in the order in which tensors are passed
	output string
}

// session is an open model; safe for concurrent use.
type session struct {
	graph graph
	ort   *ort.DynamicAdvancedSession
	pad   int64
}

// inspect reads a model's inputs and outputs and refuses what it could not
// feed or read.
func inspect(path string) (graph, error) {
	opts, err := ort.NewSessionOptions()
	if err != nil {
		return graph{}, fmt.Errorf("making session options: %w", err)
	}
	defer opts.Destroy()
	// This session is for looking alone; optimising it would double the start.
	if err := opts.SetGraphOptimizationLevel(ort.GraphOptimizationLevelDisableAll); err != nil {
		return graph{}, fmt.Errorf("making session options: %w", err)
	}
	ins, outs, err := ort.GetInputOutputInfoWithOptions(path, opts)
	if err != nil {
		return graph{}, fmt.Errorf("reading the graph of %s: %w", path, err)
	}
	var g graph
	for _, in := range ins {
		switch in.Name {
		case "input_ids", "attention_mask", "token_type_ids":
		default:
			return graph{}, fmt.Errorf("model %s wants the input %q, which is not supported", path, in.Name)
		}
		if in.DataType != ort.TensorElementDataTypeInt64 {
			return graph{}, fmt.Errorf("input %q of %s is %s; int64 is supported", in.Name, path, in.DataType)
		}
		g.inputs = append(g.inputs, in.Name)
	}
	for _, need := range []string{"input_ids", "attention_mask"} {
		if !slices.Contains(g.inputs, need) {
			return graph{}, fmt.Errorf("model %s has no input %q", path, need)
		}
	}
	out := outs[0]
	for _, o := range outs {
		if o.Name == "logits" {
			out = o
		}
	}
	if out.DataType != ort.TensorElementDataTypeFloat {
		return graph{}, fmt.Errorf("output %q of %s is %s; float32 is supported", out.Name, path, out.DataType)
	}
	if d := out.Dimensions; len(d) != 2 || (d[1] >= 0 && d[1] != classes) {
		return graph{}, fmt.Errorf("output %q of %s has shape %v; (batch, %d) is expected of a three-way classifier", out.Name, path, d, classes)
	}
	g.output = out.Name
	return g, nil
}

// openSession opens path on CPU, or on GPU gpu when it is not negative.
func openSession(path string, g graph, threads, gpu int, pad int64) (*session, error) {
	opts, err := ort.NewSessionOptions()
	if err != nil {
		return nil, fmt.Errorf("making session options: %w", err)
	}
	defer opts.Destroy()
	err = errors.Join(
		// ORT counts the host's cores, not the container's.
		opts.SetIntraOpNumThreads(threads),
		opts.SetInterOpNumThreads(1),
		opts.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableAll),
		// Spinning threads take cores that the rest of the process needs.
		opts.AddSessionConfigEntry("session.intra_op.allow_spinning", "0"),
		opts.AddSessionConfigEntry("session.inter_op.allow_spinning", "0"),
		// Plans are kept a shape, and batches come in every shape: without
		// this, memory grows with each new one.
		opts.SetMemPattern(false),
	)
	if err != nil {
		return nil, fmt.Errorf("setting session options: %w", err)
	}
	if gpu >= 0 {
		if err := addCUDA(opts, gpu); err != nil {
			return nil, err
		}
	}
	s, err := ort.NewDynamicAdvancedSession(path, g.inputs, []string{g.output}, opts)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return &session{graph: g, ort: s, pad: pad}, nil
}

// run pads batch and returns its rows of raw outputs, in order.
func (s *session) run(batch []nli.Encoding) ([][]float32, error) {
	longest := 0
	for _, e := range batch {
		longest = max(longest, e.Len())
	}
	shape := ort.NewShape(int64(len(batch)), int64(longest))
	inputs := make([]ort.Value, 0, len(s.graph.inputs))
	defer func() {
		for _, v := range inputs {
			v.Destroy()
		}
	}()
	for _, name := range s.graph.inputs {
		t, err := ort.NewTensor(shape, s.fill(name, batch, longest))
		if err != nil {
			return nil, fmt.Errorf("making input %s of shape %v: %w", name, shape, err)
		}
		inputs = append(inputs, t)
	}
	out, err := ort.NewEmptyTensor[float32](ort.NewShape(int64(len(batch)), classes))
	if err != nil {
		return nil, fmt.Errorf("making output for %d rows: %w", len(batch), err)
	}
	defer out.Destroy()
	if err := s.ort.Run(inputs, []ort.Value{out}); err != nil {
		return nil, fmt.Errorf("running %d pairs of up to %d tokens: %w", len(batch), longest, err)
	}
	rows := make([][]float32, len(batch))
	for i := range rows {
		rows[i] = slices.Clone(out.GetData()[i*classes : (i+1)*classes])
	}
	return rows, nil
}

func (s *session) fill(name string, batch []nli.Encoding, longest int) []int64 {
	data := make([]int64, len(batch)*longest)
	for i, e := range batch {
		row := data[i*longest : (i+1)*longest]
		switch name {
		case "input_ids":
			n := copy(row, e.IDs)
			for j := n; j < longest; j++ {
				row[j] = s.pad
			}
		case "token_type_ids":
			copy(row, e.TypeIDs)
		case "attention_mask":
			for j := range e.Len() {
				row[j] = 1
			}
		}
	}
	return data
}
