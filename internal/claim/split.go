package claim

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/stepgap/stepgap/internal/evidence"
)

// piece is a stretch of the text under classification, in byte offsets.
type piece struct {
	start, end int
	// bullet marks a list item, subject the heading it hangs under.
	bullet  bool
	subject string
	// concluding says that it stands under a heading such as "Conclusion".
	concluding bool
	// stepped says that a "Step 2:" stood before it.
	stepped bool
}

var (
	reBullet  = regexp.MustCompile(`^\s*(?:[-*•–+]|\(?\d{1,2}[.)])\s+`)
	reMark    = regexp.MustCompile(`^(?:[#>]+\s+|\*{1,3}|_{2,3})`)
	reMarkEnd = regexp.MustCompile(`(?:\*{1,3}|_{2,3})\s*$`)
	// reStep is a numbered part of a plan, with the text after its colon.
	reStep = regexp.MustCompile(`(?i)^(?:(?:then|next|now|and|let's (?:start|begin|continue|proceed) with)\s+)?(?:sub-?)?(?:step|part|hop|task|question)\s*#?\d{1,2}\s*(?:\([^)]*\)\s*)?[:.)\-–]\s*`)
	// reConcludingHead is a heading under which conclusions stand.
	reConcludingHead = regexp.MustCompile(`(?i)\b(?:conclu\w+|combin\w+|putting .* together|final answer|in summary|summary)\b`)
	// reLabel is a one-word heading in front of a sentence.
	reLabel = regexp.MustCompile(`(?i)^(?:conclusion|final answer|answer|summary|in summary|reasoning|analysis|findings?|result|observation|evidence|note)\s*:\s*`)
)

// Split divides text into sentences and classes each. Sentences come in order
// and don't overlap. A sentence that claims in one half and abstains or plans
// in the other is divided between them.
func Split(text string) []Sentence {
	var out []Sentence
	subject, concluding := "", false
	for _, line := range lines(text) {
		body := line.In(text)
		bullet := reBullet.MatchString(body)
		if !bullet && strings.TrimSpace(body) != "" {
			subject = ""
		}
		if h := headingOf(text, line); h != nil {
			subject, concluding = listSubject(h.Text), reConcludingHead.MatchString(h.Text)
			out = append(out, *h)
			continue
		}
		for _, p := range pieces(text, line, bullet, subject) {
			p.concluding = concluding
			out = append(out, classify(text, p)...)
		}
	}
	return out
}

// lines are the text's lines; a line that merely wraps joins the next one.
func lines(text string) []evidence.Span {
	var spans []evidence.Span
	start := 0
	for start < len(text) {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		for end < len(text) && wraps(text, start, end) {
			next := strings.IndexByte(text[end+1:], '\n')
			if next < 0 {
				end = len(text)
				break
			}
			end += 1 + next
		}
		spans = append(spans, evidence.Span{Start: start, End: end})
		start = end + 1
	}
	return spans
}

// wraps reports whether the newline at end merely wraps a sentence: the line
// ends without a stop and the next goes on in lower case.
func wraps(text string, start, end int) bool {
	line := strings.TrimRight(text[start:end], " \t\r")
	if line == "" || strings.ContainsAny(line[len(line)-1:], ".!?:;*") {
		return false
	}
	next := strings.TrimLeft(text[end+1:], " \t")
	return next != "" && next[0] >= 'a' && next[0] <= 'z'
}

// pieces divides a line into sentences, without bullets and mark-up.
func pieces(text string, line evidence.Span, bullet bool, subject string) []piece {
	start, end := unmark(text, line.Start, line.End)
	body := text[start:end]
	stepped := false
	for {
		m := reStep.FindString(body)
		if m == "" {
			break
		}
		stepped = true
		start += len(m)
		start, end = unmark(text, start, end)
		body = text[start:end]
	}
	var ps []piece
	for i, s := range joinTitles(body, evidence.Sentences(body)) {
		ps = append(ps, piece{
			start: start + s.Start, end: start + s.End,
			bullet: bullet && i == 0, subject: subject, stepped: stepped && i == 0,
		})
	}
	return ps
}

// joinTitles puts together what a mark in a title divided: policies name
// "Wholly Spies! The Film" and "Who Goes There? (film)" far more often than
// they shout or ask.
func joinTitles(body string, spans []evidence.Span) []evidence.Span {
	var out []evidence.Span
	for _, s := range spans {
		n := len(out)
		if n > 0 && (strings.HasSuffix(out[n-1].In(body), "!") && len(strings.Fields(out[n-1].In(body))) > 5 ||
			strings.HasSuffix(out[n-1].In(body), "?") && body[s.Start] == '(') {
			out[n-1].End = s.End
			continue
		}
		out = append(out, s)
	}
	return out
}

// unmark moves past white space, bullets and mark-up at both ends.
func unmark(text string, start, end int) (int, int) {
	for {
		before := [2]int{start, end}
		body := text[start:end]
		start += len(body) - len(strings.TrimLeftFunc(body, unicode.IsSpace))
		end = start + len(strings.TrimRightFunc(text[start:end], unicode.IsSpace))
		if m := reBullet.FindString(text[start:end]); m != "" {
			start += len(m)
		}
		if m := reMark.FindString(text[start:end]); m != "" && markCloses(text[start:end], m) {
			start += len(m)
		}
		if m := reMarkEnd.FindString(text[start:end]); m != "" && strings.Count(text[start:end], strings.TrimSpace(m))%2 == 1 {
			end -= len(m)
		}
		if before == [2]int{start, end} {
			return start, end
		}
	}
}

// markCloses keeps "**bold** and more": only mark-up around a whole line, or a
// heading's, is taken away.
func markCloses(body, mark string) bool {
	if mark[0] == '#' || mark[0] == '>' {
		return true
	}
	rest := strings.TrimRight(body[len(mark):], " \t")
	return strings.HasSuffix(rest, mark) && strings.Count(rest, mark) == 1 || !strings.Contains(rest, mark)
}

// maxHeading is the longest line, in bytes, that can be a heading.
const maxHeading = 400

// headingOf returns the line as a heading, or nil where it is none.
func headingOf(text string, line evidence.Span) *Sentence {
	start, end := unmark(text, line.Start, line.End)
	if start >= end || end-start > maxHeading {
		return nil
	}
	body := text[start:end]
	bare := strings.TrimRight(body, ": ")
	marked := reMark.MatchString(strings.TrimSpace(line.In(text)))
	switch {
	case reStep.MatchString(body):
		return nil
	case reLabel.MatchString(body + ":"):
		if reLabel.ReplaceAllString(body+":", "") != "" {
			return nil
		}
	case strings.HasSuffix(body, ":"):
		if isPlan(bare) || hasFiniteVerb(bare) || len(evidence.Sentences(bare)) > 1 {
			return nil
		}
	case marked && !strings.ContainsAny(body[len(body)-1:], ".!?") && !hasFiniteVerb(body) && !isPlan(body):
	default:
		return nil
	}
	return &Sentence{Text: body, Class: Heading, Start: start, End: end, Stripped: bare}
}

// listSubject is the name under which a list stands, or "".
func listSubject(heading string) string {
	s := strings.Trim(heading, " :*")
	if len(s) > 80 || len(evidence.Names(s)) == 0 || reLabel.MatchString(s+":") {
		return ""
	}
	return s
}
