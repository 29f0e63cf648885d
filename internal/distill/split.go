package distill

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

// Share is a split's share of the questions.
type Share struct {
	Name  string
	Share float64
}

// DefaultShares are those that a split takes where none are given.
func DefaultShares() []Share { return []Share{{"train", 0.8}, {"dev", 0.1}, {"test", 0.1}} }

// ParseShares reads "train=0.8,dev=0.1,test=0.1"; the shares add up to 1.
func ParseShares(text string) ([]Share, error) {
	var out []Share
	sum, seen := 0.0, map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, number, ok := strings.Cut(strings.TrimSpace(part), "=")
		share, err := strconv.ParseFloat(number, 64)
		if !ok || err != nil || !(share > 0 && share <= 1) {
			return nil, fmt.Errorf("split %q: give NAME=SHARE with a share above 0 and up to 1, such as train=0.8", part)
		}
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" || name == "" || seen[name] {
			return nil, fmt.Errorf("split %q: names are small letters, digits, - and _, each once", name)
		}
		seen[name] = true
		sum += share
		out = append(out, Share{name, share})
	}
	if math.Abs(sum-1) > 1e-9 {
		return nil, fmt.Errorf("the shares of the splits add up to %v; they must add up to 1", sum)
	}
	return out, nil
}

// questions joins what is one question: the same id, or the same words.
type questions struct{ parent map[string]string }

func newQuestions() *questions { return &questions{map[string]string{}} }

// wording is a question as it is compared: its words alone.
func wording(question string) string { return "w:" + strings.Join(evidence.Tokens(question), " ") }

// add says that a question was seen under an id, which may be empty.
func (q *questions) add(id, question string) {
	w := wording(question)
	q.find(w)
	if id != "" {
		q.join(w, "i:"+id)
	}
}

func (q *questions) find(key string) string {
	if _, ok := q.parent[key]; !ok {
		q.parent[key] = key
	}
	for q.parent[key] != key {
		q.parent[key] = q.parent[q.parent[key]]
		key = q.parent[key]
	}
	return key
}

// join keeps the smaller key, so that the order of the input does not matter.
func (q *questions) join(a, b string) {
	a, b = q.find(a), q.find(b)
	if a > b {
		a, b = b, a
	}
	q.parent[b] = a
}

// of names the group that a question belongs to.
func (q *questions) of(question string) string {
	sum := sha256.Sum256([]byte(q.find(wording(question))))
	return hex.EncodeToString(sum[:8])
}

// splitOf gives a question group its split, by a hash: more questions move none
// of those that were there.
func splitOf(group string, seed uint64, shares []Share) (string, error) {
	if len(shares) == 0 {
		return "", errors.New("no splits are given")
	}
	h := sha256.New()
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], seed)
	h.Write(n[:])
	h.Write([]byte(group))
	at := float64(binary.BigEndian.Uint64(h.Sum(nil))>>11) / (1 << 53)
	for _, s := range shares {
		if at < s.Share {
			return s.Name, nil
		}
		at -= s.Share
	}
	return shares[len(shares)-1].Name, nil
}
