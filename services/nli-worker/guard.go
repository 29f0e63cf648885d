package nliworker

import (
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

// A small NLI model is easily led by shared words: it sees entailment where a
// year differs and contradiction where the subject does. The guard reads what
// can be read exactly. It can take an entailment or a contradiction away from
// the model, and only for values of the same kind in an otherwise matching
// sentence does it give a contradiction of its own.

// absent names the numbers and names of claim that premise does not hold, so
// that it can't entail the claim; empty if all are there.
func absent(premise, claim string) string {
	if n, ok := absentNumber(premise, claim); ok {
		return "number " + n.In(claim)
	}
	have := namingOf(premise)
	for _, name := range properNames(claim) {
		if !have.holds(name) {
			return "name " + name
		}
	}
	return ""
}

// aboutSame reports whether premise holds the first name of claim, which is
// its subject more often than not. Where it doesn't, it can't contradict the
// claim. A claim without names says nothing against any premise.
func aboutSame(premise, claim string) bool {
	names := properNames(claim)
	return len(names) == 0 || namingOf(premise).holds(names[0])
}

// sharesName reports whether premise names anything that claim names.
func sharesName(premise, claim string) bool {
	have := namingOf(premise)
	for _, name := range properNames(claim) {
		if have.holds(name) {
			return true
		}
	}
	return false
}

// nothingDiffers reports whether all content words of claim stand in premise
// and both deny or neither does. Then there is nothing by which the premise
// could contradict the claim, however sure the model is: small models take
// "B was built by A" for the opposite of "A built B".
func nothingDiffers(premise, claim string) bool {
	have := make(map[string]bool)
	for _, t := range evidence.ContentTokens(premise) {
		have[t] = true
	}
	words := evidence.ContentTokens(claim)
	for _, t := range words {
		if !have[t] {
			return false
		}
	}
	return len(words) > 1 && evidence.Negated(premise) == evidence.Negated(claim)
}

// conflict says how premise and claim differ in a value, where the rest of the
// claim stands in the premise; empty if they don't.
func conflict(premise, claim string) string {
	if !coveredButNumbers(premise, claim) {
		return ""
	}
	if n, ok := absentNumber(premise, claim); ok {
		if other, ok := rival(premise, claim, n); ok {
			return fmt.Sprintf("the evidence has %s where the claim has %s", other, n.In(claim))
		}
		return ""
	}
	if evidence.Negated(claim) && !evidence.Negated(premise) {
		return "the claim denies what the evidence states"
	}
	return ""
}

// absentNumber returns the first number of claim that must be in the premise
// and isn't.
func absentNumber(premise, claim string) (evidence.Number, bool) {
	have := evidence.Numbers(premise)
	for _, n := range evidence.Numbers(claim) {
		if !exact(claim, n) || derivable(n.Value, have) {
			continue
		}
		return n, true
	}
	return evidence.Number{}, false
}

// exact reports whether a number of the claim must be in the evidence as it
// stands: small counts in words, ordinals and hedged values may be inferred.
func exact(claim string, n evidence.Number) bool {
	word := n.In(claim)
	if n.Ordinal || word == "" || word[0] < '0' || word[0] > '9' {
		return false
	}
	// "the 1970s" holds 1974.
	return !strings.HasSuffix(word, "s") && !hedged(claim, n)
}

// hedged reports whether a number is given as a bound, or as near enough.
func hedged(claim string, n evidence.Number) bool {
	before := evidence.Words(claim[:n.Start])
	for i := len(before) - 1; i >= 0 && i >= len(before)-3; i-- {
		switch before[i].Key {
		case "over", "than", "about", "nearly", "almost", "around", "approximately", "roughly", "least", "most",
			"under", "before", "after", "since", "until", "between", "circa", "early", "mid", "late", "up", "beyond",
			"exceeding", "within", "by":
			return true
		}
	}
	return false
}

// derivable reports whether value is among numbers, or the difference of two
// of them ("he was 61 when he died").
func derivable(value float64, numbers []evidence.Number) bool {
	for i, a := range numbers {
		if a.Value == value || rounds(a.Value, value) {
			return true
		}
		for _, b := range numbers[i+1:] {
			if d := a.Value - b.Value; value < 1000 && (abs(d) == value || abs(d)-1 == value) {
				return true
			}
		}
	}
	return false
}

// rounds reports whether claimed is exact rounded to two or three digits.
func rounds(exact, claimed float64) bool {
	return exact > 2200 && claimed > 2200 && abs(exact-claimed) <= 0.005*exact
}

func abs(x float64) float64 { return max(x, -x) }

// rival finds the value that stands in premise in the place of n: a year for a
// year, else a number before the same noun.
func rival(premise, claim string, n evidence.Number) (string, bool) {
	others := evidence.Numbers(premise)
	if isYear(n.In(claim)) {
		var year string
		for _, o := range others {
			if !isYear(o.In(premise)) {
				continue
			}
			if year != "" {
				return "", false // which of the two would it be?
			}
			year = o.In(premise)
		}
		return year, year != ""
	}
	noun := nounAfter(claim, n)
	if noun == "" {
		return "", false
	}
	for _, o := range others {
		if !isYear(o.In(premise)) && nounAfter(premise, o) == noun {
			return o.In(premise) + " " + noun, true
		}
	}
	return "", false
}

func isYear(s string) bool {
	if len(s) != 4 {
		return false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s >= "1000" && s < "2200"
}

// nounAfter is the stem of the word after n.
func nounAfter(text string, n evidence.Number) string {
	words := evidence.Words(text[n.End:])
	if len(words) == 0 || words[0].Start > 2 || evidence.IsStopWord(words[0].Key) {
		return ""
	}
	return evidence.Stem(words[0].Key)
}

// coveredButNumbers reports whether nearly all of what claim says, numbers
// apart, stands in premise too.
func coveredButNumbers(premise, claim string) bool {
	const nearly = 0.8
	found, all := covered(premise, claim)
	return all >= 2 && float64(found) >= nearly*float64(all)
}

// wholly reports whether all of what a longer claim says, numbers apart, stands
// in premise: it is the same sentence, and its neighbours' numbers are not its own.
func wholly(premise, claim string) bool {
	const longer = 5
	found, all := covered(premise, claim)
	return all >= longer && found == all
}

// covered counts the words of claim that say something, numbers apart, and those
// of them that stand in premise.
func covered(premise, claim string) (found, all int) {
	have := make(map[string]bool)
	for _, t := range evidence.ContentTokens(premise) {
		have[t] = true
	}
	for _, w := range evidence.Words(claim) {
		if w.Key == "" || evidence.IsStopWord(w.Key) || evidence.IsNegation(w.Key) || w.Key[0] >= '0' && w.Key[0] <= '9' {
			continue
		}
		all++
		if have[evidence.Stem(w.Key)] {
			found++
		}
	}
	return found, all
}
