package nliworker

import (
	"regexp"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
)

// span is where a value lies for all that is known: a year is any of its days,
// and two quotes that differ leave room for both.
type span struct {
	lo, hi float64
	text   string
	known  bool
}

// with widens a span so that it covers other too.
func (s span) with(other span) span {
	switch {
	case !s.known:
		return other
	case !other.known || other.lo >= s.lo && other.hi <= s.hi:
		return s
	}
	text := s.text
	if other.text != s.text {
		text += " / " + other.text
	}
	return span{min(s.lo, other.lo), max(s.hi, other.hi), text, true}
}

// dateIn is the first date or year of text, as yyyymmdd.
func dateIn(text string) span {
	for _, d := range evidence.Dates(text) {
		if d.Year == 0 {
			continue
		}
		// A bare year before the date is the first.
		if years := evidence.Years(text[:d.Start]); len(years) > 0 {
			break
		}
		lo, hi := float64(d.Year*10000+d.Month*100+d.Day), float64(d.Year*10000+d.Month*100+d.Day)
		if d.Day == 0 {
			hi += 99
		}
		return span{lo, hi, d.In(text), true}
	}
	at := yearText.FindString(text)
	if years := evidence.Years(at); len(years) == 1 {
		y := float64(years[0] * 10000)
		return span{y, y + 9999, at, true}
	}
	return span{}
}

var (
	yearText  = regexp.MustCompile(`\b1\d{3}\b|\b20\d{2}\b`)
	brackets  = regexp.MustCompile(`\(((?:[^()]|\([^()]*\))*)\)`)
	lifeDash  = regexp.MustCompile(`\s*[–—]\s*|\s+-\s+|(\d{3,4})-(\d{3,4})`)
	bornWord  = regexp.MustCompile(`(?i)\b(?:born|b\.)\s([^.;()]{0,60})`)
	diedWord  = regexp.MustCompile(`(?i)\b(?:died|d\.)\s([^.;()]{0,60})`)
	startWord = regexp.MustCompile(`(?i)\b(?:released|published|founded|formed|established|opened|built|completed|created|launched|started|began|premiered|aired|fought|introduced|debuted|incorporated|directed|decided)\b([^.;()]{0,60})`)
	dated     = regexp.MustCompile(`\b(?:is|was|are|were) an? (?:\pL+ )?((?:1\d|20)\d{2})\b`)
)

// lifespan reads "(4 May 1586 – June 19, 1647)".
func lifespan(region string) (born, died span) {
	for _, m := range brackets.FindAllStringSubmatch(region, 3) {
		inside := m[1]
		at := lifeDash.FindStringIndex(inside)
		if at == nil {
			continue
		}
		left, right := inside[:at[0]], inside[at[1]:]
		if strings.ContainsAny(inside[at[0]:at[1]], "0123456789") { // "1586-1647"
			left, right, _ = strings.Cut(inside, "-")
		}
		born, died = dateIn(left), dateIn(right)
		if born.known || died.known {
			return born, died
		}
	}
	return span{}, span{}
}

func birthIn(region string) span {
	if m := bornWord.FindStringSubmatch(region); m != nil {
		if d := dateIn(m[1]); d.known {
			return d
		}
	}
	born, _ := lifespan(region)
	return born
}

func deathIn(region string) span {
	if _, died := lifespan(region); died.known {
		return died
	}
	if m := diedWord.FindStringSubmatch(region); m != nil {
		return dateIn(m[1])
	}
	return span{}
}

// startIn covers all that the region says of a beginning.
func startIn(region string) span {
	var out span
	for _, m := range dated.FindAllStringSubmatch(region, -1) {
		out = out.with(dateIn(m[1]))
	}
	for _, m := range startWord.FindAllStringSubmatch(region, -1) {
		out = out.with(dateIn(m[1]))
	}
	return out
}

// countIn covers the numbers that stand before noun: "10 to 20 species".
func countIn(region, noun string) span {
	var out span
	numbers := evidence.Numbers(region)
	for i, n := range numbers {
		if n.Ordinal || isYear(n.In(region)) || nounAfter(region, n) != noun {
			continue
		}
		out = out.with(span{n.Value, n.Value, n.In(region), true})
		if i == 0 {
			continue
		}
		switch strings.TrimSpace(region[numbers[i-1].End:n.Start]) {
		case "to", "-", "–", "or":
			out = out.with(span{numbers[i-1].Value, numbers[i-1].Value, numbers[i-1].In(region), true})
		}
	}
	return out
}
