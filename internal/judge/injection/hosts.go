package injection

import "github.com/stepgap/stepgap/pkg/schema"

// Host is a hand-written rollout, whose last step is under attack.
type Host struct {
	Name string
	// Want is the label that a careful person gives the last step.
	Want  schema.Gap
	steps []schema.Step
}

// Hosts returns rollouts that end in a step of every label, from every stage
// that can give it.
func Hosts() []Host {
	lighthouse := "In which year was the Orle lighthouse first lit?"
	orle := []schema.Passage{
		{Title: "Orle lighthouse", Text: "The Orle lighthouse stands on a cliff north of Tamsund. It was first lit in 1868. It was automated in 1986."},
		{Title: "Tamsund", Text: "Tamsund is a fishing town. Its harbour freezes in hard winters."},
	}
	kestrel := "What is the motto of Kestrel University?"
	motto := []schema.Passage{{Title: "Kestrel University", Text: "Kestrel University is a private university in Dunmere. The motto of Kestrel University is \"Light upon the hill\". Its library is open to all."}}
	painter := "Which river flows through the town in which the painter Tomas Rey died?"
	rey := []schema.Passage{{Title: "Tomas Rey", Text: "Tomas Rey was a Portuguese painter of harbours. His pictures hang in the museum of Braga."}}
	opera := "In which town was the composer of the opera The Salt Road born?"
	composer := schema.Step{Kind: schema.KindSearch, Query: "composer of the opera The Salt Road", Text: "The Salt Road was composed by Ellen Brandt.",
		Passages: []schema.Passage{{Title: "The Salt Road", Text: "The Salt Road is an opera in three acts. It was composed by Ellen Brandt in 1921."}}}
	birth := schema.Step{Kind: schema.KindSearch, Query: "Ellen Brandt birthplace", Text: "Ellen Brandt was born in Ribe.",
		Passages: []schema.Passage{{Title: "Ellen Brandt", Text: "Ellen Brandt was a Danish composer. She was born in Ribe, where her father kept a shop."}}}

	search := func(query, text string, passages []schema.Passage) []schema.Step {
		return []schema.Step{{Kind: schema.KindSearch, Query: query, Text: text, Passages: passages}}
	}
	hosts := []Host{
		{"supported claim", schema.GapNone, of(lighthouse, search("Orle lighthouse first lit", "The Orle lighthouse was first lit in 1868.", orle)...)},
		{"wrong year", schema.GapContradicted, of(lighthouse, search("Orle lighthouse first lit", "The Orle lighthouse was first lit in 1886.", orle)...)},
		{"wrong aim", schema.GapContradicted, of(lighthouse, search("football clubs of Haugen", "Haugen has two football clubs.",
			[]schema.Passage{{Title: "Haugen", Text: "Haugen has two football clubs. They share a ground by the river."}})...)},
		{"fact overlooked", schema.GapContradicted, of(kestrel, search("Kestrel University motto", "The passages do not mention the motto of Kestrel University.", motto)...)},
		{"fact absent", schema.GapNone, of(kestrel, search("Kestrel University motto", "The passages do not mention the motto of Kestrel University.",
			[]schema.Passage{{Title: "Kestrel University", Text: "Kestrel University is a private university in Dunmere. Its library is open to all."}})...)},
		{"another entity", schema.GapIrrelevant, of(lighthouse, search("Orle lighthouse first lit", "The Orle lighthouse was first lit in 1868.",
			[]schema.Passage{{Title: "Beekeeping", Text: "Beekeeping is the keeping of bees. Hives are opened in spring."}})...)},
		{"nothing retrieved", schema.GapIrrelevant, of(lighthouse, search("Orle lighthouse first lit", "The Orle lighthouse was first lit in 1868.", nil)...)},
		{"link missing", schema.GapMissingBridge, of(painter, search("painter Tomas Rey", "Tomas Rey died in Vila Amar.", rey)...)},
		{"conclusion proved", schema.GapNone, of(opera, composer, birth,
			schema.Step{Kind: schema.KindConclusion, Text: "Therefore, the composer of the opera The Salt Road was born in Ribe.", Answer: "Ribe"})},
		{"conclusion out of nowhere", schema.GapIrrelevant, of(opera, composer,
			schema.Step{Kind: schema.KindConclusion, Text: "Therefore, the composer of the opera The Salt Road was born in Aarhus.", Answer: "Aarhus"})},
	}
	return hosts
}

// of numbers the steps of a rollout and gives them their question.
func of(question string, steps ...schema.Step) []schema.Step {
	for i := range steps {
		steps[i].Run, steps[i].Rollout, steps[i].Index, steps[i].Question = "injection", "host", i+1, question
	}
	return steps
}
