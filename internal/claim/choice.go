package claim

// Choice returns the two things that a question offers to choose from ("Who
// died earlier, A or B?"), the one that the answer takes first. It is false
// where the question offers no choice or the answer takes neither.
func Choice(question, answer string) (chosen, other string, ok bool) {
	q, a := tidyQuestion(question), tidyAnswer(answer)
	if q == "" || a == "" {
		return "", "", false
	}
	_, left, right := options(q, a)
	switch {
	case left == "" || right == "":
		return "", "", false
	case sameOption(left, a) == sameOption(right, a):
		return "", "", false
	case sameOption(left, a):
		return left, right, true
	default:
		return right, left, true
	}
}
