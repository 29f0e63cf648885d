package nlieval

import (
	"path/filepath"
)

// Sets reads the sets of a folder that holds nli/ and labelled/: first those of
// which the default model's training left a part out, then one that it never
// saw, then one that it was trained on. Each is checked against the committed
// split.
func Sets(folder string) ([]Set, error) {
	r := reader{folder: folder, trained: map[string]bool{}}
	mnli := r.divided("nli/mnli_dev.csv")
	snli := r.divided("nli/snli_dev.csv")
	for _, name := range []string{"nli/cad_train.tsv", "nli/cad_dev.tsv"} {
		r.train(r.tsv(name, "sentence1", "sentence2", "gold_label"))
	}
	cad := r.tsv("nli/cad_test.tsv", "sentence1", "sentence2", "gold_label")
	r.train(r.tsv("nli/conj_train_15k.tsv", "Premise", "Hypothesis", "Label"))
	conj := r.tsv("nli/conj_dev.tsv", "Premise", "Hypothesis", "Label")
	r.train(r.read("nli/fever_sym_dev.jsonl", readFever))
	fever := r.read("nli/fever_sym_test.jsonl", readFever)
	wice := r.read("labelled/wice_dev_half.jsonl", readWiCE)
	fm2 := r.read("labelled/fm2_dev_half.jsonl", readFM2)
	if r.err != nil {
		return nil, r.err
	}
	sets := []Set{
		{Name: "MNLI", Part: "a tenth of dev, by premise", Pairs: unseen(mnli, r.trained)},
		{Name: "SNLI", Part: "a tenth of dev, by premise", Pairs: unseen(snli, r.trained)},
		{Name: "counterfactual SNLI", Part: "test", Pairs: unseen(cad, r.trained)},
		{Name: "ConjNLI", Part: "dev", Pairs: unseen(conj, r.trained)},
		{Name: "FEVER-Symmetric", Part: "test", Pairs: unseen(fever, r.trained)},
		{Name: "WiCE", Part: "half of dev; supported or not", Pairs: wice, TwoWay: true},
		{Name: "FM2", Part: "half of dev, gold evidence", Pairs: fm2, Trained: true},
	}
	for _, s := range sets {
		if err := checkSplit(s); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// reader reads files until the first error, and keeps the premises of those
// that the model was trained on.
type reader struct {
	folder  string
	trained map[string]bool
	err     error
}

func (r *reader) read(name string, read func(string) ([]Pair, error)) []Pair {
	if r.err != nil {
		return nil
	}
	var pairs []Pair
	pairs, r.err = read(filepath.Join(r.folder, name))
	return pairs
}

func (r *reader) tsv(name, premise, hypothesis, label string) []Pair {
	return r.read(name, func(path string) ([]Pair, error) { return readTSV(path, premise, hypothesis, label) })
}

// divided returns what training left out of a file, and notes the rest.
func (r *reader) divided(name string) []Pair {
	train, held := halves(r.read(name, readCSV))
	r.train(train)
	return held
}

func (r *reader) train(pairs []Pair) {
	for _, p := range pairs {
		r.trained[normal(p.Premise)] = true
	}
}
