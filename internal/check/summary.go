package check

import "github.com/stepgap/stepgap/pkg/schema"

// Summary counts what was checked.
type Summary struct {
	Rollouts int                `json:"rollouts"`
	Steps    int                `json:"steps"`
	Labels   map[schema.Gap]int `json:"labels"`
	// Reasons counts ungraded steps by reason.
	Reasons map[schema.Reason]int `json:"reasons,omitempty"`
	// Near counts labels for which a score came within epsilon of its threshold.
	Near int `json:"near_threshold"`
	// Complete counts rollouts whose every step is graded.
	Complete int     `json:"complete"`
	Warnings int     `json:"warnings"`
	Seconds  float64 `json:"seconds"`
	// Conclusions are counted by whether the log says that the answer was
	// right, and by whether they were found entailed.
	Conclusions map[Answered]Entailed `json:"conclusions"`
}

// Answered is what the log says of a rollout's answer.
type Answered string

// What logs say.
const (
	AnsweredRight   Answered = "right"
	AnsweredWrong   Answered = "wrong"
	AnsweredUnknown Answered = "unknown"
)

// Entailed counts conclusions.
type Entailed struct {
	Entailed int `json:"entailed"`
	All      int `json:"all"`
}

// NewSummary returns a summary of nothing.
func NewSummary() Summary {
	return Summary{Labels: map[schema.Gap]int{}, Reasons: map[schema.Reason]int{}, Conclusions: map[Answered]Entailed{}}
}

// StepsPerSecond is 0 before anything was done.
func (s *Summary) StepsPerSecond() float64 {
	if s.Seconds == 0 {
		return 0
	}
	return float64(s.Steps) / s.Seconds
}

func (s *Summary) add(r *Result) {
	s.Rollouts++
	s.Steps += len(r.Steps)
	s.Warnings += len(r.Warnings)
	if r.Complete {
		s.Complete++
	}
	answered := AnsweredUnknown
	if r.Correct != nil {
		answered = AnsweredWrong
		if *r.Correct {
			answered = AnsweredRight
		}
	}
	for _, st := range r.Steps {
		s.Labels[st.Label]++
		if st.Label == schema.GapUngraded {
			s.Reasons[st.Code]++
		}
		if near(st.Flags) {
			s.Near++
		}
		if st.Kind == schema.KindConclusion {
			e := s.Conclusions[answered]
			e.All++
			if st.Label == schema.GapNone {
				e.Entailed++
			}
			s.Conclusions[answered] = e
		}
	}
}

// Merge adds another summary's counts.
func (s *Summary) Merge(o Summary) {
	s.Rollouts += o.Rollouts
	s.Steps += o.Steps
	s.Complete += o.Complete
	s.Near += o.Near
	s.Warnings += o.Warnings
	s.Seconds += o.Seconds
	for k, n := range o.Labels {
		s.Labels[k] += n
	}
	for k, n := range o.Reasons {
		s.Reasons[k] += n
	}
	for k, e := range o.Conclusions {
		have := s.Conclusions[k]
		have.Entailed += e.Entailed
		have.All += e.All
		s.Conclusions[k] = have
	}
}
