package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// minToken is the fewest characters of a token, so that none can be guessed.
const minToken = 16

// Token is one caller.
type Token struct {
	// Name is for logs and rates; it is no secret.
	Name string
	// Runs lists the runs that the caller may use: names, or beginnings that
	// end in "*".
	Runs []string
	sum  [sha256.Size]byte
}

// Tokens are the callers that a gateway lets in.
type Tokens struct{ all []Token }

// tokenFile is a file of tokens. A token is given as itself or by its SHA-256,
// so that the file need hold no secret.
type tokenFile struct {
	Tokens []struct {
		Name   string   `yaml:"name"`
		Token  string   `yaml:"token"`
		SHA256 string   `yaml:"sha256"`
		Runs   []string `yaml:"runs"`
	} `yaml:"tokens"`
}

// LoadTokens reads the tokens of a YAML file, if path is not empty, and single,
// one token that may use every run, if it is not empty. Without either it
// returns nil.
func LoadTokens(path, single string) (*Tokens, error) {
	var t Tokens
	if single != "" {
		if err := t.add("env", single, "", []string{"*"}); err != nil {
			return nil, err
		}
	}
	if path == "" {
		if len(t.all) == 0 {
			return nil, nil
		}
		return &t, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the gateway's tokens: %w", err)
	}
	var file tokenFile
	dec := yaml.NewDecoder(strings.NewReader(string(b)))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		// The decoder's words can hold the line that it could not read.
		return nil, fmt.Errorf("token file %s is not YAML of the form {tokens: [{name, token or sha256, runs}]}", path)
	}
	for i, e := range file.Tokens {
		if err := t.add(e.Name, e.Token, e.SHA256, e.Runs); err != nil {
			return nil, fmt.Errorf("token file %s, entry %d: %w", path, i+1, err)
		}
	}
	if len(file.Tokens) == 0 {
		return nil, fmt.Errorf("token file %s holds no tokens", path)
	}
	return &t, nil
}

func (t *Tokens) add(name, token, sum string, runs []string) error {
	if name == "" {
		return errors.New("a token needs a name")
	}
	if slices.ContainsFunc(t.all, func(o Token) bool { return o.Name == name }) {
		return fmt.Errorf("the name %q is used twice", name)
	}
	if len(runs) == 0 {
		return fmt.Errorf("token %q lists no runs; write runs: [\"*\"] for all", name)
	}
	for _, r := range runs {
		if i := strings.IndexByte(r, '*'); r == "" || i >= 0 && i != len(r)-1 {
			return fmt.Errorf("token %q: run %q is neither a name nor a beginning that ends in *", name, r)
		}
	}
	entry := Token{Name: name, Runs: runs}
	switch {
	case (token == "") == (sum == ""):
		return fmt.Errorf("token %q needs either token or sha256", name)
	case token != "":
		if len(token) < minToken {
			return fmt.Errorf("token %q is shorter than %d characters", name, minToken)
		}
		entry.sum = sha256.Sum256([]byte(token))
	default:
		b, err := hex.DecodeString(sum)
		if err != nil || len(b) != sha256.Size {
			return fmt.Errorf("token %q: sha256 is not 64 hex digits", name)
		}
		copy(entry.sum[:], b)
	}
	t.all = append(t.all, entry)
	return nil
}

// of finds the caller of a request: a bearer token, or, for clients that can
// only be given a URL, the password of basic authentication.
func (t *Tokens) of(r *http.Request) (*Token, *Problem) {
	const do = "send the header Authorization: Bearer TOKEN, or put the token into the URL as http://x:TOKEN@host/"
	given := r.Header.Get("Authorization")
	scheme, value, _ := strings.Cut(given, " ")
	switch strings.ToLower(scheme) {
	case "":
		return nil, problem(http.StatusUnauthorized, codeToken, do, "the request carries no token")
	case "bearer":
		value = strings.TrimSpace(value)
	case "basic":
		_, value, _ = r.BasicAuth()
	default:
		return nil, problem(http.StatusUnauthorized, codeToken, do, "the Authorization header is neither Bearer nor Basic")
	}
	sum := sha256.Sum256([]byte(value))
	var found *Token
	for i := range t.all { // all of them, so that time tells nothing
		if subtle.ConstantTimeCompare(sum[:], t.all[i].sum[:]) == 1 {
			found = &t.all[i]
		}
	}
	if found == nil {
		return nil, problem(http.StatusUnauthorized, codeToken, "ask whoever runs this gateway for a token", "the token is not known here")
	}
	return found, nil
}

// mayUse reports whether the caller may use run; nil, where there are no tokens,
// may use all.
func (t *Token) mayUse(run string) bool {
	if t == nil {
		return true
	}
	return slices.ContainsFunc(t.Runs, func(pattern string) bool {
		start, open := strings.CutSuffix(pattern, "*")
		return run == pattern || open && strings.HasPrefix(run, start)
	})
}
