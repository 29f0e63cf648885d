package stepset

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
)

// phrasings are ways to say "the relation of subject (1) is object (2)", for
// the relations that MuSiQue takes from Wikidata.
func phrasings(relation string) []string {
	switch relation {
	case "country":
		return []string{"%[1]s is in %[2]s.", "The country of %[1]s is %[2]s.", "%[1]s belongs to %[2]s."}
	case "place of birth":
		return []string{"%[1]s was born in %[2]s.", "The birthplace of %[1]s is %[2]s.", "%[1]s came into the world in %[2]s."}
	case "place of death":
		return []string{"%[1]s died in %[2]s.", "The place where %[1]s died is %[2]s."}
	case "located in the administrative territorial entity", "location":
		return []string{"%[1]s is located in %[2]s.", "%[1]s lies in %[2]s.", "The area that %[1]s is part of is %[2]s."}
	case "performer":
		return []string{"%[1]s was performed by %[2]s.", "The performer of %[1]s is %[2]s."}
	case "part of":
		return []string{"%[1]s is part of %[2]s.", "%[1]s belongs to %[2]s."}
	case "author":
		return []string{"%[1]s was written by %[2]s.", "The author of %[1]s is %[2]s.", "%[2]s wrote %[1]s."}
	case "country of citizenship":
		return []string{"%[1]s was a citizen of %[2]s.", "The home country of %[1]s is %[2]s."}
	case "instance of":
		return []string{"%[1]s is an instance of %[2]s.", "%[1]s is one of the %[2]s."}
	case "shares border with":
		return []string{"%[1]s shares a border with %[2]s.", "%[2]s is a neighbour of %[1]s."}
	case "composer":
		return []string{"%[1]s was composed by %[2]s.", "The composer of %[1]s is %[2]s.", "%[2]s composed %[1]s."}
	case "educated at":
		return []string{"%[1]s was educated at %[2]s.", "%[1]s studied at %[2]s."}
	case "continent":
		return []string{"%[1]s is in %[2]s.", "The continent on which %[1]s lies is %[2]s."}
	case "producer":
		return []string{"%[1]s was produced by %[2]s.", "The producer of %[1]s is %[2]s."}
	case "director":
		return []string{"%[1]s was directed by %[2]s.", "The director of %[1]s is %[2]s."}
	case "spouse":
		return []string{"%[1]s was married to %[2]s.", "The spouse of %[1]s is %[2]s."}
	case "member of sports team":
		return []string{"%[1]s played for %[2]s.", "The team of %[1]s is %[2]s."}
	case "applies to jurisdiction":
		return []string{"%[1]s covers %[2]s.", "The jurisdiction of %[1]s is %[2]s."}
	case "conflict":
		return []string{"%[1]s took part in %[2]s.", "The war in which %[1]s was involved is %[2]s."}
	case "located in or next to body of water":
		return []string{"%[1]s lies on %[2]s.", "The water near which %[1]s lies is %[2]s."}
	case "father":
		return []string{"The father of %[1]s is %[2]s.", "%[2]s is the father of %[1]s.", "%[1]s is a child of %[2]s."}
	case "member of political party":
		return []string{"%[1]s is a member of %[2]s.", "The party of %[1]s is %[2]s."}
	case "licensed to broadcast to":
		return []string{"%[1]s is licensed to broadcast to %[2]s.", "The station %[1]s serves %[2]s."}
	case "location of formation":
		return []string{"%[1]s was formed in %[2]s.", "The place where %[1]s was formed is %[2]s."}
	case "follows":
		return []string{"%[1]s followed %[2]s.", "%[2]s came before %[1]s."}
	case "sibling", "child", "sport", "native language", "capital of", "mouth of the watercourse":
		return []string{"The " + strings.TrimSuffix(relation, " of") + " of %[1]s is %[2]s.", "%[2]s is the " + strings.TrimSuffix(relation, " of") + " of %[1]s."}
	}
	return []string{"The " + relation + " of %[1]s is %[2]s."}
}

// statements are ways to say what a question and its answer come to. None means
// that no rule makes a sentence that anyone would write.
func statements(question, answer string) []string {
	if subject, relation, ok := strings.Cut(question, ">>"); ok {
		var out []string
		for _, p := range phrasings(strings.TrimSpace(relation)) {
			out = append(out, capital(fmt.Sprintf(p, strings.TrimSpace(subject), answer)))
		}
		return out
	}
	question = strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(question, " 's ", "'s "), " ?", "?"))
	if m := rePlaced.FindStringSubmatch(question); m != nil {
		return []string{capital(fmt.Sprintf("%s is %s %s.", m[1], m[2], answer)), capital(fmt.Sprintf("The place that %s is %s is %s.", m[1], m[2], answer))}
	}
	s := strings.NewReplacer(" in in ", " in ", " 's ", "'s ").Replace(claim.Statement(question, answer))
	if strings.HasPrefix(s, "The answer to") || reMangled.MatchString(s) {
		return nil
	}
	out := []string{s}
	if m := reTurn.FindStringSubmatch(s); m != nil {
		out = append(out, capital(fmt.Sprintf("%s %s %s.", m[3], m[2], m[1])))
	}
	return out
}

var (
	// "Which state is Pocahontas Mounds located?", "What country was X from?"
	rePlaced = regexp.MustCompile(`(?i)^(?:what|which)\s+(?:country|state|city|county|company)\s+(?:is|was)\s+(.+?)\s+(from|located in|located|part of|in)\??$`)
	// what comes of a question that no rule reads rightly
	reMangled = regexp.MustCompile(`\b(?:is|was|are|were|will|be) (?:is|was|are|were)\b|\b(?:that|located|held|part) (?:is|was|were) (?:is|held|in|from)\b|\bthat is (?:located|from|part) (?:is|was)\b|\bshares a border with the county\b.* that is\b|\bis (?:born|held) in\b|\bwas died\b|\bwin the\b|\bforeign group\b|\b(?:a|the) the\b`)
	// "G. Stanley Hall was the first president of X."
	reTurn = regexp.MustCompile(`^([^,]{2,60}?) (is|was) ((?i:the) [^,]{4,120}? (?:of|in|for) [^,]+)\.$`)
)

// spoken is a statement's wording for people: "located Mississippi" reads
// "located in Mississippi".
func spoken(s string) string { return reLocated.ReplaceAllString(s, "located in $1") }

var reLocated = regexp.MustCompile(`\blocated (\p{Lu})`)

func capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}

// lowered begins s with a small letter where its first word is no name.
func lowered(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if evidence.IsStopWord(strings.ToLower(first)) {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// claimed is what an agent writes around a claim; the choice doesn't depend on
// the label.
func claimed(rnd *rand.Rand, statement, next string) string {
	lead := pick(rnd, []string{"", "From the search results, I can see that ", "Based on the search results, I found that ", "The passages say that "})
	text := statement
	if lead != "" {
		text = lead + lowered(statement)
	}
	if next != "" {
		text += " " + fmt.Sprintf(pick(rnd, []string{"Next, I need to search for: %s", "I'll use a search query to find out: %s", "I need to search %s next."}), next)
	}
	return text
}

// abstained is what an agent writes that found nothing on a question.
func abstained(rnd *rand.Rand, question string) string {
	if subject, relation, ok := strings.Cut(question, ">>"); ok {
		relation = strings.TrimSuffix(strings.TrimSpace(relation), " of")
		if strings.HasPrefix(relation, "located") || relation == "shares border with" || relation == "follows" {
			relation = "surroundings"
		}
		what := fmt.Sprintf("the %s of %s", relation, strings.TrimSpace(subject))
		return capital(fmt.Sprintf(pick(rnd, []string{
			"I couldn't find specific information about %s. I will perform another search.",
			"The passages do not mention %s.",
			"%s is not mentioned in the search results, so I need to search again.",
		}), what))
	}
	return fmt.Sprintf(pick(rnd, []string{
		"The search results do not answer this: %s. I will search again.",
		"I couldn't find any information on this: %s.",
		"This cannot be determined from the passages: %s.",
	}), lowered(strings.TrimRight(strings.TrimSpace(question), "?. ")))
}

// concluded is how a rollout ends.
func concluded(rnd *rand.Rand, statement string) string {
	return fmt.Sprintf(pick(rnd, []string{"Therefore, %s", "So %s", "Now I can answer: %s"}), lowered(statement))
}

// searched is the query for a question.
func searched(rnd *rand.Rand, question string) string {
	subject, relation, ok := strings.Cut(question, ">>")
	if !ok {
		return strings.TrimRight(strings.TrimSpace(question), "?. ")
	}
	subject, relation = strings.TrimSpace(subject), strings.TrimSpace(relation)
	return pick(rnd, []string{subject + " " + relation, relation + " of " + subject, subject})
}
