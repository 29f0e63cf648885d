package bus

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/nats-io/nats.go/jetstream"
)

// Drift is a difference between the topology and what the server has.
type Drift struct {
	Object string // "stream STEPGAP_STEPS", "consumer STEPGAP_STEPS/entity-check"
	Field  string
	Have   any
	Want   any
	// Mended says that the server took the update.
	Mended bool
	// Err says why it didn't.
	Err error
}

func (d Drift) String() string {
	s := fmt.Sprintf("%s: %s is %v, wanted %v", d.Object, d.Field, d.Have, d.Want)
	if d.Mended {
		return s + " (updated)"
	}
	if d.Err != nil {
		return fmt.Sprintf("%s (not updated: %v)", s, d.Err)
	}
	return s
}

// Ensure creates what is missing and updates what differs. It returns every
// difference that it met; a difference that could not be mended is also an
// error, since a pipeline on another topology would keep none of its promises.
func Ensure(ctx context.Context, js jetstream.JetStream, topology Topology) ([]Drift, error) {
	return apply(ctx, js, topology, true)
}

// Inspect reports what is missing or differs, and changes nothing.
func Inspect(ctx context.Context, js jetstream.JetStream, topology Topology) ([]Drift, error) {
	return apply(ctx, js, topology, false)
}

func apply(ctx context.Context, js jetstream.JetStream, topology Topology, mend bool) ([]Drift, error) {
	var all []Drift
	for _, want := range topology.Streams {
		drift, err := ensureStream(ctx, js, want, mend)
		all = append(all, drift...)
		if err != nil {
			return all, fmt.Errorf("stream %s: %w", want.Name, err)
		}
	}
	for _, want := range topology.Consumers {
		drift, err := ensureConsumer(ctx, js, want, mend)
		all = append(all, drift...)
		if err != nil {
			return all, fmt.Errorf("consumer %s of %s: %w", want.Config.Durable, want.Stream, err)
		}
	}
	for _, want := range topology.Buckets {
		drift, err := ensureBucket(ctx, js, want, mend)
		all = append(all, drift...)
		if err != nil {
			return all, fmt.Errorf("bucket %s: %w", want.Bucket, err)
		}
	}
	var unmended []error
	for _, d := range all {
		if mend && !d.Mended {
			unmended = append(unmended, errors.New(d.String()))
		}
	}
	return all, errors.Join(unmended...)
}

func missing(object string) []Drift {
	return []Drift{{Object: object, Field: "existence", Have: "missing", Want: "there"}}
}

func ensureStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig, mend bool) ([]Drift, error) {
	object := "stream " + want.Name
	stream, err := js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if !mend {
			return missing(object), nil
		}
		_, err = js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process was first
			return ensureStream(ctx, js, want, mend)
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	have := stream.CachedInfo().Config
	drift := compare(object, []field{
		{"subjects", have.Subjects, want.Subjects},
		{"retention", have.Retention, want.Retention},
		{"storage", have.Storage, want.Storage},
		{"replicas", have.Replicas, want.Replicas},
		{"discard", have.Discard, want.Discard},
		{"discard new per subject", have.DiscardNewPerSubject, want.DiscardNewPerSubject},
		{"max messages", have.MaxMsgs, want.MaxMsgs},
		{"max messages per subject", have.MaxMsgsPerSubject, want.MaxMsgsPerSubject},
		{"max bytes", have.MaxBytes, want.MaxBytes},
		{"max age", have.MaxAge, want.MaxAge},
		{"max message size", have.MaxMsgSize, want.MaxMsgSize},
		{"duplicate window", have.Duplicates, want.Duplicates},
		{"direct get", have.AllowDirect, want.AllowDirect},
		{"roll-up", have.AllowRollup, want.AllowRollup},
		{"description", have.Description, want.Description},
	})
	if len(drift) == 0 || !mend {
		return drift, nil
	}
	_, err = js.UpdateStream(ctx, want)
	return resolve(drift, err), nil
}

func ensureConsumer(ctx context.Context, js jetstream.JetStream, want Consumer, mend bool) ([]Drift, error) {
	object := "consumer " + want.Stream + "/" + want.Config.Durable
	consumer, err := js.Consumer(ctx, want.Stream, want.Config.Durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) && !mend {
		if !mend {
			return missing(object), nil
		}
		_, err = js.CreateOrUpdateConsumer(ctx, want.Stream, want.Config)
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	have := consumer.CachedInfo().Config
	haveFilters := have.FilterSubjects
	if have.FilterSubject != "" {
		haveFilters = []string{have.FilterSubject}
	}
	drift := compare(object, []field{
		{"ack policy", have.AckPolicy, want.Config.AckPolicy},
		{"ack wait", have.AckWait, want.Config.AckWait},
		{"max deliver", have.MaxDeliver, want.Config.MaxDeliver},
		{"max ack pending", have.MaxAckPending, want.Config.MaxAckPending},
		{"max waiting", have.MaxWaiting, want.Config.MaxWaiting},
		{"priority policy", have.PriorityPolicy, want.Config.PriorityPolicy},
		{"priority groups", have.PriorityGroups, want.Config.PriorityGroups},
		{"filters", haveFilters, want.Config.FilterSubjects},
	})
	if len(drift) == 0 || !mend {
		return drift, nil
	}
	_, err = js.UpdateConsumer(ctx, want.Stream, want.Config)
	return resolve(drift, err), nil
}

func ensureBucket(ctx context.Context, js jetstream.JetStream, want jetstream.KeyValueConfig, mend bool) ([]Drift, error) {
	object := "bucket " + want.Bucket
	kv, err := js.KeyValue(ctx, want.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		if !mend {
			return missing(object), nil
		}
		_, err = js.CreateKeyValue(ctx, want)
		if errors.Is(err, jetstream.ErrBucketExists) {
			return ensureBucket(ctx, js, want, mend)
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	status, err := kv.Status(ctx)
	if err != nil {
		return nil, err
	}
	drift := compare(object, []field{
		{"ttl", status.TTL(), want.TTL},
		{"history", status.History(), int64(want.History)},
	})
	if len(drift) == 0 || !mend {
		return drift, nil
	}
	_, err = js.UpdateKeyValue(ctx, want)
	return resolve(drift, err), nil
}

type field struct {
	name       string
	have, want any
}

func compare(object string, fields []field) []Drift {
	var drift []Drift
	for _, f := range fields {
		have, want := f.have, f.want
		if h, ok := have.([]string); ok {
			w := want.([]string)
			if len(h) == 0 && len(w) == 0 {
				continue
			}
			have, want = slices.Sorted(slices.Values(h)), slices.Sorted(slices.Values(w))
		}
		if !reflect.DeepEqual(have, want) {
			drift = append(drift, Drift{Object: object, Field: f.name, Have: f.have, Want: f.want})
		}
	}
	return drift
}

func resolve(drift []Drift, err error) []Drift {
	for i := range drift {
		drift[i].Mended, drift[i].Err = err == nil, err
	}
	return drift
}
