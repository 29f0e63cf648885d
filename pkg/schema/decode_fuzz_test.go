package schema

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// What decoding may allocate: a constant for the decoder and its errors, and so
// much a byte of input. The worst byte is an empty map in an array of the
// largest struct: one byte, one struct, in a slice that grows by doubling.
const (
	allocatedBase    = 64 << 10
	allocatedPerByte = 1024
)

func be(code byte, size int, n uint64) []byte {
	b := make([]byte, 8)
	binary.BigEndian.PutUint64(b, n)
	return append([]byte{code}, b[8-size:]...)
}

// under puts value under key in a map of one.
func under(key string, value []byte) []byte {
	return append(append([]byte{0x81, 0xa0 | byte(len(key))}, key...), value...)
}

// hostileFrames are bodies by which someone would like to cost us memory, time
// or a crash.
func hostileFrames() map[string][]byte {
	nested := func(code byte, depth int) []byte {
		return append(bytes.Repeat([]byte{code}, depth), 0xc0)
	}
	maps := func(depth int) []byte { // {"a": {"a": ...}}
		return append(bytes.Repeat([]byte{0x81, 0xa1, 'a'}, depth), 0xc0)
	}
	frames := map[string][]byte{
		"empty":                 {},
		"array32 of 16 million": be(0xdd, 4, 16<<20),
		"map32 of 4 billion":    be(0xdf, 4, math.MaxUint32),
		"map16 without a value": be(0xde, 2, math.MaxUint16),
		"nil":                   {0xc0},
		"reserved":              {0xc1},
		"ext as the body":       {0xd4, 0x01, 0x00},
		"nested maps, shallow":  maps(MaxDepth - 1),
		"nested maps, deep":     maps(100_000),
		"two maps":              {0x80, 0x80},
		"number as a key":       {0x81, 0x01, 0x01},
		"nil as a key":          {0x81, 0xc0, 0x01},
		"map as a key":          {0x81, 0x80, 0x01},
		"array as a key":        {0x81, 0x91, 0x01, 0x01},
		"bin as a key":          {0x81, 0xc4, 0x01, 'q', 0xa1, 'x'},
		"a key twice":           {0x82, 0xa1, 'q', 0xa1, 'a', 0xa1, 'q', 0xa1, 'b'},
		"key of 4 GB":           append([]byte{0x81}, be(0xdb, 4, math.MaxUint32)...),
		"invalid UTF-8":         under("q", []byte{0xa2, 0xff, 0xfe}),
		"unknown key, ext":      under("zz", []byte{0xc7, 0x02, 0x05, 1, 2}),
		"unknown key, time":     under("zz", []byte{0xd6, 0xff, 0, 0, 0, 0}),
	}
	for _, key := range []string{"st", "ps", "sp", "h", "tr", "qs", "q", "f", "hd", "bd", "i", "p", "oc", "g", "s", "a", "k", "zz"} {
		frames["array32 in "+key] = under(key, be(0xdd, 4, 16<<20))
		frames["array16 in "+key] = under(key, be(0xdc, 2, math.MaxUint16))
		frames["map32 in "+key] = under(key, be(0xdf, 4, math.MaxUint32))
		frames["str32 in "+key] = under(key, be(0xdb, 4, math.MaxUint32))
		frames["bin32 in "+key] = under(key, be(0xc6, 4, math.MaxInt32))
		frames["ext32 in "+key] = under(key, append(be(0xc9, 4, math.MaxUint32), 0x01))
		frames["fixext16 in "+key] = under(key, append([]byte{0xd8, 0x01}, make([]byte, 16)...))
		frames["nested arrays in "+key] = under(key, nested(0x91, 100_000))
		frames["empty maps in "+key] = under(key, append(be(0xdc, 2, MaxElements), bytes.Repeat([]byte{0x80}, MaxElements)...))
		frames["nils in "+key] = under(key, append(be(0xdc, 2, MaxElements), bytes.Repeat([]byte{0xc0}, MaxElements)...))
		frames["uint64 in "+key] = under(key, be(0xcf, 8, math.MaxUint64))
		frames["int64 in "+key] = under(key, be(0xd3, 8, 1<<63))
		frames["NaN in "+key] = under(key, be(0xcb, 8, math.Float64bits(math.NaN())))
		frames["infinity in "+key] = under(key, be(0xca, 4, uint64(math.Float32bits(float32(math.Inf(1))))))
		frames["true in "+key] = under(key, []byte{0xc3})
		frames["cut in "+key] = under(key, []byte{0x93, 0x01})
	}
	return frames
}

func messages() []any {
	return []any{new(Step), new(RolloutEnd), new(Label), new(Reward), new(Dead), new(LiveAnswer), new(Work), new(Transcript)}
}

// allocated is how many bytes f allocates. Other goroutines count too, so the
// least of a few runs is taken where it is over limit.
func allocated(limit uint64, f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		if least = min(least, after.TotalAlloc-before.TotalAlloc); least <= limit {
			break
		}
	}
	return least
}

// decodeHostile decodes b as each type of message and checks what every
// decoding promises: bounded memory, a typed error, and a message that, if one
// comes out, survives being sent on.
func decodeHostile(t *testing.T, b []byte) {
	t.Helper()
	for _, m := range messages() {
		limit := uint64(allocatedBase + allocatedPerByte*len(b))
		var err error
		got := allocated(limit, func() { m = blank(m); err = decodeAny(b, m) })
		if got > limit {
			t.Fatalf("decoding %d bytes as %T allocated %d bytes, more than %d", len(b), m, got, limit)
		}
		if err != nil {
			var frame *FrameError
			if !errors.As(err, &frame) || frame.Reason == "" {
				t.Fatalf("decoding as %T: error without a reason: %v", m, err)
			}
			continue
		}
		encoded, err := encodeAny(m)
		if err != nil {
			var field *FieldError
			if !errors.As(err, &field) {
				t.Fatalf("encoding what was decoded as %T: %v", m, err)
			}
			continue // longer than the limit once written out
		}
		again := blank(m)
		if err := decodeAny(encoded, again); err != nil {
			t.Fatalf("decoding what was encoded as %T: %v", m, err)
		}
		twice, err := encodeAny(again)
		if err != nil || !bytes.Equal(encoded, twice) {
			t.Fatalf("%T changes when it is sent on (%v):\n%x\n%x", m, err, encoded, twice)
		}
		validateAny(m)
	}
}

// validateAny checks that validation of anything decodable returns.
func validateAny(m any) {
	switch v := m.(type) {
	case *Step:
		_ = v.Validate()
	case *RolloutEnd:
		_ = v.Validate()
	case *Label:
		_ = v.Validate()
	case *Reward:
		_ = v.Validate()
	}
}

// maxSeed keeps the fuzzer's inputs small, hence fast; longer frames have their
// own test.
const maxSeed = 1024

func addFrames(f *testing.F) {
	for _, frame := range hostileFrames() {
		if len(frame) <= maxSeed {
			f.Add(frame)
		}
	}
}

func FuzzDecode(f *testing.F) {
	addFrames(f)
	for _, c := range goldenCases() {
		body, err := encodeAny(c.value)
		require.NoError(f, err)
		if len(body) <= maxSeed {
			f.Add(body)
			f.Add(body[:len(body)/2])
		}
	}
	f.Fuzz(decodeHostile)
}

// FuzzGuard holds that a body the guard lets through claims no more values and
// bytes than it has, by the decoder's own account: it decodes into nothing but
// skipped keys, within the bound.
func FuzzGuard(f *testing.F) {
	addFrames(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		var frame *FrameError
		err := checkFrame(b)
		switch {
		case err == nil:
			for cut := max(0, len(b)-16); cut < len(b); cut++ {
				if checkFrame(b[:cut]) == nil {
					t.Fatalf("also accepted when cut at byte %d of %d", cut, len(b))
				}
			}
			if checkFrame(append(bytes.Clone(b), 0xc0)) == nil {
				t.Fatal("also accepted with a byte after its end")
			}
			// As the value of an unknown key it is skipped whole, one level deeper.
			wrapped := under("zzz", b)
			if checkFrame(wrapped) == nil {
				if err := Decode(wrapped, new(Step)); err != nil && !errors.As(err, &frame) {
					t.Fatalf("skipping: %v", err)
				}
			}
		case !errors.As(err, &frame):
			t.Fatalf("error without an offset: %v", err)
		case frame.Offset < 0 || frame.Offset > len(b):
			t.Fatalf("offset %d of %d", frame.Offset, len(b))
		}
	})
}

func FuzzSubjects(f *testing.F) {
	for _, s := range []string{
		"stepgap.steps.r.o.1", "stepgap.steps.r.o.01", "stepgap.ends.r.o", "stepgap.live.plan.r.o.1", "stepgap.steps..o.1",
		"stepgap.steps.r.o.1.2", "stepgap.steps.*.>.1", "stepgap.steps.r.o.99999999999999999999", "stepgap.steps.r.o.-1", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := ParseStep(PrefixSteps, s); err == nil && (id.Subject(PrefixSteps) != s || id.Check() != nil) {
			t.Fatalf("%q became %v", s, id)
		}
		if id, err := ParseRollout(PrefixEnds, s); err == nil && (id.Subject(PrefixEnds) != s || id.Check() != nil) {
			t.Fatalf("%q became %v", s, id)
		}
		if kind, id, err := ParseLive(s); err == nil && LiveSubject(kind, id) != s {
			t.Fatalf("%q became %s %v", s, kind, id)
		}
	})
}

// Not parallel: it measures allocations.
func TestPromise_P8_HostileFramesCostBoundedMemory(t *testing.T) {
	for name, frame := range hostileFrames() {
		t.Run(name, func(t *testing.T) { decodeHostile(t, frame) })
	}
	// The largest message that the guard lets through.
	t.Run("as many values as allowed", func(t *testing.T) {
		body := []byte{0x80 | 13}
		for i := range 13 {
			body = append(body, 0xa2, 't', byte('a'+i))
			body = append(body, be(0xdc, 2, MaxElements)...)
			body = append(body, bytes.Repeat([]byte{0x80}, MaxElements)...)
		}
		require.NoError(t, checkFrame(body))
		decodeHostile(t, body)
	})
}

// The bound above rests on the size of the largest struct on the wire.
func TestPromise_P8_NoStructOnTheWireIsLarge(t *testing.T) {
	t.Parallel()
	var walk func(reflect.Type)
	walk = func(rt reflect.Type) {
		switch rt.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(rt.Elem())
		case reflect.Struct:
			require.Less(t, rt.Size(), uintptr(allocatedPerByte/2), rt.Name())
			for i := range rt.NumField() {
				walk(rt.Field(i).Type)
			}
		}
	}
	for _, m := range messages() {
		walk(reflect.TypeOf(m))
	}
}
