package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/nli"
	ort "github.com/yalue/onnxruntime_go"
)

// graph is what is needed to know of a model's inputs and outputs.
type graph struct {
	inputs  []string        // in the order in which tensors are passed
	int32   map[string]bool // inputs that are int32; the others are int64
	output  string
	half    bool // the output is float16
	classes int  // columns of the output
}

// session is an open model; safe for concurrent use.
type session struct {
	ort  *ort.DynamicAdvancedSession
	pad  int64
	pool pool
}

// inspect reads the inputs and outputs of a classifier of so many classes, and
// refuses what it could not feed or read.
func inspect(path string, classes int) (graph, error) {
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
	g := graph{int32: make(map[string]bool), classes: classes}
	for _, in := range ins {
		switch in.Name {
		case "input_ids", "attention_mask", "token_type_ids":
		default:
			return graph{}, fmt.Errorf("model %s wants the input %q, which is not supported", path, in.Name)
		}
		switch in.DataType {
		case ort.TensorElementDataTypeInt64:
		case ort.TensorElementDataTypeInt32:
			g.int32[in.Name] = true
		default:
			return graph{}, fmt.Errorf("input %q of %s is %s; int64 and int32 are supported", in.Name, path, in.DataType)
		}
		g.inputs = append(g.inputs, in.Name)
	}
	for _, need := range []string{"input_ids", "attention_mask"} {
		if !slices.Contains(g.inputs, need) {
			return graph{}, fmt.Errorf("model %s has no input %q", path, need)
		}
	}
	out, err := chooseOutput(outs, classes)
	if err != nil {
		return graph{}, fmt.Errorf("model %s: %w", path, err)
	}
	g.half = out.DataType == ort.TensorElementDataTypeFloat16
	g.output = out.Name
	return g, nil
}

// chooseOutput finds the logits: the output of that name, or the only one that
// has a number for each class.
func chooseOutput(outs []ort.InputOutputInfo, classes int) (ort.InputOutputInfo, error) {
	fits := func(o ort.InputOutputInfo) bool {
		number := o.DataType == ort.TensorElementDataTypeFloat || o.DataType == ort.TensorElementDataTypeFloat16
		d := o.Dimensions
		return number && len(d) == 2 && (d[1] < 0 || d[1] == int64(classes))
	}
	var found []ort.InputOutputInfo
	var all []string
	for _, o := range outs {
		all = append(all, fmt.Sprintf("%q: %s %v", o.Name, o.DataType, o.Dimensions))
		if !fits(o) {
			continue
		}
		if o.Name == "logits" {
			return o, nil
		}
		found = append(found, o)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return ort.InputOutputInfo{}, fmt.Errorf("no output has the shape (batch, %d) in float32 or float16, which a classifier of %d labels gives; it has %s", classes, classes, strings.Join(all, ", "))
	default:
		return ort.InputOutputInfo{}, fmt.Errorf("no output is named logits, and several could be the logits: %s", strings.Join(all, ", "))
	}
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
	return &session{ort: s, pad: pad, pool: pool{graph: g}}, nil
}

// run pads batch and returns its rows of raw outputs, in order.
func (s *session) run(batch []nli.Encoding) ([][]float32, error) {
	longest := 0
	for _, e := range batch {
		longest = max(longest, e.Len())
	}
	b := s.pool.get()
	defer s.pool.put(b)
	if err := b.fit(len(batch), longest); err != nil {
		return nil, err
	}
	b.fill(batch, s.pad)
	if err := s.ort.Run(b.inputs, []ort.Value{b.output}); err != nil {
		return nil, fmt.Errorf("running %d pairs of up to %d tokens: %w", len(batch), longest, err)
	}
	out := slices.Clone(b.output.floats()) // b belongs to the next run
	n := s.pool.graph.classes
	rows := make([][]float32, len(batch))
	for i := range rows {
		rows[i] = out[i*n : (i+1)*n]
	}
	return rows, nil
}

// close frees the session and its tensors. No run may be under way.
func (s *session) close() error {
	return errors.Join(s.pool.close(), s.ort.Destroy())
}
