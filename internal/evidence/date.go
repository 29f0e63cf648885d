package evidence

import (
	"regexp"
	"strconv"
	"strings"
)

// Date is a calendar date; parts that a text doesn't give are 0.
type Date struct {
	Year, Month, Day int
	Span
}

// Agrees reports whether d and other can be the same date: no part that both
// give differs.
func (d Date) Agrees(other Date) bool {
	same := func(a, b int) bool { return a == 0 || b == 0 || a == b }
	return same(d.Year, other.Year) && same(d.Month, other.Month) && same(d.Day, other.Day)
}

// Dates returns the dates of text in order: "12 March 1984", "March 12, 1984",
// "March 1984", "March 12", "1984-03-12". A bare year is no date; see Years.
func Dates(text string) []Date {
	words := Words(text)
	var out []Date
	for i := range words {
		month := monthNumber(words[i].Key)
		if month == 0 || !isCapitalised(words[i].Text) {
			continue
		}
		d := Date{Month: month, Span: words[i].Span}
		if i > 0 {
			if day := dayOf(words[i-1].Key); day > 0 && near(text, words[i-1].End, words[i].Start) {
				d.Day, d.Start = day, words[i-1].Start
			} else if i > 1 && words[i-1].Key == "of" {
				if day := dayOf(words[i-2].Key); day > 0 {
					d.Day, d.Start = day, words[i-2].Start
				}
			}
		}
		next := i + 1
		if d.Day == 0 && next < len(words) && near(text, words[i].End, words[next].Start) {
			if day := dayOf(words[next].Key); day > 0 {
				d.Day, d.End = day, words[next].End
				next++
			}
		}
		if next < len(words) && near(text, d.End, words[next].Start) {
			if year := yearOf(words[next].Key); year > 0 {
				d.Year, d.End = year, words[next].End
			}
		}
		if d.Day > 0 || d.Year > 0 {
			out = append(out, d)
		}
	}
	return append(out, isoDates(text)...)
}

var isoDate = regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})\b`)

func isoDates(text string) []Date {
	var out []Date
	for _, m := range isoDate.FindAllStringSubmatchIndex(text, -1) {
		year, _ := strconv.Atoi(text[m[2]:m[3]])
		month, _ := strconv.Atoi(text[m[4]:m[5]])
		day, _ := strconv.Atoi(text[m[6]:m[7]])
		if month >= 1 && month <= 12 && day >= 1 && day <= 31 {
			out = append(out, Date{Year: year, Month: month, Day: day, Span: Span{m[0], m[1]}})
		}
	}
	return out
}

// near reports whether only blanks, commas or periods stand between a and b.
func near(text string, a, b int) bool {
	return b-a <= 3 && strings.Trim(text[a:b], " ,.\u00a0") == ""
}

func dayOf(key string) int {
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		key = strings.TrimSuffix(key, suffix)
	}
	if len(key) > 2 {
		return 0
	}
	day, err := strconv.Atoi(key)
	if err != nil || day < 1 || day > 31 {
		return 0
	}
	return day
}

func yearOf(key string) int {
	if len(key) != 4 {
		return 0
	}
	year, err := strconv.Atoi(key)
	if err != nil || year < 1000 || year >= 2200 {
		return 0
	}
	return year
}
