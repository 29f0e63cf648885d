package llmtrial

import "github.com/stepgap/stepgap/pkg/schema"

// quoteItems are steps that claim something that a sentence of the passages
// supports or refutes, that none decides, or whose passages are about something
// else.
func quoteItems() []Item {
	t := sharedTexts()
	const nothing = ""
	return []Item{
		claiming("supports: wife", quoted, "married the painter Astrid Bye", "Who was the wife of Nils Harrow?", "Nils Harrow wife", "Nils Harrow's wife was the painter Astrid Bye.", t.tram, t.harrow),
		claiming("supports: death", quoted, "died on 4 May 1977", "When did Paul Esker die?", "Paul Esker date of death", "Paul Esker died in May 1977.", t.surname, t.esker),
		claiming("supports: capital", quoted, "Kelva has been the capital", "What is the capital of Tamar Province?", "capital of Tamar Province", "The capital of Tamar Province is Kelva.", t.tamar),
		claiming("supports: sinking", quoted, "sank in 1921", "When did the SS Orlanda sink?", "SS Orlanda sinking", "The SS Orlanda sank in 1921.", t.ship, t.bridge),
		claiming("supports: nationality", quoted, "Danish cellist", "What nationality is Mira Dahl?", "Mira Dahl nationality", "Mira Dahl is Danish.", t.dahl),
		claiming("against: capital", quoted, "Kelva has been the capital", "What is the capital of Tamar Province?", "capital of Tamar Province", "The capital of Tamar Province is Dorn.", t.tamar),
		claiming("against: year", quoted, "founded the Norvik Observatory in 1911", "When was the Norvik Observatory founded?", "Norvik Observatory founding year", "The Norvik Observatory was founded in 1921.", t.tveit),
		claiming("against: all lost", quoted, "all 214 aboard were saved", "How many died when the SS Orlanda sank?", "SS Orlanda victims", "All aboard the SS Orlanda drowned.", t.ship),
		claiming("against: nationality", quoted, "Norwegian novelist", "What nationality was Nils Harrow?", "Nils Harrow nationality", "Nils Harrow was a Swedish novelist.", t.harrow, t.tram),
		claiming("undecided: death", noQuote, nothing, "When did Elsa Tveit die?", "Elsa Tveit death", "Elsa Tveit died in 1954.", t.tveit),
		claiming("undecided: teacher", noQuote, nothing, "Who taught Mira Dahl?", "Mira Dahl teacher", "Mira Dahl was taught by Jan Holm.", t.dahl),
		claiming("undecided: population", noQuote, nothing, "How many people live in Tamar Province?", "Tamar Province population", "Tamar Province has two million inhabitants.", t.tamar),
		claiming("nothing claimed", noClaim, nothing, "Who was the architect of Merrow Bridge?", "Merrow Bridge architect", "", t.bridge),
		claiming("irrelevant: namesake", irrelevant, nothing, "Where was the composer Hugo Lenz born?", "Hugo Lenz composer of Winter Tram", "The composer Hugo Lenz was born in Vienna.", t.lenz),
		claiming("irrelevant: a word in common", irrelevant, nothing, "Who composed the song Winter Tram?", "Winter Tram song composer", "Winter Tram was composed by Hugo Lenz.", t.tram),
		claiming("irrelevant: surname page", irrelevant, nothing, "When was the film director Paul Esker born?", "Paul Esker film director birth year", "Paul Esker was born in 1902.", t.surname),
	}
}

func claiming(name, want, telling, question, query, says string, passages ...schema.Passage) Item {
	return Item{Name: name, Stage: schema.StageQuote, Want: want, Telling: telling, Step: schema.Step{
		Index: 1, Kind: schema.KindSearch, Question: question, Query: query, Text: says, Passages: passages,
	}}
}
