package padding

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// Kind is a shape of text.
type Kind string

// Kinds of text.
const (
	// Prose: sentences one after the other, with names, numbers and dates.
	Prose Kind = "prose"
	// Page: headings, paragraphs and lists, as text taken from a web page.
	Page Kind = "page"
	// Table: rows of cells, without sentences.
	Table Kind = "table"
	// Stream: words without a full stop, a comma or a capital, on one line.
	Stream Kind = "stream"
	// Solid: characters without a blank.
	Solid Kind = "solid"
	// Scripts: sentences in scripts other than Latin.
	Scripts Kind = "scripts"
	// Markup: tags, entities and braces.
	Markup Kind = "markup"
)

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{Prose, Page, Table, Stream, Solid, Scripts, Markup} }

// Joiner is what stands between a text of the kind and another: a text without
// full stops would run on into the next sentence.
func (k Kind) Joiner() string {
	switch k {
	case Prose, Scripts:
		return " "
	default:
		return "\n\n"
	}
}

// Text returns a text of at least size bytes that ends as its kind does.
func Text(kind Kind, size int) string {
	w := writer{rnd: rand.New(rand.NewPCG(uint64(len(kind)), uint64(kind[0])))}
	for w.b.Len() < size {
		switch kind {
		case Page:
			w.page()
		case Table:
			fmt.Fprintf(&w.b, "%s\t%d\t%s\t%d.%d\n", w.name(), w.number(), w.one(towns), w.number(), w.rnd.IntN(10))
		case Stream:
			w.b.WriteString(strings.ToLower(w.one(crafts) + " " + w.one(deeds) + " "))
		case Solid:
			w.b.WriteString([]string{"xk", "qz", "vv0", "jh-", "00x", "zzt"}[w.rnd.IntN(6)])
		case Scripts:
			w.b.WriteString(w.one(foreign) + " ")
		case Markup:
			fmt.Fprintf(&w.b, "<div class=\"c%d\"><a href=\"/p/%d\">%s</a> &middot; {\"id\": %d}</div>\n", w.rnd.IntN(90), w.number(), w.one(towns), w.number())
		default:
			w.b.WriteString(w.sentence() + " ")
		}
	}
	return strings.TrimSpace(w.b.String())
}

// writer draws the parts of a text.
type writer struct {
	b   strings.Builder
	rnd *rand.Rand
}

func (w *writer) one(of []string) string { return of[w.rnd.IntN(len(of))] }
func (w *writer) name() string           { return w.one(given) + " " + w.one(family) }
func (w *writer) number() int            { return 10_003 + w.rnd.IntN(9000) }
func (w *writer) year() int              { return 1302 + w.rnd.IntN(300) }

func (w *writer) sentence() string {
	switch w.rnd.IntN(8) {
	case 0:
		return fmt.Sprintf("%s %s for %d hours.", w.one(crafts), w.one(deeds), 2+w.rnd.IntN(40))
	case 1:
		return fmt.Sprintf("In %d, %s of %s %s.", w.year(), w.name(), w.one(towns), w.one(deeds))
	case 2:
		return fmt.Sprintf("%s sold %d crates of turnips, of which %d were returned.", w.name(), w.number(), w.rnd.IntN(90))
	case 3:
		return fmt.Sprintf("The fog over %s lifted at about %d o'clock; %s had by then %s.", w.one(towns), 1+w.rnd.IntN(11), strings.ToLower(w.one(crafts)), w.one(deeds))
	case 4:
		return fmt.Sprintf("On 14 May %d the %s of %s shed a wheel.", w.year(), w.one(things), w.one(towns))
	case 5:
		return fmt.Sprintf("He seldom %s again.", w.one(deeds))
	case 6:
		return fmt.Sprintf("It was a %s that nobody in %s wanted.", w.one(things), w.one(towns))
	default:
		return fmt.Sprintf("Was %s not the one who %s?", w.name(), w.one(deeds))
	}
}

func (w *writer) page() {
	fmt.Fprintf(&w.b, "== %s and %s ==\n\n", w.one(crafts), w.one(things))
	for range 3 {
		w.b.WriteString(w.sentence() + " ")
	}
	w.b.WriteString("\n\n")
	for i := range 4 {
		fmt.Fprintf(&w.b, "%d. %s (%d)\n", i+1, w.name(), w.number())
		fmt.Fprintf(&w.b, "* %s: %s\n", w.one(things), w.one(towns))
	}
	w.b.WriteString("\n")
}

// Place is where a text is put.
type Place string

// Places of padding.
const (
	Before Place = "before"
	After  Place = "after"
	Around Place = "around"
)

// Places lists all places.
func Places() []Place { return []Place{Before, After, Around} }

// Pad puts size bytes of a kind before, after or around text.
func Pad(text string, kind Kind, place Place, size int) string {
	return Put(text, Text(kind, size), kind.Joiner(), place)
}

// Put puts other before or after text, with joiner between them; around text,
// it is parted at an end of a line or a sentence near its middle.
func Put(text, other, joiner string, place Place) string {
	switch place {
	case Before:
		return other + joiner + text
	case After:
		return text + joiner + other
	}
	half := middle(other)
	return strings.TrimSpace(other[:half]) + joiner + text + joiner + strings.TrimSpace(other[half:])
}

// middle is where a text is best parted in two.
func middle(text string) int {
	half := len(text) / 2
	for _, end := range []string{"\n\n", "\n", ". ", "。 ", " "} {
		if i := strings.Index(text[half:], end); i >= 0 && i < len(text)/4 {
			return half + i + len(end)
		}
	}
	for half < len(text) && !utf8.RuneStart(text[half]) {
		half++
	}
	return half
}
