package onnx

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stepgap/stepgap/internal/nli"
	ort "github.com/yalue/onnxruntime_go"
)

// buffers are the inputs and the output of one run. Their memory is kept from
// run to run and grows to the largest batch; a tensor, which is only a shape
// and a pointer to it, is made anew where the shape differs. Shapes are not
// rounded up to hit kept tensors more often: a tensor costs a microsecond, a
// padded token a quarter of a millisecond.
type buffers struct {
	graph  graph
	live   *atomic.Int64
	wide   [][]int64 // one an input that is int64
	narrow [][]int32 // one an input that is int32
	rows   int
	length int

	inputs []ort.Value
	output output
}

// fit makes tensors of the batch's shape over the kept memory.
func (b *buffers) fit(rows, length int) (err error) {
	if rows == b.rows && length == b.length {
		return nil
	}
	if err := b.destroy(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.destroy())
		}
	}()
	n := len(b.graph.inputs)
	b.wide, b.narrow = sized(b.wide, n), sized(b.narrow, n)
	shape := ort.NewShape(int64(rows), int64(length))
	for i, name := range b.graph.inputs {
		var t ort.Value
		if b.graph.int32[name] {
			b.narrow[i] = sized(b.narrow[i], rows*length)
			t, err = ort.NewTensor(shape, b.narrow[i])
		} else {
			b.wide[i] = sized(b.wide[i], rows*length)
			t, err = ort.NewTensor(shape, b.wide[i])
		}
		if err != nil {
			return fmt.Errorf("making input %s of shape %v: %w", name, shape, err)
		}
		b.live.Add(1)
		b.inputs = append(b.inputs, t)
	}
	if b.output, err = newOutput(b.graph, rows); err != nil {
		return fmt.Errorf("making output for %d rows: %w", rows, err)
	}
	b.live.Add(1)
	b.rows, b.length = rows, length
	return nil
}

// fill writes a batch into the inputs, whose shape fits it.
func (b *buffers) fill(batch []nli.Encoding, pad int64) {
	for i, name := range b.graph.inputs {
		if b.graph.int32[name] {
			write(b.narrow[i], name, batch, b.length, int32(pad))
		} else {
			write(b.wide[i], name, batch, b.length, pad)
		}
	}
}

// write writes what the input called name is given of a batch, in rows of
// length.
func write[T int32 | int64](data []T, name string, batch []nli.Encoding, length int, pad T) {
	for r, e := range batch {
		row := data[r*length : (r+1)*length]
		text, padding := row[:e.Len()], row[e.Len():]
		switch name {
		case "input_ids":
			for i, id := range e.IDs {
				text[i] = T(id)
			}
			fillWith(padding, pad)
		case "token_type_ids":
			for i, id := range e.TypeIDs {
				text[i] = T(id)
			}
			clear(row[len(e.TypeIDs):])
		case "attention_mask":
			fillWith(text, 1)
			clear(padding)
		}
	}
}

func fillWith[T any](row []T, value T) {
	for i := range row {
		row[i] = value
	}
}

// sized returns a slice of n values, with s's memory where that is large enough.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// destroy frees the tensors and keeps the memory below them.
func (b *buffers) destroy() error {
	var errs []error
	for _, v := range b.inputs {
		errs = append(errs, v.Destroy())
		b.live.Add(-1)
	}
	if b.output.Value != nil {
		errs = append(errs, b.output.Destroy())
		b.live.Add(-1)
	}
	b.inputs, b.output = b.inputs[:0], output{}
	b.rows, b.length = 0, 0
	return errors.Join(errs...)
}

// pool keeps buffers that no run holds. There are as many as ever ran at once,
// which the caller's lanes bound.
type pool struct {
	graph graph
	live  atomic.Int64 // tensors that exist

	mu   sync.Mutex
	free []*buffers
}

func (p *pool) get() *buffers {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return &buffers{graph: p.graph, live: &p.live}
}

func (p *pool) put(b *buffers) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, b)
}

// close frees what no run holds.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, b := range p.free {
		errs = append(errs, b.destroy())
	}
	p.free = nil
	return errors.Join(errs...)
}
