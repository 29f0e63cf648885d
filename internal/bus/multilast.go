package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// pageBytes bounds one answer of the server. Its own bound is max_pending,
	// and a reader that is sent as much as that is cut off as too slow.
	pageBytes = 8 << 20
	// pageMessages is the most that the server takes in one request.
	pageMessages = 1024
	// pageTimeout is how long the next message of an answer may be in coming.
	pageTimeout = 10 * time.Second
)

// ErrIncomplete says that the server's answer was cut off. What came of it is
// not what stands.
var ErrIncomplete = errors.New("the answer was cut off")

// multiLast is the server's request for the last message of several subjects.
type multiLast struct {
	MultiLastFor []string `json:"multi_last"`
	Seq          uint64   `json:"seq,omitempty"`
	UpToSeq      uint64   `json:"up_to_seq,omitempty"`
	Batch        int      `json:"batch"`
	MaxBytes     int      `json:"max_bytes"`
}

// eachLast calls f with the last message of every subject that matches pattern,
// all as they stood at one moment. It is done by hand, because the library ends
// an answer that was cut off as if it were complete.
func eachLast(ctx context.Context, js jetstream.JetStream, stream, pattern string, f func(subject string, body []byte) error) error {
	request := multiLast{MultiLastFor: []string{pattern}, Batch: pageMessages, MaxBytes: pageBytes}
	for {
		page, err := onePage(ctx, js, stream, request, f)
		if err != nil || page.left == 0 {
			return err
		}
		if page.last < request.Seq {
			return fmt.Errorf("%w: %d messages are left and none came", ErrIncomplete, page.left)
		}
		request.Seq, request.UpToSeq = page.last+1, page.upTo
	}
}

// page is what the end of an answer says.
type page struct {
	left       uint64 // messages that did not fit
	last, upTo uint64 // stream sequences
}

func onePage(ctx context.Context, js jetstream.JetStream, stream string, request multiLast, f func(subject string, body []byte) error) (page, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return page{}, fmt.Errorf("asking %s: %w", stream, err)
	}
	nc := js.Conn()
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return page{}, fmt.Errorf("asking %s: %w", stream, err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := nc.PublishRequest(directGet(js, stream), inbox, body); err != nil {
		return page{}, fmt.Errorf("asking %s: %w", stream, err)
	}
	for n := 0; ; n++ {
		m, err := nextOf(ctx, sub)
		if err != nil {
			return page{}, fmt.Errorf("%w after %d messages of %s: %w", ErrIncomplete, n, stream, err)
		}
		status := m.Header.Get("Status")
		switch {
		case status == "":
			if err := f(m.Header.Get(jetstream.SubjectHeader), m.Data); err != nil {
				return page{}, err
			}
		case status == "204":
			return endOfPage(m.Header)
		case status == "404" && n == 0:
			return page{}, nil
		case status == "503":
			return page{}, fmt.Errorf("asking %s: %w", stream, nats.ErrNoResponders)
		default: // 404 here: a message could not be loaded
			return page{}, fmt.Errorf("%w after %d messages of %s: %s %s", ErrIncomplete, n, stream, status, m.Header.Get("Description"))
		}
	}
}

func endOfPage(h nats.Header) (page, error) {
	var p page
	var errs [3]error
	for i, field := range []struct {
		name string
		into *uint64
	}{{"Nats-Num-Pending", &p.left}, {"Nats-Last-Sequence", &p.last}, {"Nats-UpTo-Sequence", &p.upTo}} {
		if *field.into, errs[i] = strconv.ParseUint(h.Get(field.name), 10, 64); errs[i] != nil {
			errs[i] = fmt.Errorf("header %s: %w", field.name, errs[i])
		}
	}
	return p, errors.Join(errs[:]...)
}

func nextOf(ctx context.Context, sub *nats.Subscription) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return sub.NextMsgWithContext(ctx)
}

func directGet(js jetstream.JetStream, stream string) string {
	o := js.Options()
	prefix := "$JS.API"
	switch {
	case o.APIPrefix != "":
		prefix = strings.TrimSuffix(o.APIPrefix, ".")
	case o.Domain != "":
		prefix = "$JS." + o.Domain + ".API"
	}
	return prefix + ".DIRECT.GET." + stream
}
