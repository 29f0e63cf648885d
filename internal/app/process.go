package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/pkg/schema"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

// Role is what a process does.
type Role string

// The roles.
const (
	RoleEntity  Role = "entity-check"
	RoleAbstain Role = "abstain-check"
	RoleQuote   Role = "quote-extract"
	RoleNLI     Role = "nli-worker"
	RoleReward  Role = "reward-agg"
	RoleSplit   Role = "transcript-split"
	// RoleGateway serves HTTP. It is no part of the pipeline but a client of it,
	// so a pipeline that is asked for as a whole has none unless it is given an
	// address.
	RoleGateway Role = "gateway"
)

// Roles lists every role of the pipeline.
func Roles() []Role {
	return []Role{RoleEntity, RoleAbstain, RoleQuote, RoleNLI, RoleReward, RoleSplit}
}

// AllRoles lists those of the pipeline and those beside it.
func AllRoles() []Role { return append(Roles(), RoleGateway) }

// ParseRoles reads role names; none means all of the pipeline.
func ParseRoles(names []string) ([]Role, error) {
	if len(names) == 0 {
		return Roles(), nil
	}
	var roles []Role
	for _, n := range names {
		if !slices.Contains(AllRoles(), Role(n)) {
			return nil, fmt.Errorf("%q is no role; use one or more of %s", n, strings.Trim(fmt.Sprint(AllRoles()), "[]"))
		}
		if !slices.Contains(roles, Role(n)) {
			roles = append(roles, Role(n))
		}
	}
	return roles, nil
}

// Process is a set of roles over one connection.
type Process struct {
	cfg      Config
	conn     *bus.Conn
	log      *slog.Logger
	runners  []*stage.Runner
	servers  []func(context.Context) error
	scorer   *onnx.Scorer     // nil until a role needs it
	lend     Lender           // nil where the process opens its own model
	student  *onnx.Classifier // likewise
	gateway  net.Addr         // nil without the role
	closers  []func()
	registry *prometheus.Registry
	metrics  *stage.Metrics
	waker    *stage.Waker
	calls    *calls // nil without an LLM
	verdicts *verdicts
}

// TopologyOptions sizes the topology by cfg.
func TopologyOptions(cfg Config) bus.Options {
	return bus.Options{Replicas: cfg.Replicas, AckWait: cfg.AckWait, LabelsAge: cfg.LabelsAge, WorkBytes: cfg.WorkBytes, LabelBytes: cfg.LabelBytes, VerdictsAge: cfg.CacheTTL}
}

// PrepareTopology creates, checks or skips the topology, as cfg says.
func PrepareTopology(ctx context.Context, conn *bus.Conn, cfg Config, log *slog.Logger) error {
	want := bus.NewTopology(TopologyOptions(cfg))
	switch cfg.Topology {
	case "skip":
		return nil
	case "check":
		drift, err := bus.Inspect(ctx, conn.JS, want)
		if err != nil {
			return err
		}
		errs := make([]error, 0, len(drift))
		for _, d := range drift {
			errs = append(errs, errors.New(d.String()))
		}
		if len(errs) > 0 {
			return fmt.Errorf("the server's topology differs (start once with --topology ensure to mend it): %w", errors.Join(errs...))
		}
		return nil
	default:
		drift, err := bus.Ensure(ctx, conn.JS, want)
		for _, d := range drift {
			log.Warn("topology drift", "drift", d.String())
		}
		return err
	}
}

// New builds the loops of roles over conn, whose topology is in place. Close
// must be called also after Run.
func New(ctx context.Context, cfg Config, roles []Role, conn *bus.Conn, log *slog.Logger, lenders ...Lender) (_ *Process, err error) {
	p := &Process{cfg: cfg, conn: conn, log: log, registry: prometheus.NewRegistry()}
	for _, l := range lenders {
		p.lend = l
	}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if p.metrics, err = stage.NewMetrics(p.registry); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	if slices.Contains(roles, RoleNLI) || slices.Contains(roles, RoleReward) {
		if p.waker, err = stage.NewWaker(conn.NC); err != nil {
			return nil, err
		}
		p.closers = append(p.closers, p.waker.Close)
	}
	p.verdicts = &verdicts{process: p}
	j := &judges{cfg: cfg, log: log, remember: p.verdicts, model: p.model, student: p.studentModel, open: func(c llm.Config) (*llm.Client, error) { return p.openCalls(ctx, c) }}
	for _, role := range roles {
		if err := p.add(ctx, role, j); err != nil {
			return nil, fmt.Errorf("role %s: %w", role, err)
		}
	}
	return p, nil
}

func (p *Process) add(ctx context.Context, role Role, j *judges) error {
	switch role {
	case RoleEntity:
		b, err := j.entity()
		if err != nil {
			return err
		}
		p.addLive(schema.StageLiveAim, b)
		return p.addStage(ctx, b)
	case RoleAbstain:
		b, err := j.abstain()
		if err != nil {
			return err
		}
		return p.addStage(ctx, b)
	case RoleQuote:
		b, err := j.quote()
		if err != nil {
			return err
		}
		p.addLive(schema.StageLiveText, b)
		return p.addStage(ctx, b)
	case RoleNLI:
		e, err := j.entailment()
		if err != nil {
			return err
		}
		for _, b := range []built{e.local, e.cross} {
			if err := p.addStage(ctx, b); err != nil {
				return err
			}
			p.runners[len(p.runners)-1].Priority = e.priority
		}
		return nil
	case RoleSplit:
		p.run(schema.StageSplit, stage.NewSplitHandler(stage.SplitOptions{
			Conn: p.conn, Deadline: p.cfg.Deadline, Budget: p.cfg.Budget, Log: p.log, Metrics: p.metrics,
		}), splitWorkers)
		return nil
	case RoleGateway:
		return p.addGateway(ctx)
	default:
		return p.addReward(ctx)
	}
}

func (p *Process) addStage(ctx context.Context, b built) error {
	hash, err := b.hash()
	if err != nil {
		return err
	}
	pins, err := stage.OpenPins(ctx, p.conn, b.Stage, hash)
	if err != nil {
		return err
	}
	if !b.Judge.Asks() && b.Judge != judge.KindNLI && b.Judge != judge.KindStudent {
		p.log.Info("stage without an LLM", "stage", string(b.Stage), "judge", string(b.Judge))
	}
	h, err := stage.NewStepHandler(stage.StepOptions{
		Conn: p.conn, Stage: b.Stage, Decider: b.decider, Pins: pins, Waker: p.waker,
		Budget: p.cfg.Budget, Deadline: p.cfg.Deadline, GiveUp: p.cfg.GiveUpAfter, Log: p.log, Metrics: p.metrics,
		Paid: b.Judge.Asks(),
	})
	if err != nil {
		return err
	}
	p.run(b.Stage, h, p.cfg.Workers)
	if b.Judge.Asks() {
		p.runners[len(p.runners)-1].Gate = p.gate()
	}
	return nil
}

// liveWorkers are kept apart from the others, so that a live check never waits
// behind steps.
const liveWorkers = 8

func (p *Process) addLive(s schema.Stage, b built) {
	p.run(s, stage.NewLiveHandler(stage.LiveOptions{
		Conn: p.conn, Stage: s, Check: b.live, Deadline: p.cfg.LiveDeadline, Log: p.log,
	}), liveWorkers)
	if b.Judge.Asks() {
		p.runners[len(p.runners)-1].Gate = p.verdicts.gate()
	}
}

// splitWorkers read transcripts beside each other; reading is all computation.
const splitWorkers = 4

func (p *Process) addReward(ctx context.Context) error {
	profile, err := rewardagg.LoadProfile(p.cfg.Profile)
	if err != nil {
		return fmt.Errorf("reward profile %s: %w", p.cfg.Profile, err)
	}
	ask, hash, err := p.retractions(profile)
	if err != nil {
		return err
	}
	pins, err := stage.OpenPins(ctx, p.conn, schema.StageReward, hash)
	if err != nil {
		return err
	}
	h, err := stage.NewRewardHandler(stage.RewardOptions{
		Conn: p.conn, Profile: profile, Ask: ask, Pins: pins, Waker: p.waker,
		Deadline: p.cfg.EndDeadline, LabelsAge: p.cfg.LabelsAge, Log: p.log, Metrics: p.metrics,
	})
	if err != nil {
		return err
	}
	p.run(schema.StageReward, h, p.cfg.Workers)
	return nil
}

func (p *Process) run(s schema.Stage, h stage.Handler, workers int) {
	p.runners = append(p.runners, &stage.Runner{
		Conn: p.conn, Stream: stage.StreamOf(s), Stage: s, Handler: h, Workers: workers,
		AckWait: p.cfg.AckWait, DrainTimeout: p.cfg.DrainTimeout, Log: p.log, Metrics: p.metrics,
	})
}

// Registry holds the process's metrics.
func (p *Process) Registry() *prometheus.Registry { return p.registry }

// Run runs every loop until ctx is done or one can't start, and waits for all
// handlers.
func (p *Process) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var loops sync.WaitGroup
	errs := make(chan error, len(p.runners)+len(p.servers))
	run := func(f func(context.Context) error) {
		loops.Go(func() {
			if err := f(ctx); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	for _, r := range p.runners {
		run(r.Run)
	}
	for _, s := range p.servers {
		run(s)
	}
	loops.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// Healthy returns an error if a loop hasn't turned for longer than a pull can
// take.
func (p *Process) Healthy(now time.Time) error {
	const patience = time.Minute
	for _, r := range p.runners {
		if idle := now.Sub(r.LastTurn()); idle > max(patience, 2*p.cfg.Budget) {
			return fmt.Errorf("the loop of %s last turned %s ago", r.Stage, idle.Round(time.Second))
		}
	}
	return nil
}

// Ready returns an error if the process can't do its work now.
func (p *Process) Ready() error {
	if !p.conn.NC.IsConnected() {
		return errors.New("not connected to NATS")
	}
	return nil
}

// Close undoes what New did, last first.
func (p *Process) Close() {
	for _, c := range slices.Backward(p.closers) {
		c()
	}
	p.closers = nil
}
