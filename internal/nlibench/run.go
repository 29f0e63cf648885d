package nlibench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/stepgap/stepgap/internal/judgebench"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Options configure a measurement.
type Options struct {
	// Pairs is about how many pairs a round sends; Rounds how often all peers
	// take turns.
	Pairs, Rounds int
	// Clients is how many requests are under way at once when saturated.
	Clients int
	// Groups is how many groups of rollouts are generated for Repeats.
	Groups int
	Seed   uint64
	// Core is the core that every peer runs on, one at a time.
	Core int
	// Own starts our own peer with a load's file, Python one of the others.
	Own    func(load string) []string
	Python func(name, load string) []string
	// Only leaves out the Python peers that it says no to; nil for none.
	Only func(name string) bool
	// Progress is told what is being done, Log gets what peers print.
	Progress, Log io.Writer
}

// ours is the name of our own peer.
const ours = "stepgap"

// tolerance is how far a logit, or a probability of ours, may be from the pair
// run alone. fp32 sums in another order differ by less.
const tolerance = 1e-3

// rivals are the other peers, in the order of the table.
var rivals = []struct {
	name, what string
	online     bool // takes arrivals
	other      bool // computes something else, by its nature
}{
	{"bare_ort", "ONNX Runtime alone, offline: sorted, packed, encoded before the clock starts", false, false},
	{"python_offline", "Python worker on onnxruntime, offline: encodes, sorts, packs, pads", false, false},
	{"crossencoder", "sentence-transformers CrossEncoder, its defaults, ONNX backend, all pairs at once", false, false},
	{"crossencoder_torch", "sentence-transformers CrossEncoder, its defaults, torch backend, all pairs at once", false, false},
	{"python_online", "Python worker on onnxruntime, asyncio: batches of up to 32 within 5 ms", true, false},
	{"python_online_single", "the same, a pair at a time", true, false},
	{"infinity", "Infinity's engine for pairs, given a three-way head", true, false},
	{"infinity_classify", "Infinity as it is: its classifier on premise and hypothesis as one text", true, true},
}

// Rivals are the names of the other peers.
func Rivals() []string {
	var names []string
	for _, r := range rivals {
		names = append(names, r.name)
	}
	return names
}

// Run measures on rollouts. scorer answers while the pairs are recorded.
func Run(ctx context.Context, rollouts []*transcript.Rollout, scorer nli.Scorer, o Options) (*Report, error) {
	r := &Report{Peers: map[string]*Peer{}, Missing: map[string]string{}}
	dir, err := os.MkdirTemp("", "stepgap-bench-nli-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the pairs: %w", err)
	}
	defer os.RemoveAll(dir)

	o.say("recording what D and E ask about %d rollouts", len(rollouts))
	requests, err := Record(ctx, spread(rollouts), scorer, 2*o.Pairs)
	if err != nil {
		return nil, err
	}
	load := NewLoad(Comparable(requests), o.Seed)
	if len(load.Requests) == 0 {
		return nil, fmt.Errorf("every pair holds a special token, which peers read differently: %w", errNothingAsked)
	}
	file := filepath.Join(dir, "load.json")
	if err := load.Write(file); err != nil {
		return nil, err
	}
	b := &bench{Options: o, report: r, load: load, requests: load.First(o.Pairs), dir: dir}
	if r.Load, err = shape(load, b.requests, scorer); err != nil {
		return nil, err
	}
	r.Load.Clients = o.Clients
	info := scorer.Info()
	r.Setting = Setting{Model: info.Name + "/" + info.File, ModelHash: info.Hash, Processor: processor(), Threads: 1, Rounds: o.Rounds}
	if err := b.start(ctx, file); err != nil {
		return nil, errors.Join(err, b.stop())
	}
	err = b.measure(ctx)
	if err == nil {
		err = b.repeats(ctx, rollouts, scorer)
	}
	return r, errors.Join(err, b.stop())
}

// spread puts rollouts into an order in which neighbours come from all over:
// a log has its sources one after another.
func spread(rollouts []*transcript.Rollout) []*transcript.Rollout {
	out := make([]*transcript.Rollout, 0, len(rollouts))
	const stride = 37
	for from := range stride {
		for i := from; i < len(rollouts); i += stride {
			out = append(out, rollouts[i])
		}
	}
	return out
}

type bench struct {
	Options
	report   *Report
	load     *Load
	requests int // of the load that a round sends
	dir      string
	own      *peer
	peers    []*peer // own first
	yard     [][3]float64
}

func (o Options) say(format string, args ...any) {
	fmt.Fprintf(o.Progress, format+"\n", args...)
}

// start starts all peers. One of the others that can't start is missing.
func (b *bench) start(ctx context.Context, file string) (err error) {
	if b.own, err = startPeer(ctx, ours, b.Core, b.Log, b.Own(file)...); err != nil {
		return fmt.Errorf("starting our own worker: %w", err)
	}
	b.peers = append(b.peers, b.own)
	b.report.Peers[ours] = &Peer{What: "StepGap's batcher, online, one lane", Versions: b.own.hello.Versions}
	for _, rival := range rivals {
		if b.Only != nil && !b.Only(rival.name) {
			b.report.Missing[rival.name] = "left out"
			continue
		}
		b.say("starting %s", rival.name)
		p, err := startPeer(ctx, rival.name, b.Core, b.Log, b.Python(rival.name, file)...)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			b.say("%s is missing: %v", rival.name, err)
			b.report.Missing[rival.name] = err.Error()
			continue
		}
		b.peers = append(b.peers, p)
		b.report.Peers[rival.name] = &Peer{What: rival.what, Versions: p.hello.Versions}
	}
	return nil
}

func (b *bench) stop() error {
	var errs []error
	for _, p := range b.peers {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

func (b *bench) measure(ctx context.Context) error {
	b.say("running %d pairs one by one, the yardstick", b.load.Pairs(b.requests))
	out, err := b.own.do(Command{Do: "logits", Requests: b.requests})
	if err != nil {
		return err
	}
	b.yard = out.Logits
	for round := range b.Rounds {
		for i := range b.peers {
			// The order turns, so that none always runs after the same other.
			p := b.peers[(i+round)%len(b.peers)]
			if err := b.saturate(p, round); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	b.sum()
	return b.halfLoad()
}

func (b *bench) saturate(p *peer, round int) error {
	out, err := p.do(Command{Do: "saturate", Requests: b.requests, Clients: b.Clients})
	if err != nil {
		return err
	}
	at := b.report.Peers[p.name]
	at.cpu = append(at.cpu, float64(out.Pairs)/out.CPUSeconds)
	at.wall = append(at.wall, float64(out.Pairs)/out.Seconds)
	at.PaddingShare = out.PaddingShare
	if out.Batches > 0 {
		at.PairsPerRun = float64(out.Pairs) / float64(out.Batches)
	}
	b.say("round %d  %-22s %6.1f pairs a CPU-second  %6.1f a second", round+1, p.name, at.cpu[round], at.wall[round])
	return b.check(p, at, out)
}

// check holds a peer's answers to the yardstick.
func (b *bench) check(p *peer, at *Peer, out Outcome) error {
	got := out.Logits
	if got == nil {
		got = out.Scores
	}
	if len(got) != len(b.yard) {
		return fmt.Errorf("%s answered %d pairs of %d", p.name, len(got), len(b.yard))
	}
	for i, row := range b.yard {
		want := row
		if out.Scores != nil {
			s, err := nli.Probabilities(nli.Logits{Entailment: float32(row[0]), Neutral: float32(row[1]), Contradiction: float32(row[2])})
			if err != nil {
				return fmt.Errorf("pair %d: %w", i, err)
			}
			want = probabilities(s)
		}
		for k := range want {
			at.MaxDifference = max(at.MaxDifference, math.Abs(want[k]-got[i][k]))
		}
	}
	if at.MaxDifference > tolerance && !other(p.name) {
		return fmt.Errorf("%s differs by %.2g from the pairs run alone: it computes something else", p.name, at.MaxDifference)
	}
	return nil
}

func probabilities(s schema.Scores) [3]float64 {
	return [3]float64{s.Entailment, s.Neutral, s.Contradiction}
}

func other(name string) bool {
	for _, r := range rivals {
		if r.name == name {
			return r.other
		}
	}
	return false
}

// sum makes medians and ratios of the rounds.
func (b *bench) sum() {
	own := b.report.Peers[ours]
	for _, p := range b.report.Peers {
		p.PairsPerCPUSecond, p.PairsPerSecond = median(p.cpu), median(p.wall)
		cpu, wall := make([]float64, b.Rounds), make([]float64, b.Rounds)
		for i := range b.Rounds {
			cpu[i], wall[i] = own.cpu[i]/p.cpu[i], own.wall[i]/p.wall[i]
		}
		p.Ratio, p.WallRatio = median(cpu), median(wall)
	}
	b.report.PaddingShare = own.PaddingShare
	b.report.RatioBareORT = b.ratio("ratio_bare_ort", "bare_ort")
	b.report.RatioPythonOnline = b.ratio("ratio_python_online", "python_online")
	b.report.RatioCrossEncoder = b.ratio("ratio_crossencoder", "crossencoder", "crossencoder_torch")
	b.report.RatioInfinity = b.ratio("ratio_infinity", "infinity", "infinity_classify")
}

// ratio is ours to the quickest of names, nil where none ran.
func (b *bench) ratio(key string, names ...string) *float64 {
	var least *float64
	for _, n := range names {
		if p := b.report.Peers[n]; p != nil && (least == nil || p.Ratio < *least) {
			least = &p.Ratio
		}
	}
	if least == nil {
		b.report.Missing[key] = b.report.Missing[names[0]]
	}
	return least
}

// halfLoad sends the same arrivals, half of what we can do, to each online peer.
func (b *bench) halfLoad() error {
	own := b.report.Peers[ours]
	perRequest := float64(b.load.Pairs(b.requests)) / float64(b.requests)
	rate := own.PairsPerSecond / 2 / perRequest
	b.report.Setting.HalfRate = rate
	online := map[string]bool{ours: true}
	for _, r := range rivals {
		online[r.name] = r.online
	}
	for _, p := range b.peers {
		if !online[p.name] {
			continue
		}
		out, err := p.do(Command{Do: "arrive", Requests: b.requests, Rate: rate})
		if err != nil {
			return err
		}
		at := b.report.Peers[p.name]
		p50, p99 := median(out.LatencyMS), quantile(out.LatencyMS, 0.99)
		at.P50MS, at.P99MS = &p50, &p99
		b.say("half load %-22s p50 %.0f ms, p99 %.0f ms", p.name, p50, p99)
	}
	b.report.P50MS, b.report.P99MS = own.P50MS, own.P99MS
	return nil
}

// repeats measures what the cache and the joining of equal pairs win, on the
// data's own groups and on generated groups of eight.
func (b *bench) repeats(ctx context.Context, rollouts []*transcript.Rollout, scorer nli.Scorer) error {
	real, err := judgebench.Groups(all(rollouts))
	if err != nil {
		return err
	}
	rates, err := judgebench.Measure(real)
	if err != nil {
		return err
	}
	made := judgebench.Generate(real, rates, b.Groups, b.Seed)
	for _, side := range []struct {
		name   string
		groups []judgebench.Group
	}{{"real groups", real[:min(len(real), 2*b.Groups)]}, {fmt.Sprintf("generated groups of %d", judgebench.GroupSize), made}} {
		b.say("repeats: %s", side.name)
		s := RepeatsSide{Name: side.name, Groups: len(side.groups)}
		load := &Load{}
		for _, g := range side.groups {
			s.Rollouts += len(g.Rollouts)
			var each [][][]nli.Pair
			for _, r := range g.Rollouts {
				requests, err := Record(ctx, []*transcript.Rollout{r}, scorer, 0)
				if errors.Is(err, errNothingAsked) {
					continue
				}
				if err != nil {
					return err
				}
				each = append(each, requests)
			}
			load.add(interleave(each))
		}
		if len(load.Requests) == 0 {
			b.report.Missing["repeats, "+side.name] = errNothingAsked.Error()
			continue
		}
		file := filepath.Join(b.dir, "repeats.json")
		if err := load.Write(file); err != nil {
			return err
		}
		for _, remember := range []bool{false, true} {
			out, err := b.own.do(Command{Do: "repeats", Load: file, Clients: b.Clients, Remember: remember})
			if err != nil {
				return err
			}
			s.Asked = out.Pairs
			rate := float64(out.Pairs) / out.CPUSeconds
			if remember {
				s.With, s.Computed = rate, out.Computed
			} else {
				s.Without = rate
			}
		}
		b.report.Repeats = append(b.report.Repeats, s)
	}
	return nil
}

func all(rollouts []*transcript.Rollout) func(func(*transcript.Rollout, error) bool) {
	return func(yield func(*transcript.Rollout, error) bool) {
		for _, r := range rollouts {
			if !yield(r, nil) {
				return
			}
		}
	}
}
