package systems

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/judge"
)

// Prints computes fingerprints of systems, reading each model once.
type Prints struct{ folders map[string]string }

// NewPrints returns one that has read nothing yet.
func NewPrints() *Prints { return &Prints{folders: map[string]string{}} }

// Of is a hash of everything in the settings that can change a label: judges,
// models with their files, prompts, thresholds. The code that decides is not
// part of it: see Program.
func (p *Prints) Of(cfg app.Config) (string, error) {
	k := app.KindsOf(cfg)
	in := struct {
		Kinds                               app.Kinds
		NLI, NLIFile, Deterministic, Device string
		Contradiction, Entailment, Epsilon  float64
		Student                             string
		LLM, Format                         string
		LogProbs, Reasoning                 int
		Prompts, Replay                     string
	}{Kinds: k}
	var err error
	if some(k, func(k judge.Kind) bool { return k == judge.KindNLI }) {
		dir, file, err := app.ModelFolder(cfg)
		if err != nil {
			return "", err
		}
		if in.NLI, err = p.folder(dir); err != nil {
			return "", err
		}
		in.NLIFile, in.Deterministic, in.Device = file, cfg.Deterministic, cfg.Device
		in.Contradiction, in.Entailment, in.Epsilon = cfg.NLIContradiction, cfg.NLIEntailment, cfg.NLIEpsilon
	}
	if some(k, func(k judge.Kind) bool { return k == judge.KindStudent }) {
		if in.Student, err = p.folder(cfg.StudentModel); err != nil {
			return "", err
		}
	}
	if Asks(k) {
		in.LLM, in.Format, in.LogProbs, in.Reasoning = cfg.LLMModel, cfg.LLMFormat, cfg.LLMLogProbs, cfg.LLMReasoning
		if cfg.PromptDir != "" {
			if in.Prompts, err = p.folder(cfg.PromptDir); err != nil {
				return "", err
			}
		}
		if cfg.Replay != "" {
			if in.Replay, err = p.folder(cfg.Replay); err != nil {
				return "", err
			}
		}
	}
	b, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("fingerprint of a system: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// folder hashes the names and contents of the files of a folder, or one file.
func (p *Prints) folder(dir string) (string, error) {
	if h, ok := p.folders[dir]; ok {
		return h, nil
	}
	all := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		one, err := hashFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(all, "%q %s\n", name, one)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("fingerprint of %s: %w", dir, err)
	}
	p.folders[dir] = hex.EncodeToString(all.Sum(nil))
	return p.folders[dir], nil
}

// Program is the hash of the program that runs: code decides labels too.
func Program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("fingerprint of the program: %w", err)
	}
	return hashFile(path)
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
