package schema

import (
	"encoding/binary"
	"fmt"
)

// checkFrame walks a MessagePack body without allocating and refuses one whose
// declared lengths exceed the bytes that are left, that nests too deep, or
// that holds too many values. The decoder allocates by declared lengths
// (vmihailenco/msgpack#401: five bytes can claim 16 million elements), so this
// runs before it. The body must be exactly one map.
func checkFrame(b []byte) error {
	if len(b) > MaxMessage {
		return &FrameError{Offset: 0, Problem: fmt.Sprintf("%d bytes, the limit is %d", len(b), MaxMessage), Reason: ReasonTooLarge}
	}
	if len(b) == 0 {
		return &FrameError{Problem: "empty body; expected a map", Reason: ReasonMalformed}
	}
	if c := b[0]; !isMap(c) {
		return &FrameError{Problem: fmt.Sprintf("starts with 0x%02x; expected a map", c), Reason: ReasonMalformed}
	}
	w := frameWalker{buf: b}
	if err := w.value(0); err != nil {
		return err
	}
	if w.pos != len(b) {
		return w.fail("%d bytes after the end of the map", len(b)-w.pos)
	}
	return nil
}

func isMap(c byte) bool { return c&0xf0 == 0x80 || c == 0xde || c == 0xdf }

type frameWalker struct {
	buf   []byte
	pos   int
	nodes int
}

func (w *frameWalker) fail(format string, args ...any) error {
	return &FrameError{Offset: w.pos, Problem: fmt.Sprintf(format, args...), Reason: ReasonMalformed}
}

func (w *frameWalker) value(depth int) error {
	if depth > MaxDepth {
		return w.fail("nested deeper than %d", MaxDepth)
	}
	w.nodes++
	if w.nodes > MaxNodes {
		return w.fail("more than %d values", MaxNodes)
	}
	if w.pos >= len(w.buf) {
		return w.fail("cut off")
	}
	c := w.buf[w.pos]
	w.pos++
	switch {
	case c < 0x80 || c >= 0xe0: // fixint
		return nil
	case c < 0x90:
		return w.container(int(c&0x0f), 2, depth)
	case c < 0xa0:
		return w.container(int(c&0x0f), 1, depth)
	case c < 0xc0:
		return w.skip(int(c & 0x1f))
	}
	switch c {
	case 0xc0, 0xc2, 0xc3: // nil, false, true
		return nil
	case 0xc4, 0xd9: // bin 8, str 8
		return w.sized(1, 0)
	case 0xc5, 0xda:
		return w.sized(2, 0)
	case 0xc6, 0xdb:
		return w.sized(4, 0)
	case 0xc7: // ext 8
		return w.sized(1, 1)
	case 0xc8:
		return w.sized(2, 1)
	case 0xc9:
		return w.sized(4, 1)
	case 0xcc, 0xd0:
		return w.skip(1)
	case 0xcd, 0xd1:
		return w.skip(2)
	case 0xca, 0xce, 0xd2: // float32, uint32, int32
		return w.skip(4)
	case 0xcb, 0xcf, 0xd3:
		return w.skip(8)
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8: // fixext
		return w.skip(1 + 1<<(c-0xd4))
	case 0xdc, 0xde:
		n, err := w.length(2)
		if err != nil {
			return err
		}
		return w.container(n, perElement(c == 0xde), depth)
	case 0xdd, 0xdf:
		n, err := w.length(4)
		if err != nil {
			return err
		}
		return w.container(n, perElement(c == 0xdf), depth)
	}
	return w.fail("unknown type 0x%02x", c)
}

// perElement is how many values an element is: a key and a value in maps.
func perElement(isMap bool) int {
	if isMap {
		return 2
	}
	return 1
}

func (w *frameWalker) container(n, each, depth int) error {
	if n > (len(w.buf)-w.pos)/each {
		return w.fail("claims %d elements, %d bytes are left", n, len(w.buf)-w.pos)
	}
	if n > MaxElements {
		return w.fail("claims %d elements, the limit is %d", n, MaxElements)
	}
	for range n * each {
		if err := w.value(depth + 1); err != nil {
			return err
		}
	}
	return nil
}

func (w *frameWalker) sized(lengthBytes, extra int) error {
	n, err := w.length(lengthBytes)
	if err != nil {
		return err
	}
	return w.skip(n + extra)
}

func (w *frameWalker) length(size int) (int, error) {
	if len(w.buf)-w.pos < size {
		return 0, w.fail("cut off in a length")
	}
	var n int
	switch size {
	case 1:
		n = int(w.buf[w.pos])
	case 2:
		n = int(binary.BigEndian.Uint16(w.buf[w.pos:]))
	default:
		n = int(binary.BigEndian.Uint32(w.buf[w.pos:]))
	}
	w.pos += size
	return n, nil
}

func (w *frameWalker) skip(n int) error {
	if n > len(w.buf)-w.pos {
		return w.fail("claims %d bytes, %d are left", n, len(w.buf)-w.pos)
	}
	w.pos += n
	return nil
}
