package padding

// Fact is a hand-written relation in a passage, with three claims about it.
type Fact struct {
	// Title is the passage's; Sentence decides and stands between Before and
	// After.
	Title, Before, Sentence, After string
	Question, Query                string
	// Claims that Sentence entails, contradicts, and leaves open.
	Entailed, Contradicted, Open string
}

// Text is the passage's text.
func (f Fact) Text() string { return f.Before + " " + f.Sentence + " " + f.After }

// Claims are all three.
func (f Fact) Claims() []string { return []string{f.Entailed, f.Contradicted, f.Open} }

// Facts lists all; everything named in them is invented.
func Facts() []Fact {
	return []Fact{
		{"Harrow Mill", "The mill stands on the Wend.", "Harrow Mill was built in 1790 by Josiah Pell.", "It ground barley until 1911.",
			"Who built Harrow Mill?", "Harrow Mill builder",
			"Josiah Pell built Harrow Mill.", "Harrow Mill was built in 1845.", "Josiah Pell had three daughters."},
		{"Ana Ruel", "Ana Ruel was a Portuguese painter.", "She was born in Porto and died in Lyon in 1931.", "Her letters are kept in Braga.",
			"Where did Ana Ruel die?", "Ana Ruel death place",
			"Ana Ruel died in Lyon.", "Ana Ruel was born in Madrid.", "Ana Ruel was married twice."},
		{"The Grey Heron", "It was shot in Tromso.", "The Grey Heron is a 1971 film directed by Tomas Lind.", "Critics disliked its ending.",
			"Who directed The Grey Heron?", "The Grey Heron film director",
			"Tomas Lind directed The Grey Heron.", "The Grey Heron was directed by Ida Moor.", "The Grey Heron won four prizes."},
		{"Port Selkirk", "A ferry calls twice a day.", "Port Selkirk is the largest town on the island, with 38,872 inhabitants.", "Its market is held on Fridays.",
			"How many people live in Port Selkirk?", "Port Selkirk population",
			"Port Selkirk has 38,872 inhabitants.", "Port Selkirk has 51,200 inhabitants.", "Port Selkirk was founded by monks."},
		{"Levin & Sons", "The firm makes clocks.", "Levin & Sons was founded in Rome in 1902 by Aldo Levin.", "Its workshop burnt down once.",
			"Who founded Levin & Sons?", "Levin & Sons founder",
			"Aldo Levin founded Levin & Sons.", "Levin & Sons was founded in Milan.", "Levin & Sons employs ninety people."},
		{"Orrin Vale", "Orrin Vale was an English goalkeeper.", "He played for the Hull Rovers from 1921 to 1929.", "A street is named after him.",
			"Which club did Orrin Vale play for?", "Orrin Vale club",
			"Orrin Vale played for the Hull Rovers.", "Orrin Vale played for the Leeds Wanderers and never for the Hull Rovers.", "Orrin Vale was a teacher before."},
		{"Mount Sare", "Its north face is steep.", "Mount Sare, at 3,214 metres, is the highest mountain of the Dray range.", "The hut below it sleeps forty.",
			"How high is Mount Sare?", "Mount Sare height",
			"Mount Sare is 3,214 metres high.", "Mount Sare is 2,150 metres high.", "Mount Sare was first climbed by a priest."},
		{"Corin Hale", "He lived in Dublin then.", "Corin Hale wrote the novel The Salt Road, published in 1958.", "It was translated into Dutch.",
			"Who wrote The Salt Road?", "The Salt Road novel author",
			"The Salt Road was written by Corin Hale.", "The Salt Road was written by Ada Birch.", "Corin Hale disliked The Salt Road."},
		{"Battle of Arden", "Snow had fallen for a week.", "The Battle of Arden was won by the northern army under General Voss.", "Both sides withdrew in spring.",
			"Who won the Battle of Arden?", "Battle of Arden winner",
			"General Voss won the Battle of Arden.", "The Battle of Arden was lost by the northern army.", "General Voss was wounded at Arden."},
		{"Lake Ommer", "Otters live on its shore.", "Lake Ommer freezes from December to April every year.", "The road along it is closed then.",
			"Does Lake Ommer freeze?", "Lake Ommer ice",
			"Lake Ommer is frozen in January.", "Lake Ommer never freezes.", "Lake Ommer is owned by the state."},
		{"Selma Dray", "She taught in Bergen.", "Selma Dray received the Orme Medal in 1977 for her work on tides.", "Her notebooks fill two shelves.",
			"Which prize did Selma Dray receive?", "Selma Dray medal",
			"Selma Dray received the Orme Medal.", "Selma Dray received the Orme Medal in 1988.", "Selma Dray gave the medal to a museum."},
		{"Kestrel Radio", "It broadcasts from a church tower.", "Kestrel Radio was bought by Novacast in 2004.", "Listeners objected to the sale.",
			"Who bought Kestrel Radio?", "Kestrel Radio owner",
			"Novacast bought Kestrel Radio.", "Kestrel Radio was bought by Novacast in 2011.", "Novacast paid two million for Kestrel Radio."},
		{"Tilda Orr", "Tilda Orr studied in Ghent.", "She married the chemist Piet Raak in 1934.", "They kept a house by the sea.",
			"Who was the husband of Tilda Orr?", "Tilda Orr husband",
			"Tilda Orr's husband was Piet Raak.", "Tilda Orr was never married.", "Tilda Orr had a daughter named Lies."},
		{"Brae Tunnel", "Work on it began at both ends.", "The Brae Tunnel was opened in 1968 and is 4,310 metres long.", "A fan at its west end is as tall as a house.",
			"When was the Brae Tunnel opened?", "Brae Tunnel opening year",
			"The Brae Tunnel was opened in 1968.", "The Brae Tunnel was opened in 1974.", "The Brae Tunnel cost nine lives."},
		{"Quince (band)", "Two of its members were cousins.", "Quince is a folk band from Aberwen, formed in 1988.", "Its second record was made in a barn.",
			"Where is the band Quince from?", "Quince folk band origin",
			"Quince is a band from Aberwen.", "Quince was formed in 1995.", "Quince toured in Canada."},
		{"Varo Linn", "He kept no diary.", "Varo Linn, the son of the judge Otto Linn, was the last mayor of Esk.", "His desk is in the museum.",
			"Who was the father of Varo Linn?", "Varo Linn father",
			"Varo Linn's father was Otto Linn.", "Varo Linn was the first mayor of Esk.", "Otto Linn died before his son."},
	}
}
