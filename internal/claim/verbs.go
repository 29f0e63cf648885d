package claim

import "strings"

// irregular verbs that questions are made of: base, past, participle.
func irregular(verb string) (past, participle string) {
	switch verb {
	case "be":
		return "was", "been"
	case "become":
		return "became", "become"
	case "begin":
		return "began", "begun"
	case "break":
		return "broke", "broken"
	case "bring":
		return "brought", "brought"
	case "build":
		return "built", "built"
	case "buy":
		return "bought", "bought"
	case "choose":
		return "chose", "chosen"
	case "come":
		return "came", "come"
	case "die":
		return "died", "died"
	case "do":
		return "did", "done"
	case "draw":
		return "drew", "drawn"
	case "fall":
		return "fell", "fallen"
	case "fight":
		return "fought", "fought"
	case "find":
		return "found", "found"
	case "fly":
		return "flew", "flown"
	case "get":
		return "got", "gotten"
	case "give":
		return "gave", "given"
	case "go":
		return "went", "gone"
	case "grow":
		return "grew", "grown"
	case "have":
		return "had", "had"
	case "hold":
		return "held", "held"
	case "know":
		return "knew", "known"
	case "lead":
		return "led", "led"
	case "leave":
		return "left", "left"
	case "lose":
		return "lost", "lost"
	case "make":
		return "made", "made"
	case "mean":
		return "meant", "meant"
	case "meet":
		return "met", "met"
	case "run":
		return "ran", "run"
	case "see":
		return "saw", "seen"
	case "sell":
		return "sold", "sold"
	case "sing":
		return "sang", "sung"
	case "speak":
		return "spoke", "spoken"
	case "spend":
		return "spent", "spent"
	case "take":
		return "took", "taken"
	case "teach":
		return "taught", "taught"
	case "tell":
		return "told", "told"
	case "win":
		return "won", "won"
	case "wear":
		return "wore", "worn"
	case "write":
		return "wrote", "written"
	case "sit":
		return "sat", "sat"
	case "stand":
		return "stood", "stood"
	case "rise":
		return "rose", "risen"
	case "put", "set", "cut", "cost", "hit", "read":
		return verb, verb
	}
	return "", ""
}

// isBaseVerb knows the verbs that questions commonly ask with.
func isBaseVerb(w string) bool {
	if past, _ := irregular(w); past != "" {
		return true
	}
	switch w {
	case "appear", "live", "play", "share", "need", "contain", "work", "star", "feature", "require", "use", "belong",
		"serve", "attend", "study", "receive", "release", "marry", "own", "move", "join", "represent", "perform",
		"create", "produce", "direct", "publish", "record", "compose", "design", "develop", "found", "start", "open",
		"close", "end", "happen", "occur", "originate", "form", "host", "include", "compete", "graduate", "retire",
		"refer", "belief", "believe", "eat", "drink", "speak", "cause", "cover", "border", "flow", "lie", "exist", "earn",
		"score", "coach", "manage", "defeat", "beat", "participate", "contribute", "translate", "invent", "discover", "visit",
		"inspire", "name", "call", "prefer", "want", "like", "love", "support", "allow", "accept", "survive", "return",
		"succeed", "replace", "kill", "help", "carry", "fit", "pass", "pay", "resemble", "identify", "collaborate",
		"emigrate", "immigrate", "settle", "reside", "rule", "reign", "locate", "premiere", "air", "debut", "portray",
		"voice", "narrate", "take", "hurt", "harm", "benefit", "produces", "agree", "train", "teach", "enjoy", "possess":
		return true
	}
	return false
}

func isIrregularParticiple(w string) bool {
	switch w {
	case "born", "built", "held", "known", "made", "written", "won", "sung", "shown", "led", "given", "taken", "chosen",
		"found", "drawn", "sold", "spoken", "broken", "begun", "become", "flown", "grown", "worn", "taught", "told",
		"brought", "bought", "met", "left", "lost", "put", "set", "run", "cut", "seen", "driven", "beaten", "been", "got", "had", "done", "come", "gone", "read", "laid", "hit", "sworn", "bred", "fought",
		"lit", "shot", "struck", "sunk", "dug", "paid", "kept", "sent", "spent", "torn", "thrown", "hung", "bound", "hidden", "frozen",
		"stolen", "woven", "split", "shut", "cast", "caught", "slain", "overthrown", "rebuilt", "rewritten", "undertaken", "overseen":
		return true
	}
	return false
}

// isParticiple takes regular "-ed" forms and the irregular ones.
func isParticiple(w string) bool {
	return isIrregularParticiple(w) || len(w) > 3 && strings.HasSuffix(w, "ed")
}

// pastOf returns the past of a base verb, or "" where it isn't known.
func pastOf(verb string) string {
	if past, _ := irregular(verb); past != "" {
		return past
	}
	if !isBaseVerb(verb) {
		return ""
	}
	switch {
	case strings.HasSuffix(verb, "e"):
		return verb + "d"
	case strings.HasSuffix(verb, "y") && !strings.ContainsAny(verb[len(verb)-2:len(verb)-1], "aeiou"):
		return verb[:len(verb)-1] + "ied"
	case verb == "star":
		return "starred"
	}
	return verb + "ed"
}

// thirdPerson returns "requires" for "require".
func thirdPerson(verb string) string {
	switch {
	case verb == "have":
		return "has"
	case verb == "be":
		return "is"
	case verb == "go" || verb == "do":
		return verb + "es"
	case strings.HasSuffix(verb, "s"), strings.HasSuffix(verb, "sh"), strings.HasSuffix(verb, "ch"), strings.HasSuffix(verb, "x"):
		return verb + "es"
	case len(verb) > 1 && strings.HasSuffix(verb, "y") && !strings.ContainsAny(verb[len(verb)-2:len(verb)-1], "aeiou"):
		return verb[:len(verb)-1] + "ies"
	}
	return verb + "s"
}
