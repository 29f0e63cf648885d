package llm

import "errors"

// DefaultEvidenceRunes bounds the passages in a prompt: about 3,000 tokens.
const DefaultEvidenceRunes = 12_000

// Setup is what a stage's judge is built from.
type Setup struct {
	Completer Completer
	Fencer    *Fencer
	// PromptDir holds replacements of the built-in prompts, <stage>.txt each;
	// empty: none.
	PromptDir string
	// EvidenceRunes bounds the passages in a prompt; 0 takes the default.
	EvidenceRunes int
}

// Checked returns s with its defaults, or says what it lacks.
func (s Setup) Checked() (Setup, error) {
	if s.Completer == nil {
		return s, errors.New("llm judge: no completer")
	}
	if s.Fencer == nil {
		return s, errors.New("llm judge: no fencer")
	}
	if s.EvidenceRunes <= 0 {
		s.EvidenceRunes = DefaultEvidenceRunes
	}
	return s, nil
}
