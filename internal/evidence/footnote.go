package evidence

import "strings"

// withoutNotes is a folded text without the marks of footnotes ("[2]", "[a]",
// "[note 3]", "[citation needed]"), which people and models leave out when they
// quote. A mark between two digits stays: without it they would be another
// number.
func (f Folded) withoutNotes() Folded {
	if !strings.Contains(f.Text, "[") {
		return f
	}
	var out Folded
	var text strings.Builder
	for at := 0; at < len(f.Text); {
		n := noteMark(f.Text[at:])
		if n > 0 && at > 0 && at+n < len(f.Text) && isDigitByte(f.Text[at-1]) && isDigitByte(f.Text[at+n]) {
			n = 0
		}
		if n > 0 {
			at += n
			if at < len(f.Text) && f.Text[at] == ' ' && strings.HasSuffix(text.String(), " ") {
				at++
			}
			continue
		}
		text.WriteByte(f.Text[at])
		out.start = append(out.start, f.start[at])
		out.end = append(out.end, f.end[at])
		at++
	}
	out.Text = text.String()
	return out
}

// noteMark returns the length of a footnote's mark at the head of s, or 0.
func noteMark(s string) int {
	const longest = 24
	if s[0] != '[' {
		return 0
	}
	end := strings.IndexByte(s[:min(len(s), longest)], ']')
	if end < 2 {
		return 0
	}
	body := strings.ToLower(s[1:end])
	switch body {
	case "citation needed", "clarification needed", "when?", "who?", "where?", "sic":
		return end + 1
	}
	body = strings.TrimPrefix(strings.TrimPrefix(body, "note "), "nb ")
	digits := strings.Trim(body, "0123456789") == ""
	if digits && len(body) <= 3 || len(body) == 1 && body[0] >= 'a' && body[0] <= 'z' {
		return end + 1
	}
	return 0
}

func isDigitByte(b byte) bool { return b >= '0' && b <= '9' }
