package metrics

// Metric names a function of a Tally. Its text is the key in files.
type Metric string

// The metrics. Precision, Recall and F1 without a label are those of the class
// gap: any label but none.
const (
	// SF1 is F1 of the class gap over steps.
	SF1       Metric = "sf1"
	Precision Metric = "precision"
	Recall    Metric = "recall"
	// QF1 is F1 over questions, of which one is positive if any of its steps is
	// a gap. Flagging every step gets a high one.
	QF1 Metric = "qf1"
	// BalancedAccuracy is the mean of the recalls of gap and none.
	BalancedAccuracy Metric = "ba"
	// Kappa is Cohen's, over the four labels.
	Kappa Metric = "kappa"
	// MacroF1 is the mean F1 over those of the four labels that occur in gold.
	MacroF1 Metric = "macro_f1"
	// Accuracy is the share of steps with the right one of the four labels.
	Accuracy Metric = "accuracy"
	// Coverage is the share of steps that were graded.
	Coverage Metric = "coverage"

	F1None          Metric = "f1_none"
	F1Contradicted  Metric = "f1_contradicted_claim"
	F1Irrelevant    Metric = "f1_irrelevant_evidence"
	F1MissingBridge Metric = "f1_missing_bridge"
)

// Main lists the metrics of every table, in their order there.
func Main() []Metric { return []Metric{SF1, QF1, BalancedAccuracy, Kappa, MacroF1} }

// All lists every metric.
func All() []Metric {
	return append(Main(), Precision, Recall, Accuracy, Coverage, F1None, F1Contradicted, F1Irrelevant, F1MissingBridge)
}

// Name is the metric's name for people.
func (m Metric) Name() string {
	switch m {
	case SF1:
		return "sF1"
	case QF1:
		return "Q-F1"
	case BalancedAccuracy:
		return "BA"
	case MacroF1:
		return "macro-F1"
	case F1None:
		return "F1 OK"
	case F1Contradicted:
		return "F1 CC"
	case F1Irrelevant:
		return "F1 IE"
	case F1MissingBridge:
		return "F1 MB"
	default:
		return string(m)
	}
}

// Of computes the metric.
func (m Metric) Of(t *Tally) Value {
	if t.All() == 0 {
		return undefined(Empty)
	}
	switch m {
	case SF1:
		return t.gap().f1()
	case Precision:
		return t.gap().precision()
	case Recall:
		return t.gap().recall()
	case QF1:
		return t.question().f1()
	case BalancedAccuracy:
		return t.balanced()
	case Kappa:
		return t.kappa()
	case MacroF1:
		return t.macroF1()
	case Accuracy:
		return share(t.agreed(), t.All())
	case Coverage:
		return share(t.All()-t.Ungraded(), t.All())
	case F1None:
		return t.label(0).f1()
	case F1Contradicted:
		return t.label(1).f1()
	case F1Irrelevant:
		return t.label(2).f1()
	case F1MissingBridge:
		return t.label(3).f1()
	default:
		return undefined(UnknownMetric)
	}
}

// balanced counts an ungraded step as missed in either class.
func (t *Tally) balanced() Value {
	gap, none := t.gap(), t.label(0)
	if gap.gold == 0 || none.gold == 0 {
		return undefined(OneClass)
	}
	return Number((float64(gap.right)/float64(gap.gold) + float64(none.right)/float64(none.gold)) / 2)
}

// agreed is the number of steps whose prediction is the gold label.
func (t *Tally) agreed() int {
	n := 0
	for l := range Labels {
		n += t.Steps[l][l]
	}
	return n
}

// kappa takes ungraded for a label of its own, which gold never has.
func (t *Tally) kappa() Value {
	all := t.All()
	chance := 0
	for l := range Labels {
		chance += t.gold(l) * t.predicted(l)
	}
	if chance == all*all {
		return undefined(OneClass) // one label alone on either side
	}
	// In whole numbers as far as it goes: (observed - expected)/(1 - expected).
	return Number(float64(t.agreed()*all-chance) / float64(all*all-chance))
}

func (t *Tally) macroF1() Value {
	sum, occurring := 0.0, 0
	for l := range Labels {
		h := t.label(l)
		if h.gold == 0 {
			continue
		}
		occurring++
		sum += 2 * float64(h.right) / float64(h.gold+h.predicted)
	}
	return Number(sum / float64(occurring)) // some label occurs, as there are steps
}
