package stepset

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/evidence"
)

// Names of how a wrong answer was found.
const (
	byPassageName   = "same_passage_name"
	byPassageNumber = "same_passage_number"
	byNearNumber    = "near_number"
	byNearDate      = "near_date"
	byOtherAnswer   = "other_answer"
)

// wrong is an answer that is not the right one.
type wrong struct{ answer, how string }

// valueKind tells answers apart by what can stand in their place.
type valueKind int

const (
	kindName valueKind = iota
	kindNumber
	kindDate
	kindPhrase
)

func kindOf(answer string) valueKind {
	switch {
	case len(evidence.Dates(answer)) > 0:
		return kindDate
	case strings.ContainsFunc(answer, unicode.IsDigit) && len(evidence.Numbers(answer)) > 0:
		return kindNumber
	case len(evidence.Names(answer)) == 1 && len(answer) < 60:
		return kindName
	}
	return kindPhrase
}

// sort tells names apart: a country can't stand where a person is meant.
type sortOf int

const (
	sortUnknown sortOf = iota
	sortPerson
	sortCountry
	sortState
	sortPlace
)

// asks is the sort of name that a hop's question asks for.
func asks(question string) sortOf {
	if _, relation, ok := strings.Cut(question, ">>"); ok {
		switch strings.TrimSpace(relation) {
		case "country", "country of citizenship":
			return sortCountry
		case "place of birth", "place of death", "located in the administrative territorial entity", "location", "location of formation", "capital of", "licensed to broadcast to", "shares border with":
			return sortPlace
		case "author", "composer", "producer", "director", "spouse", "father", "sibling", "child":
			return sortPerson
		}
		return sortUnknown
	}
	q := strings.ToLower(question)
	switch {
	case reAsksCountry.MatchString(q):
		return sortCountry
	case reAsksState.MatchString(q):
		return sortState
	case reAsksPlace.MatchString(q):
		return sortPlace
	case reAsksPerson.MatchString(q):
		return sortPerson
	}
	return sortUnknown
}

var (
	reAsksCountry = regexp.MustCompile(`\b(?:what|which)(?: is the| was the)? country\b`)
	reAsksState   = regexp.MustCompile(`\b(?:what|which)(?: is the| was the)?(?: name of the)? state\b`)
	reAsksPlace   = regexp.MustCompile(`^(?:where|in (?:what|which) (?:city|town|place)|(?:what|which) (?:city|town|county|place|district|region)|at what location)\b`)
	reAsksPerson  = regexp.MustCompile(`^who\b|\bis who\b|\bwas who\b|\bspouse's name\b`)
)

// fits reports whether a name can be of a sort, as far as its form and the
// lists of names tell.
func (g *gazetteer) fits(name string, want sortOf, answer, passage string) bool {
	key := evidence.EntityKey(name)
	words := strings.Fields(name)
	switch want {
	case sortCountry:
		return g.countries[key]
	case sortState:
		return g.states[key]
	case sortPlace:
		switch akey := evidence.EntityKey(answer); {
		case g.countries[akey]:
			return g.countries[key]
		case g.states[akey]:
			return g.states[key]
		case strings.HasSuffix(answer, " County") || strings.HasSuffix(name, " County"):
			return strings.HasSuffix(answer, " County") && strings.HasSuffix(name, " County")
		}
		return !g.countries[key] && !g.states[key] && (g.places[key] || afterPlace(name, passage)) && !g.persons[key] && !months[words[0]]
	case sortPerson:
		if len(words) < 2 || len(words) > 3 || g.places[key] || g.countries[key] || afterPlace(name, passage) {
			return false
		}
		for _, w := range words {
			if first, _ := utf8.DecodeRuneInString(w); !unicode.IsUpper(first) || g.countries[evidence.EntityKey(w)] || g.states[evidence.EntityKey(w)] || notPersonal[w] {
				return false
			}
		}
		return true
	}
	// An unknown sort: only what ends in the same common noun, as rivers do.
	aw := strings.Fields(answer)
	return len(words) > 1 && len(aw) > 1 && words[len(words)-1] == aw[len(aw)-1] && len(aw[len(aw)-1]) > 3
}

// formOf is the sort of a name as its form tells it.
func (g *gazetteer) formOf(name, passage string) sortOf {
	switch key := evidence.EntityKey(name); {
	case g.countries[key]:
		return sortCountry
	case g.states[key]:
		return sortState
	case afterPlace(name, passage):
		return sortPlace
	case g.fits(name, sortPerson, name, passage):
		return sortPerson
	}
	return sortUnknown
}

var months = map[string]bool{"January": true, "February": true, "March": true, "April": true, "May": true, "June": true, "July": true,
	"August": true, "September": true, "October": true, "November": true, "December": true}

// notPersonal are words in capitals that stand in names of other things.
var notPersonal = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields("The A An In On At And Of For University College School Institute Academy Party Council Committee Congress Senate House Court " +
		"Award Awards Prize Records Music Company Corporation Group Inc Ltd Museum Church Cathedral River Lake Sea Ocean Mountain Mountains Island Islands County City Town " +
		"District Province Region State States Kingdom Republic Empire Union Army Navy War Battle Treaty Act Law League Cup Series Championship Olympics Games Club Team United National " +
		"International Royal American British English French German Italian Spanish Russian Chinese Japanese Canadian Australian Indian Dutch Irish Scottish Welsh European African Asian " +
		"Roman Greek Latin Jewish Christian Catholic President Prime Minister King Queen Prince Princess Duke Lord Sir Saint St Red Black White New North South East West Northern Southern Eastern Western " +
		"Best Album Song Film Picture Television TV Radio Network News Times Book Novel Street Avenue Road Park Airport Station Railway Hotel Tower Center Centre Theatre Theater Hall Stadium") {
		out[w] = true
	}
	return out
}()

// gazetteer holds names by sort: those of the lists below, and the answers of
// the data itself.
type gazetteer struct {
	countries, states, places, persons map[string]bool
	// answers by the sort that their question asks for, and dates and numbers.
	answers []sorted
}

type sorted struct {
	answer string
	sort   sortOf
}

const countryNames = "Afghanistan|Algeria|Argentina|Australia|Austria|Bangladesh|Belgium|Bolivia|Brazil|Bulgaria|Cambodia|Cameroon|Canada|Chile|China|Colombia|Congo|Croatia|Cuba|Denmark|" +
	"Djibouti|Egypt|England|Ethiopia|Finland|France|Germany|Ghana|Greece|Guyana|Hungary|Iceland|India|Indonesia|Iran|Iraq|Ireland|Israel|Italy|Jamaica|Japan|Jordan|Kenya|Korea|Latvia|Lebanon|Libya|Lithuania|" +
	"Malaysia|Mali|Mexico|Mongolia|Morocco|Myanmar|Namibia|Nepal|Netherlands|New Zealand|Nigeria|North Korea|Norway|Pakistan|Panama|Peru|Philippines|Poland|Portugal|Romania|Russia|Scotland|Senegal|Serbia|Singapore|" +
	"Somalia|South Africa|South Korea|Soviet Union|Spain|Sri Lanka|Sudan|Sweden|Switzerland|Syria|Tanzania|Thailand|Tunisia|Turkey|Uganda|Ukraine|United Kingdom|United States|Uruguay|Venezuela|Vietnam|Wales|Yugoslavia|Zambia|Zimbabwe"

const stateNames = "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|" +
	"Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|" +
	"Tennessee|Texas|Utah|Vermont|Virginia|West Virginia|Wisconsin|Wyoming"

func newGazetteer(puzzles []puzzle) *gazetteer {
	keys := func(list string) map[string]bool {
		out := map[string]bool{}
		for _, n := range strings.Split(list, "|") {
			out[evidence.EntityKey(n)] = true
		}
		return out
	}
	g := &gazetteer{countries: keys(countryNames), states: keys(stateNames), places: map[string]bool{}, persons: map[string]bool{}}
	for i := range puzzles {
		for _, h := range puzzles[i].hops {
			sort, key := asks(h.question), evidence.EntityKey(h.answer)
			g.answers = append(g.answers, sorted{h.answer, sort})
			switch sort {
			case sortPlace, sortCountry, sortState:
				g.places[key] = true
			case sortPerson:
				g.persons[key] = true
			}
		}
	}
	return g
}

// wrongAnswers returns wrong answers that could stand where the answer to
// question stands, hardest first: another value that the same passage gives,
// or the value slightly off, then the answers to other questions. avoid holds
// texts that no wrong answer may stand in, such as the question. byForm goes by
// the form of the answer and not by what the question asks for.
func (g *gazetteer) wrongAnswers(rnd *rand.Rand, question, answer, passage string, avoid []string, byForm bool) []wrong {
	var out []wrong
	usable := func(s string) bool {
		if s == "" || evidence.SameEntity(s, answer) || holds(s, answer) || holds(answer, s) {
			return false
		}
		for _, a := range avoid {
			if holds(a, s) {
				return false
			}
		}
		return true
	}
	kind := kindOf(answer)
	switch kind {
	case kindDate, kindNumber:
		if kind == kindNumber {
			for _, n := range shuffled(rnd, evidence.Numbers(passage)) {
				if s := n.In(passage); sameShape(s, answer) && strings.Trim(s, "0123456789.,") == "" && usable(s) {
					out = append(out, wrong{strings.Replace(answer, reDigits.FindString(answer), s, 1), byPassageNumber})
				}
			}
		}
		if s := nearby(rnd, answer); usable(s) {
			near := wrong{s, byNearNumber}
			if kind == kindDate {
				near.how = byNearDate
			}
			out = append(out, near)
			if rnd.IntN(2) == 0 {
				out[0], out[len(out)-1] = out[len(out)-1], out[0]
			}
		}
		return out
	case kindPhrase:
		return nil
	}
	want := asks(question)
	if byForm {
		want = g.formOf(answer, passage)
	}
	for _, n := range shuffled(rnd, evidence.Names(passage)) {
		if likeName(n, answer) && g.fits(n, want, answer, passage) && usable(n) {
			out = append(out, wrong{n, byPassageName})
		}
	}
	for _, o := range shuffled(rnd, g.answers) {
		if o.sort == want && kindOf(o.answer) == kindName && g.fits(o.answer, want, answer, passage) && usable(o.answer) {
			out = append(out, wrong{o.answer, byOtherAnswer})
		}
	}
	return out
}

// holds reports whether small's words stand in large, in order.
func holds(large, small string) bool {
	return strings.Contains(" "+evidence.EntityKey(large)+" ", " "+evidence.EntityKey(small)+" ")
}

func shuffled[T any](rnd *rand.Rand, in []T) []T {
	out := append([]T(nil), in...)
	rnd.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// sameShape holds numbers together: years with years, figures with figures.
func sameShape(a, b string) bool {
	digits := func(s string) int {
		n := 0
		for _, r := range s {
			if unicode.IsDigit(r) {
				n++
			}
		}
		return n
	}
	if len(evidence.Years(b)) > 0 {
		return len(evidence.Years(a)) > 0 && len(a) == 4
	}
	return digits(a) > 0 && len(evidence.Years(a)) == 0 && strings.Contains(a, "%") == strings.Contains(b, "%")
}

// reAfterPlace finds the word before a name that a place stands after.
var reAfterPlace = regexp.MustCompile(`(?i)\b(?:in|from|at|near|into|of|to)\s+(?:the\s+)?$`)

// likeName reports whether candidate has the form of a name and about as many
// words as answer.
func likeName(candidate, answer string) bool {
	cw, aw := len(strings.Fields(candidate)), len(strings.Fields(answer))
	if cw-aw > 1 || aw-cw > 1 || len(candidate) < 3 || evidence.IsStopWord(strings.ToLower(candidate)) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(candidate)
	return unicode.IsUpper(first) && !strings.ContainsAny(candidate, `"()“”:;`)
}

func afterPlace(name, passage string) bool {
	at := strings.Index(passage, name)
	return at >= 0 && reAfterPlace.MatchString(passage[:at])
}

var reDigits = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)

// nearby changes the last telling number of a value a little: years by one to
// nine, days by one to nine, other numbers by a tenth to a half, or it turns
// two digits round.
func nearby(rnd *rand.Rand, value string) string {
	spots := reDigits.FindAllStringIndex(value, -1)
	if len(spots) == 0 {
		return ""
	}
	at := spots[rnd.IntN(len(spots))]
	old := value[at[0]:at[1]]
	var fresh string
	plain := strings.ReplaceAll(old, ",", "")
	n, err := strconv.ParseFloat(plain, 64)
	switch {
	case err != nil:
		return ""
	case len(evidence.Years(old)) > 0:
		fresh = strconv.Itoa(int(n) + pick(rnd, []int{-9, -7, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 8}))
	case len(evidence.Dates(value)) > 0 && n <= 31:
		fresh = strconv.Itoa(1 + (int(n)+rnd.IntN(9))%28)
	case strings.Contains(old, "."):
		decimals := len(old) - strings.Index(old, ".") - 1
		fresh = strconv.FormatFloat(n*pick(rnd, []float64{0.6, 0.75, 0.9, 1.15, 1.3, 1.5}), 'f', decimals, 64)
	case n < 10:
		fresh = strconv.Itoa(int(n) + 1 + rnd.IntN(3))
	default:
		fresh = turned(rnd, plain)
		if fresh == plain {
			fresh = strconv.Itoa(int(n) + 1 + rnd.IntN(max(2, int(n)/3)))
		}
		if strings.Contains(old, ",") {
			fresh = grouped(fresh)
		}
	}
	if fresh == old {
		return ""
	}
	out := value[:at[0]] + fresh + value[at[1]:]
	return reOrdinal.ReplaceAllStringFunc(out, ordinal)
}

// turned swaps two neighbouring digits, the first never for a zero.
func turned(rnd *rand.Rand, digits string) string {
	b := []byte(digits)
	for range 4 {
		i := rnd.IntN(len(b) - 1)
		if b[i] != b[i+1] && (i > 0 || b[i+1] != '0') {
			b[i], b[i+1] = b[i+1], b[i]
			break
		}
	}
	return string(b)
}

func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

var reOrdinal = regexp.MustCompile(`\b(\d+)(?:st|nd|rd|th)\b`)

func ordinal(s string) string {
	n, _ := strconv.Atoi(reOrdinal.FindStringSubmatch(s)[1])
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprint(n, suffix)
}
