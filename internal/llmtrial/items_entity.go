package llmtrial

import "github.com/stepgap/stepgap/pkg/schema"

// found is an earlier step that claimed something.
func found(index int, query, claim string) schema.Prior {
	return schema.Prior{Index: index, Query: query, Claim: claim}
}

// entityItems are steps that aim right or wrong, half of each. Stage A never
// looks at evidence, so they have none.
func entityItems() []Item {
	const (
		spouse   = "Who is the spouse of the author of The Glass Orchard?"
		films    = "Which film has the director who died earlier, Red Canal or The Ninth Lantern?"
		song     = "What nationality is the composer of the song Winter Tram?"
		founder  = "When did the founder of the Norvik Observatory die?"
		museums  = "Are the Brask Museum and the Pollen Gallery in the same country?"
		province = "What is the capital of the province where the river Osk rises?"
		older    = "Who is older, Mira Dahl or Peter Kast?"
		tower    = "Where was the architect of the Vance Tower educated?"
		pump     = "What is the currency of the country where the inventor of the Morrel pump was born?"
		bands    = "Which band was formed first, Pale Harbour or The Tin Saints?"
		painters = "Were Lena Orr and Tomas Vik both painters?"
		abbey    = "Who is the father of the queen who founded Rosen Abbey?"
		canal    = "Who directed the 1961 film Red Canal?"
	)
	var (
		author   = found(1, "The Glass Orchard author", "The Glass Orchard was written by Nils Harrow.")
		elsa     = found(1, "Norvik Observatory founder", "The Norvik Observatory was founded by Elsa Tveit.")
		osk      = found(1, "source of the river Osk", "The river Osk rises in Tamar Province.")
		lenz     = found(1, "Winter Tram composer", "Winter Tram was composed by Hugo Lenz.")
		redCanal = found(1, "Red Canal director", "Red Canal was directed by Paul Esker.")
		marr     = found(1, "Vance Tower architect", "The Vance Tower was designed by Ilse Marr.")
		aust     = found(1, "Morrel pump inventor", "The Morrel pump was invented by Karl Aust.")
		veldania = found(2, "Karl Aust birthplace", "Karl Aust was born in Veldania.")
		adela    = found(1, "Rosen Abbey founder", "Rosen Abbey was founded by Queen Adela.")
	)
	return []Item{
		search("first hop", aligned, spouse, "The Glass Orchard author", "The Glass Orchard was written by Nils Harrow."),
		search("second hop", aligned, spouse, "Nils Harrow wife", "Nils Harrow was married to Astrid Bye.", author),
		search("other branch", aligned, films, "The Ninth Lantern director", "The Ninth Lantern was directed by Ruth Amsel.", redCanal),
		search("composer", aligned, song, "Winter Tram song composer", "The composer of Winter Tram is Hugo Lenz."),
		conclusion("conclusion", aligned, founder, "1954", "Therefore the founder of the Norvik Observatory died in 1954.", elsa, found(2, "Elsa Tveit death", "Elsa Tveit died in 1954.")),
		search("comparison branch", aligned, museums, "Pollen Gallery location", "The Pollen Gallery is in Brevik."),
		search("broad query", aligned, province, "Tamar Province", "The capital of Tamar Province is Kelva.", osk),
		conclusion("comparison concluded", aligned, older, "Mira Dahl", "Therefore Mira Dahl is older than Peter Kast.", found(1, "Mira Dahl born", "Mira Dahl was born in 1941."), found(2, "Peter Kast born", "Peter Kast was born in 1950.")),
		search("right person, wrong relation", misaligned, spouse, "novels by Nils Harrow", "Nils Harrow also wrote The Salt Road.", author),
		search("birth for death", misaligned, founder, "Elsa Tveit birthplace", "Elsa Tveit was born in Lofthus.", elsa),
		search("namesake", misaligned, song, "Hugo Lenz footballer transfer", "Hugo Lenz moved to the club Vard in 2019.", lenz),
		search("side track", misaligned, province, "length of the river Osk", "The river Osk is 210 kilometres long.", osk),
		conclusion("conclusion on another thing", misaligned, spouse, "1962", "Therefore The Glass Orchard was published in 1962.", author),
		search("wrong attribute of a film", misaligned, films, "The Ninth Lantern box office", "The Ninth Lantern earned two million crowns.", redCanal),
		search("opening hours", misaligned, museums, "Brask Museum opening hours", "The Brask Museum is open daily except on Mondays."),
		search("another person", misaligned, older, "Anton Mirov age", "Anton Mirov is 58 years old."),
		search("relation by another word", aligned, tower, "Ilse Marr university", "Ilse Marr studied at the Polytechnic of Lund.", marr),
		search("other band", aligned, bands, "The Tin Saints band formation year", "The Tin Saints were formed in 1993.", found(1, "Pale Harbour formed", "Pale Harbour was formed in 1988.")),
		search("third hop", aligned, pump, "currency of Veldania", "The currency of Veldania is the marn.", aust, veldania),
		conclusion("a no concluded", aligned, painters, "No", "Therefore Lena Orr and Tomas Vik were not both painters.", found(1, "Lena Orr", "Lena Orr was a painter."), found(2, "Tomas Vik", "Tomas Vik was a sculptor.")),
		search("the other end of a relation", misaligned, abbey, "children of Queen Adela", "Queen Adela had three children.", adela),
		search("height for school", misaligned, tower, "Vance Tower height", "The Vance Tower is 112 metres high.", marr),
		search("game of the same name", misaligned, canal, "Red Canal 2015 video game developer", "Red Canal was developed by Nim Studio."),
		conclusion("one hop short", misaligned, pump, "Veldania", "Therefore the inventor of the Morrel pump was born in Veldania.", aust, veldania),
	}
}

// search is a step that looks for something and then says what it read.
func search(name, want, question, query, says string, earlier ...schema.Prior) Item {
	return Item{Name: name, Stage: schema.StageEntity, Want: want, Step: schema.Step{
		Index: len(earlier) + 1, Kind: schema.KindSearch, Question: question, Query: query, Text: says, History: earlier,
	}}
}

// conclusion is a last step, without a query of its own.
func conclusion(name, want, question, answer, says string, earlier ...schema.Prior) Item {
	return Item{Name: name, Stage: schema.StageEntity, Want: want, Step: schema.Step{
		Index: len(earlier) + 1, Kind: schema.KindConclusion, Question: question, Answer: answer, Text: says, History: earlier,
	}}
}
