package nlieval

import (
	"crypto/md5"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// normal is how premises are compared: training and measuring must agree on it.
func normal(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// leftOut reports whether the training left out the pairs of a premise: those
// of a tenth of the premises, by their MD5 read as a number, modulo ten.
func leftOut(premise string) bool {
	sum := md5.Sum([]byte(normal(premise)))
	n := new(big.Int).SetBytes(sum[:])
	return n.Mod(n, big.NewInt(10)).Sign() == 0
}

// halves divides the pairs of a file that has no parts of its own.
func halves(pairs []Pair) (train, held []Pair) {
	for _, p := range pairs {
		if leftOut(p.Premise) {
			held = append(held, p)
		} else {
			train = append(train, p)
		}
	}
	return train, held
}

// unseen drops the pairs whose premise stands in any file that the model was
// trained on, and repeated pairs. The sets share premises, so leaving out a
// part of each is not enough.
func unseen(held []Pair, trained map[string]bool) []Pair {
	var out []Pair
	seen := make(map[[2]string]bool)
	for _, p := range held {
		at := [2]string{normal(p.Premise), normal(p.Hypothesis)}
		if trained[at[0]] || seen[at] {
			continue
		}
		seen[at] = true
		out = append(out, p)
	}
	return out
}

//go:embed split.json
var splitJSON []byte

// pinned is what the rule came to for one set.
type pinned struct {
	Name   string `json:"name"`
	Pairs  int    `json:"pairs"`
	SHA256 string `json:"sha256"`
}

// checkSplit compares a set with what split.json has of it.
func checkSplit(s Set) error {
	var split struct {
		Sets []pinned `json:"sets"`
	}
	if err := json.Unmarshal(splitJSON, &split); err != nil {
		return fmt.Errorf("reading split.json: %w", err)
	}
	got := digest(s)
	for _, want := range split.Sets {
		if want.Name != s.Name {
			continue
		}
		if got != want {
			return fmt.Errorf("%s has %d pairs with the checksum %.12s where the committed split has %d with %.12s: the data set is another version", s.Name, got.Pairs, got.SHA256, want.Pairs, want.SHA256)
		}
		return nil
	}
	return fmt.Errorf("%s is not in split.json", s.Name)
}

// digest pins a set: the SHA-256 over its pairs in order, each as label, tab,
// premise, tab, hypothesis, line feed.
func digest(s Set) pinned {
	h := sha256.New()
	for _, p := range s.Pairs {
		fmt.Fprintf(h, "%d\t%s\t%s\n", p.Label, p.Premise, p.Hypothesis)
	}
	return pinned{Name: s.Name, Pairs: len(s.Pairs), SHA256: hex.EncodeToString(h.Sum(nil))}
}
