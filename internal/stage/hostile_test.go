package stage_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// hostileSteps are bodies that no publisher of good will sends, by rollout.
func hostileSteps(t testing.TB) map[string]struct {
	body   []byte
	reason schema.Reason
} {
	t.Helper()
	type hostile = struct {
		body   []byte
		reason schema.Reason
	}
	encode := func(change func(*schema.Step)) []byte {
		s := step(schema.StepID{Run: "r", Rollout: "o", Index: 1})
		change(s)
		b, err := schema.Encode(s)
		require.NoError(t, err)
		return b
	}
	m, big := schema.ReasonMalformed, schema.ReasonTooLarge
	return map[string]hostile{
		"empty":          {nil, m},
		"text":           {[]byte("hello"), m},
		"json":           {[]byte(`{"k":"search"}`), m},
		"array-bomb":     {[]byte{0xdd, 0xff, 0xff, 0xff, 0xff}, m},
		"map-bomb":       {[]byte{0xdf, 0xff, 0xff, 0xff, 0xff}, m},
		"nested-bomb":    {append([]byte{0x81, 0xa1, 'k'}, bytes.Repeat([]byte{0x91}, 100_000)...), m},
		"inner-bomb":     {[]byte{0x81, 0xa2, 'p', 's', 0xdd, 0x00, 0xff, 0xff, 0xff}, m},
		"string-bomb":    {[]byte{0x81, 0xa1, 'q', 0xdb, 0x7f, 0xff, 0xff, 0xff}, m},
		"trailing":       {append(encode(func(*schema.Step) {}), 0xc0), m},
		"wrong-type":     {[]byte{0x81, 0xa1, 'q', 0x07}, m},
		"no-question":    {encode(func(s *schema.Step) { s.Question = "" }), m},
		"no-kind":        {encode(func(s *schema.Step) { s.Kind = "" }), m},
		"not-utf8":       {encode(func(s *schema.Step) { s.Text = "\xff\xfe" }), m},
		"other-run":      {encode(func(s *schema.Step) { s.Run = "other" }), m},
		"other-rollout":  {encode(func(s *schema.Step) { s.Rollout = "other" }), m},
		"other-index":    {encode(func(s *schema.Step) { s.Index = 9 }), m},
		"long-question":  {encode(func(s *schema.Step) { s.Question = strings.Repeat("q", schema.MaxQuestion+1) }), big},
		"long-claim":     {encode(func(s *schema.Step) { s.Claim = strings.Repeat("c", schema.MaxText+1) }), big},
		"long-query":     {encode(func(s *schema.Step) { s.Query = strings.Repeat("q", schema.MaxQuery+1) }), big},
		"many-spans":     {encode(func(s *schema.Step) { s.Spans = make([]schema.Span, schema.MaxSpans+1) }), big},
		"forged-passage": {encode(func(s *schema.Step) { s.Passages = []schema.Passage{{Digest: "0", ByStep: 1, Text: "x"}} }), m},
		"later-passage": {encode(func(s *schema.Step) {
			s.Passages = []schema.Passage{{Digest: schema.PassageDigest("", "x"), ByStep: 5, Text: "x"}}
		}), m},
		"lost-passage": {encode(func(s *schema.Step) { s.Passages = []schema.Passage{{Digest: "abc", Ref: "abc", ByStep: 1}} }), schema.ReasonPassageMissing},
	}
}

func TestPromise_P8_HostileBodiesEndAsUngradedAndDead(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		w.runStage(s, verdict(schema.GapNone))
		cases := hostileSteps(t)
		for name, c := range cases {
			id := schema.StepID{Run: "r", Rollout: name, Index: 1}
			m := s.input(t, id, c.body)
			w.publish(m)
		}
		for name, c := range cases {
			id := schema.StepID{Run: "r", Rollout: name, Index: 1}
			l := w.label(id)
			require.Equal(t, schema.GapUngraded, l.Label, name)
			require.Equal(t, c.reason, l.Reason, "%s: %s", name, l.Detail)
			require.NotEmpty(t, l.Detail, name)
			d := w.dead(s.stage, id)
			require.Equal(t, c.reason, d.Reason, name)
			if len(c.body) > 0 {
				require.Equal(t, c.body, d.Body, "%s: kept for a look", name)
			}
		}
		w.empty(s.stream)
		w.exactly(bus.StreamLabels, len(cases))
		w.exactly(bus.StreamDead, len(cases))
	})
}

// Work that no stage of ours wrote.
func TestPromise_P8_HostileWorkEndsAsUngradedAndDead(t *testing.T) {
	t.Parallel()
	bodies := map[string][]byte{
		"text":        []byte("hello"),
		"array-bomb":  {0xdd, 0xff, 0xff, 0xff, 0xff},
		"trail-bomb":  {0x81, 0xa2, 't', 'r', 0xdd, 0x00, 0xff, 0xff, 0xff},
		"no-step":     {0x80},
		"step-no-map": {0x81, 0xa1, 's', 0xc4, 0x01, 0xc0},
	}
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		w.runStage(s, verdict(schema.GapNone))
		for name, body := range bodies {
			id := schema.StepID{Run: "r", Rollout: name, Index: 1}
			w.publish(bus.Message(id.Subject(s.prefix), body))
			require.Equal(t, schema.ReasonMalformed, w.label(id).Reason, name)
			require.Equal(t, schema.ReasonMalformed, w.dead(s.stage, id).Reason, name)
		}
		w.empty(s.stream)
	})
}

func TestPromise_P8_HostileHeaders(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*nats.Msg)
		reason schema.Reason
	}{
		"other-wire":        {func(m *nats.Msg) { m.Header.Set(schema.HeaderSchema, "2") }, schema.ReasonUnsupportedWire},
		"nonsense-wire":     {func(m *nats.Msg) { m.Header.Set(schema.HeaderSchema, strings.Repeat("9", 10_000)) }, schema.ReasonUnsupportedWire},
		"nonsense-deadline": {func(m *nats.Msg) { m.Header.Set(schema.HeaderDeadline, "soon") }, schema.ReasonMalformed},
		"number-deadline":   {func(m *nats.Msg) { m.Header.Set(schema.HeaderDeadline, "1e400") }, schema.ReasonMalformed},
		"negative-deadline": {func(m *nats.Msg) { m.Header.Set(schema.HeaderDeadline, "-5m") }, schema.ReasonMalformed},
		"long-deadline":     {func(m *nats.Msg) { m.Header.Set(schema.HeaderDeadline, strings.Repeat("x", 10_000)) }, schema.ReasonMalformed},
		"overflow-deadline": {func(m *nats.Msg) { m.Header.Set(schema.HeaderDeadline, "9999999h") }, schema.ReasonMalformed},
		"ages":              {func(m *nats.Msg) { m.Header.Set(schema.HeaderDeadline, "2562047h") }, ""},
		"no-schema":         {func(m *nats.Msg) { m.Header.Del(schema.HeaderSchema) }, ""},
		"many-headers": {func(m *nats.Msg) {
			for i := range 500 {
				m.Header.Set("X-"+strings.Repeat("h", i%60+1), strings.Repeat("v", 60))
			}
		}, ""},
		"nonsense-accepted": {func(m *nats.Msg) { m.Header.Set(schema.HeaderAccepted, "yesterday") }, ""},
	}
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		w.runStage(s, verdict(schema.GapNone))
		for name, c := range cases {
			id := schema.StepID{Run: "r", Rollout: name, Index: 1}
			m := s.input(t, id, bodyOf(t, id))
			c.change(m)
			w.publish(m)
			l := w.label(id)
			require.Equal(t, c.reason, l.Reason, "%s: %s", name, l.Detail)
			require.Less(t, len(l.Detail), 1000, name)
			if c.reason != "" {
				require.Equal(t, c.reason, w.dead(s.stage, id).Reason, name)
			}
		}
		w.empty(s.stream)
	})
}

// Subjects that the streams take and that name no step: no label can be given,
// and each gets its own dead letter.
func TestPromise_P8_BadSubjectsAllLandInDead(t *testing.T) {
	t.Parallel()
	tails := []string{
		"r.o.0", "r.o.-1", "r.o.1001", "r.o.007", "r.o.x", "r.o.1e2", "r.o.99999999999999999999", "r.o.%2e",
		"r!.o.1", "r.o!.1", "é.o.1", "r." + strings.Repeat("o", schema.MaxID+1) + ".1", "r!.o.2", "r:.o.1",
	}
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		w.runStage(s, verdict(schema.GapNone))
		for _, tail := range tails {
			w.publish(bus.Message(s.prefix+"."+tail, bodyOf(t, schema.StepID{Index: 1})))
			w.publish(bus.Message(s.prefix+"."+tail, []byte("garbage")))
		}
		w.empty(s.stream)
		require.Zero(t, w.count(bus.StreamLabels))
		require.Equal(t, 2*len(tails), w.count(bus.StreamDead), "not one is lost without a trace")
	})
}

func TestPromise_P8_HostileMessagesCostBoundedMemory(t *testing.T) {
	// Not parallel: it measures the process.
	for _, s := range treeStages() {
		w := newWorld(t, bus.Options{AckWait: 30 * time.Second})
		bomb := append([]byte{0x81, 0xa2, 'p', 's', 0xdd, 0x00, 0xff, 0xff, 0xff}, make([]byte, 64)...)
		h := w.handler(w.dial(), s, verdict(schema.GapNone))
		const n = 50
		for i := range n {
			id := schema.StepID{Run: "r", Rollout: "o", Index: i + 1}
			w.publish(s.input(t, id, bomb))
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		for range n {
			m := w.take(w.conn, s.stage)
			result := h.Handle(context.Background(), m)
			require.False(t, result.Again)
			require.NoError(t, m.DoubleAck(context.Background()))
		}
		runtime.ReadMemStats(&after)
		allocated := (after.TotalAlloc - before.TotalAlloc) / n
		require.Less(t, allocated, uint64(1<<20), "%s allocates %d bytes a bomb of %d", s.stage, allocated, len(bomb))
		require.Less(t, time.Since(start), 10*time.Second)
	}
}

// The deadline is looked at before the body is: it must not matter what it is.
func TestALateStepIsNeverDecoded(t *testing.T) {
	t.Parallel()
	eachStage(t, bus.Options{}, func(t *testing.T, w *world, s treeStage) {
		later := func(o *stage.StepOptions) { o.Now = func() time.Time { return time.Now().Add(time.Hour) } }
		w.runStage(s, tree.DeciderFunc(func(context.Context, *tree.Item) (tree.Decision, error) {
			return tree.Decision{}, errors.New("must not be asked")
		}), later)
		want := schema.ReasonDeadline
		if s.stage == schema.StageCross {
			want = schema.ReasonUpstream
		}
		for rollout, body := range map[string][]byte{"good": nil, "bad": []byte("garbage")} {
			id := schema.StepID{Run: "r", Rollout: rollout, Index: 1}
			m := s.input(t, id, bodyOf(t, id))
			if body != nil {
				m.Data = body
			}
			w.publish(m)
			l := w.label(id)
			require.Equal(t, want, l.Reason)
			require.NotEmpty(t, l.Digest, "a step that came late is known by its digest all the same")
			require.Equal(t, want, w.dead(s.stage, id).Reason)
		}
		id := schema.StepID{Run: "r", Rollout: "none", Index: 1}
		m := s.input(t, id, bodyOf(t, id))
		m.Header.Set(schema.HeaderDeadline, "0")
		w.publish(m)
		require.Equal(t, schema.ReasonInternal, w.label(id).Reason, "without a deadline it is never late")
		w.empty(s.stream)
	})
}
