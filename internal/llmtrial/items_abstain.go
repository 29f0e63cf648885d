package llmtrial

import "github.com/stepgap/stepgap/pkg/schema"

// texts are the passages that the items of B and C share.
type texts struct {
	harrow, esker, tveit, lenz, brask, tamar, dahl, ship, surname, orchard, tram, bridge schema.Passage
}

func sharedTexts() texts {
	return texts{
		harrow:  passage("Nils Harrow", "Nils Harrow (1917-1999) was a Norwegian novelist. His best-known book, The Glass Orchard, was translated into nine languages. In 1946 he married the painter Astrid Bye, and the couple settled in Voss."),
		esker:   passage("Paul Esker", "Paul Esker was a film director from Ghent. After Red Canal he made four comedies. He retired to Ostend, where he died on 4 May 1977."),
		tveit:   passage("Elsa Tveit", "Elsa Tveit was an astronomer. She founded the Norvik Observatory in 1911 and led it for thirty years. A crater on the Moon bears her name."),
		lenz:    passage("Hugo Lenz (footballer)", "Hugo Lenz is an Austrian footballer who plays as a midfielder for Vard. He was born in Graz in 1994."),
		brask:   passage("Brask Museum", "The Brask Museum shows glass and ceramics from the nineteenth century. It is open daily except on Mondays. Admission is free for children."),
		tamar:   passage("Tamar Province", "Tamar Province lies in the north. Its seat of government moved from Dorn to Kelva in 1930, and Kelva has been the capital since."),
		dahl:    passage("Mira Dahl", "Mira Dahl is a Danish cellist. She made her debut at the age of twelve, in 1953, and recorded the suites three times."),
		ship:    passage("SS Orlanda", "The SS Orlanda was a passenger steamer built in Belfast. She sank in 1921 off Cape Vern; all 214 aboard were saved."),
		surname: passage("Esker (surname)", "Esker is a surname. Notable people with the surname include the chemist Jan Esker and the rower Lotte Esker."),
		orchard: passage("The Glass Orchard", "The Glass Orchard is a 1962 novel about a gardener who goes blind. It won the Halvard Prize and was filmed in 1970."),
		tram:    passage("Tram", "A tram is a rail vehicle that runs on tracks in public streets. The first electric line opened in 1881."),
		bridge:  passage("Merrow Bridge", "Merrow Bridge spans the Ouse and was opened to traffic in 1901."),
	}
}

// abstainItems are steps that say that a fact can't be found; in half of them
// the passages state it.
func abstainItems() []Item {
	t := sharedTexts()
	return []Item{
		abstaining("wife, other wording", unjustified, "Who was the spouse of Nils Harrow?", "Nils Harrow spouse", "The passages do not mention the spouse of Nils Harrow.", t.orchard, t.harrow),
		abstaining("date at the end", unjustified, "When did Paul Esker die?", "date of death of Paul Esker", "I could not find the date of death of Paul Esker.", t.surname, t.esker),
		abstaining("capital after a move", unjustified, "What is the capital of Tamar Province?", "capital of Tamar Province", "The capital of Tamar Province cannot be determined from the results.", t.tamar),
		abstaining("founding year", unjustified, "When was the Norvik Observatory founded?", "Norvik Observatory founding year", "The results do not say when the Norvik Observatory was founded.", t.tveit),
		abstaining("place of death", unjustified, "Where did Paul Esker die?", "place of death of Paul Esker", "The results do not mention where Paul Esker died.", t.esker, t.brask),
		abstaining("nationality", unjustified, "What is the nationality of Mira Dahl?", "nationality of Mira Dahl", "The nationality of Mira Dahl is not mentioned.", t.dahl),
		abstaining("how many", unjustified, "How many people were aboard the SS Orlanda when she sank?", "number of people aboard the SS Orlanda", "I could not find how many people were aboard the SS Orlanda.", t.ship),
		abstaining("prize", unjustified, "Which prize did The Glass Orchard win?", "prize won by The Glass Orchard", "The passages do not mention a prize won by The Glass Orchard.", t.harrow, t.orchard),
		abstaining("founder's death", justified, "When did Elsa Tveit die?", "date of death of Elsa Tveit", "The passages do not mention when Elsa Tveit died.", t.tveit),
		abstaining("namesake", justified, "What is the nationality of the composer Hugo Lenz?", "nationality of the composer Hugo Lenz", "The results do not mention the nationality of the composer Hugo Lenz.", t.lenz),
		abstaining("surname page", justified, "When was Paul Esker born?", "Paul Esker birth year", "I could not find the birth year of Paul Esker.", t.surname),
		abstaining("country of a museum", justified, "In which country is the Brask Museum?", "country of the Brask Museum", "The passages do not say in which country the Brask Museum is.", t.brask),
		abstaining("book without its author's wife", justified, "Who was the spouse of Nils Harrow?", "Nils Harrow spouse", "The passages do not mention the spouse of Nils Harrow.", t.orchard),
		abstaining("captain", justified, "Who was the captain of the SS Orlanda?", "captain of the SS Orlanda", "The captain of the SS Orlanda is not mentioned.", t.ship),
		abstaining("population", justified, "What is the population of Tamar Province?", "population of Tamar Province", "The results do not mention the population of Tamar Province.", t.tamar),
		abstaining("teacher", justified, "Who taught Mira Dahl the cello?", "cello teacher of Mira Dahl", "I could not find who taught Mira Dahl the cello.", t.dahl, t.lenz),
	}
}

func abstaining(name, want, question, query, says string, passages ...schema.Passage) Item {
	return Item{Name: name, Stage: schema.StageAbstain, Want: want, Step: schema.Step{
		Index: 1, Kind: schema.KindSearch, Question: question, Query: query, Text: says, Passages: passages,
	}}
}
