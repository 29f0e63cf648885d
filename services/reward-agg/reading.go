package rewardagg

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// What is read of one step, so that a rollout of hostile length costs bounded
// time. Beyond it a step's text is not looked at.
const (
	maxTextRead      = 8 << 10  // bytes of text searched for a retraction
	maxSentencesRead = 32       // sentences of a claim
	maxClaimRead     = 32 << 10 // bytes of a claim
)

// reading is what the rules need to know of a step's text, read once.
type reading struct {
	claim string
	query *query // nil: none
	// asksAgain: an earlier query asked the same.
	asksAgain bool
	sentences []sentence // of the claim
	standing  []sentence // of those, the ones that take nothing back
	retracts  bool
}

// sentence is a sentence of a claim in the form that sentences are compared by.
type sentence struct {
	folded  string
	words   []string // content stems, sorted, each once
	must    []string // those of names, sorted, each once
	numbers map[string]bool
	negated bool
	// mask has a bit for each word: cheap to see that most words are missing.
	mask uint64
}

// readAll reads every step that has facts.
func readAll(views []*view, p *Profile) {
	seed := maphash.MakeSeed()
	for i, v := range views {
		f := v.facts()
		if f == nil {
			continue
		}
		r := &reading{claim: claimOf(f), query: readQuery(f.Query)}
		for _, e := range views[:i] {
			if r.query != nil && e.read != nil && e.read.query != nil && r.query.same(e.read.query, p.NearDuplicateQuery.Value) {
				r.asksAgain = true
				break
			}
		}
		for _, s := range sentencesOf(clip(r.claim, maxClaimRead), maxSentencesRead) {
			read := readSentence(s, seed)
			r.sentences = append(r.sentences, read)
			if !p.retracts(read.folded) {
				r.standing = append(r.standing, read)
			}
		}
		r.retracts = takesBack(clip(f.Text, maxTextRead), p)
		v.read = r
	}
}

// takesBack reports a retraction's surface form in text as a whole or in a
// sentence, where the form must stand at its start.
func takesBack(text string, p *Profile) bool {
	if p.retracts(evidence.FoldString(text)) {
		return true
	}
	for _, s := range sentencesOf(text, len(text)) {
		if p.retracts(evidence.FoldString(s)) {
			return true
		}
	}
	return false
}

func readSentence(text string, seed maphash.Seed) sentence {
	s := sentence{
		folded:  evidence.FoldString(text),
		words:   sortedSet(evidence.ContentTokens(text)),
		numbers: evidence.NumberKeys(text),
		negated: evidence.Negated(text),
	}
	for _, name := range evidence.Names(text) {
		s.must = append(s.must, evidence.ContentTokens(name)...)
	}
	s.must = sortedSet(s.must)
	for _, w := range s.words {
		s.mask |= 1 << (maphash.String(seed, w) % 64)
	}
	return s
}

// says reports whether s already says part: it holds the share of part's
// content words, all its numbers and names, and negates as it does.
func (s *sentence) says(part *sentence, share float64) bool {
	if s.negated != part.negated {
		return false
	}
	if len(part.words) == 0 {
		return s.folded == part.folded
	}
	need := share * float64(len(part.words))
	if float64(len(part.words)-bits.OnesCount64(part.mask&^s.mask)) < need {
		return false
	}
	held := 0
	for _, w := range part.words {
		if _, ok := slices.BinarySearch(s.words, w); ok {
			held++
		} else if _, named := slices.BinarySearch(part.must, w); named {
			return false
		}
	}
	if float64(held) < need {
		return false
	}
	for n := range part.numbers {
		if !s.numbers[n] {
			return false
		}
	}
	return true
}

// allSaid reports whether each of parts is said by a sentence that earlier
// gives.
func allSaid(views []*view, from func(*reading) []sentence, parts []sentence, share float64) bool {
	for i := range parts {
		said := slices.ContainsFunc(views, func(v *view) bool {
			return v.read != nil && slices.ContainsFunc(from(v.read), func(s sentence) bool { return s.says(&parts[i], share) })
		})
		if !said {
			return false
		}
	}
	return len(parts) > 0
}

func claimOf(f *schema.Facts) string {
	if c := strings.TrimSpace(f.Claim); c != "" {
		return c
	}
	return strings.TrimSpace(f.Answer)
}

func sentencesOf(text string, limit int) []string {
	var out []string
	for _, sp := range evidence.Sentences(text) {
		if len(out) == limit {
			break
		}
		if s := strings.TrimSpace(sp.In(text)); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// clip cuts text to at most limit bytes, between characters.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}

func sortedSet(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}
