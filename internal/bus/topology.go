package bus

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Stream names.
const (
	StreamTranscripts = "STEPGAP_TRANSCRIPTS"
	StreamSteps       = "STEPGAP_STEPS"
	StreamAbstain     = "STEPGAP_ABSTAIN"
	StreamQuote       = "STEPGAP_QUOTE"
	StreamLocal       = "STEPGAP_LOCAL"
	StreamCross       = "STEPGAP_CROSS"
	StreamLabels      = "STEPGAP_LABELS"
	StreamEnds        = "STEPGAP_ENDS"
	StreamRewards     = "STEPGAP_REWARDS"
	StreamLive        = "STEPGAP_LIVE"
	StreamDead        = "STEPGAP_DEAD"
)

// Key-value buckets.
const (
	// BucketRuns pins a run's configuration: key <run>.<stage>, value the hash.
	BucketRuns = "stepgap-runs"
	// BucketAttempts counts handlings that never came to an end.
	BucketAttempts = "stepgap-attempts"
	// BucketPassages holds passages that steps carry by reference.
	BucketPassages = "stepgap-passages"
	// BucketVerdicts holds the verdicts of language models: key the hash of the
	// question, value the verdict, or for a short while a claim on it.
	BucketVerdicts = "stepgap-verdicts"
	// BucketOwed holds what failed tries of a step cost, until its label stands:
	// key <stage>.<run>.<rollout>.<index>.
	BucketOwed = "stepgap-owed"
	// BucketSpend holds what was spent, by account and process, and the caps.
	BucketSpend = "stepgap-spend"
	// BucketLimits shares what may be sent to an endpoint among processes: one
	// document an endpoint, with a lease a process.
	BucketLimits = "stepgap-limits"
)

// GroupWorkers is the priority group of the consumers of D and E: of the workers
// that wait for a message, those with the lowest number are served first, so
// that GPU workers take what they can and others only what is over. Every pull
// from such a consumer names the group.
const GroupWorkers = "workers"

// Options size the topology. The zero value means the defaults.
type Options struct {
	// Replicas of every stream and bucket; default 1.
	Replicas int
	// Memory keeps streams in memory instead of in files: for tests and
	// one-shot checks.
	Memory bool
	// AckWait is how long a worker may hold a message without a sign of life;
	// default 30 s. Workers give one every third of it.
	AckWait time.Duration
	// LabelsAge is how long labels and rewards are kept; default 7 days. About
	// 190 bytes of server memory a label.
	LabelsAge time.Duration
	// WorkBytes bounds each work queue; default 1 GiB. A full queue pushes
	// back on its writers.
	WorkBytes int64
	// LabelBytes bounds labels, rewards and dead letters, each; default 4 GiB.
	LabelBytes int64
	// VerdictsAge is how long the verdicts of language models are kept; default
	// 7 days.
	VerdictsAge time.Duration
	// WorkMsgs bounds the number of messages of each work queue; default none.
	WorkMsgs int64
}

func (o Options) withDefaults() Options {
	if o.Replicas == 0 {
		o.Replicas = 1
	}
	if o.AckWait == 0 {
		o.AckWait = 30 * time.Second
	}
	if o.LabelsAge == 0 {
		o.LabelsAge = 7 * 24 * time.Hour
	}
	if o.WorkBytes == 0 {
		o.WorkBytes = 1 << 30
	}
	if o.LabelBytes == 0 {
		o.LabelBytes = 4 << 30
	}
	if o.VerdictsAge == 0 {
		o.VerdictsAge = 7 * 24 * time.Hour
	}
	if o.WorkMsgs == 0 {
		o.WorkMsgs = -1
	}
	return o
}

// Topology is every stream, consumer and bucket of StepGap.
type Topology struct {
	Streams   []jetstream.StreamConfig
	Consumers []Consumer
	Buckets   []jetstream.KeyValueConfig
}

// Consumer is a durable consumer of a stream.
type Consumer struct {
	Stream string
	Config jetstream.ConsumerConfig
}

// NewTopology returns the topology for o.
func NewTopology(o Options) Topology {
	o = o.withDefaults()
	storage := jetstream.FileStorage
	if o.Memory {
		storage = jetstream.MemoryStorage
	}
	base := func(name, description string, subjects ...string) jetstream.StreamConfig {
		return jetstream.StreamConfig{
			Name: name, Description: description, Subjects: subjects,
			Storage: storage, Replicas: o.Replicas,
			Discard: jetstream.DiscardNew, MaxMsgs: -1, MaxMsgsPerSubject: -1,
			MaxMsgSize:  schema.MaxMessage + 64<<10, // body and headers
			Duplicates:  2 * time.Minute,
			AllowDirect: true,
		}
	}
	queue := func(name, description, prefix string) jetstream.StreamConfig {
		c := base(name, description, prefix+".*.*.*")
		c.Retention = jetstream.WorkQueuePolicy
		c.MaxBytes, c.MaxMsgs = o.WorkBytes, o.WorkMsgs
		return c
	}
	// once streams keep the first message of a subject for good: a verdict, a
	// reward, a dead letter. Nothing replaces or rolls them up.
	once := func(name, description, subject string) jetstream.StreamConfig {
		c := base(name, description, subject)
		c.MaxBytes, c.MaxAge = o.LabelBytes, o.LabelsAge
		c.MaxMsgsPerSubject, c.DiscardNewPerSubject = 1, true
		return c
	}
	ends := queue(StreamEnds, "ended rollouts, for the aggregator", schema.PrefixEnds)
	ends.Subjects = []string{schema.PrefixEnds + ".*.*"}
	transcripts := queue(StreamTranscripts, "whole rollouts, to be cut into steps", schema.PrefixTranscripts)
	transcripts.Subjects = []string{schema.PrefixTranscripts + ".*.*"}
	live := queue(StreamLive, "live checks, for A and C", schema.PrefixLive)
	live.Subjects = []string{schema.PrefixLive + ".*.*.*.*"}
	live.MaxAge, live.Duplicates = time.Minute, 30*time.Second

	worker := func(stream string, stage schema.Stage, maxPending int, filters ...string) Consumer {
		return Consumer{Stream: stream, Config: jetstream.ConsumerConfig{
			Durable: string(stage), FilterSubjects: filters,
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: o.AckWait,
			MaxDeliver: -1, MaxAckPending: maxPending, MaxWaiting: 8192,
			MaxRequestBatch: 0,
		}}
	}
	const unlimited = -1
	prioritized := func(c Consumer) Consumer {
		c.Config.PriorityPolicy, c.Config.PriorityGroups = jetstream.PriorityPolicyPrioritized, []string{GroupWorkers}
		return c
	}
	return Topology{
		Streams: []jetstream.StreamConfig{
			transcripts,
			queue(StreamSteps, "published steps, for A", schema.PrefixSteps),
			queue(StreamAbstain, "abstaining steps, for B", schema.PrefixAbstain),
			queue(StreamQuote, "aligned steps, for C", schema.PrefixQuote),
			queue(StreamLocal, "steps with a quote, for D", schema.PrefixLocal),
			queue(StreamCross, "conclusions, for E", schema.PrefixCross),
			once(StreamLabels, "labels, one a step, immutable", schema.PrefixLabels+".*.*.*"),
			ends,
			once(StreamRewards, "rewards, one a rollout, immutable", schema.PrefixRewards+".*.*"),
			live,
			once(StreamDead, "what could not be handled, for operators", schema.PrefixDead+".*.*.*.*"),
		},
		Consumers: []Consumer{
			worker(StreamTranscripts, schema.StageSplit, 20_000),
			worker(StreamSteps, schema.StageEntity, 20_000),
			worker(StreamAbstain, schema.StageAbstain, 20_000),
			worker(StreamQuote, schema.StageQuote, 20_000),
			prioritized(worker(StreamLocal, schema.StageLocal, 20_000)),
			// Ends and conclusions wait for others' labels; a bound would let
			// those that wait for ever stop those that need not.
			prioritized(worker(StreamCross, schema.StageCross, unlimited)),
			worker(StreamEnds, schema.StageReward, unlimited),
			worker(StreamLive, schema.StageLiveAim, 20_000,
				schema.PrefixLive+"."+string(schema.LivePlan)+".>", schema.PrefixLive+"."+string(schema.LiveProbe)+".>"),
			worker(StreamLive, schema.StageLiveText, 20_000, schema.PrefixLive+"."+string(schema.LiveRelevance)+".>"),
		},
		Buckets: []jetstream.KeyValueConfig{
			{Bucket: BucketRuns, Description: "configuration pinned by run and stage", History: 1, TTL: 30 * 24 * time.Hour, Storage: storage, Replicas: o.Replicas},
			{Bucket: BucketAttempts, Description: "handlings that never ended", History: 1, TTL: 24 * time.Hour, Storage: storage, Replicas: o.Replicas},
			{Bucket: BucketVerdicts, Description: "verdicts of language models", History: 1, TTL: o.VerdictsAge, LimitMarkerTTL: time.Minute, Storage: storage, Replicas: o.Replicas, MaxValueSize: 64 << 10},
			{Bucket: BucketOwed, Description: "cost of failed tries, until the label stands", History: 1, TTL: 24 * time.Hour, Storage: storage, Replicas: o.Replicas},
			{Bucket: BucketSpend, Description: "what was spent, and caps on it", History: 1, Storage: storage, Replicas: o.Replicas},
			{Bucket: BucketLimits, Description: "shares of what may be sent to an endpoint", History: 1, TTL: 24 * time.Hour, Storage: storage, Replicas: o.Replicas},
			{Bucket: BucketPassages, Description: "passages carried by reference", History: 1, TTL: o.LabelsAge, Storage: storage, Replicas: o.Replicas, MaxValueSize: schema.MaxMessage},
		},
	}
}
