package models

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// DefaultEndpoint is the hub that is asked where HF_ENDPOINT is not set.
const DefaultEndpoint = "https://huggingface.co"

// Env is what the environment says of the hub, in the variables that other
// tools of the hub read as well.
type Env struct {
	// Endpoint is the hub's base URL (HF_ENDPOINT).
	Endpoint *url.URL
	// Token is sent to Endpoint alone (HF_TOKEN, or the file of HF_TOKEN_PATH,
	// $HF_HOME/token or ~/.cache/huggingface/token).
	Token Token
	// Offline forbids every request (HF_HUB_OFFLINE).
	Offline bool
}

// Token is a secret: it prints as a mark, however it is printed.
type Token string

// String hides the token.
func (t Token) String() string {
	if t == "" {
		return "no token"
	}
	return "(a token)"
}

// GoString hides the token.
func (t Token) GoString() string { return t.String() }

// MarshalText hides the token.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// ReadEnv reads the environment.
func ReadEnv(getenv func(string) string) (Env, error) {
	at := getenv("HF_ENDPOINT")
	if at == "" {
		at = DefaultEndpoint
	}
	u, err := url.Parse(strings.TrimSuffix(at, "/"))
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.User != nil {
		return Env{}, errors.New("HF_ENDPOINT must be the base URL of a hub, such as https://huggingface.co, without credentials")
	}
	token, err := readToken(getenv)
	if err != nil {
		return Env{}, err
	}
	return Env{Endpoint: u, Token: token, Offline: truthy(getenv("HF_HUB_OFFLINE"))}, nil
}

func truthy(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

func readToken(getenv func(string) string) (Token, error) {
	if t := strings.TrimSpace(getenv("HF_TOKEN")); t != "" {
		return Token(t), nil
	}
	path, asked := tokenPath(getenv)
	if path == "" {
		return "", nil
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the hub's token: %w", err)
	}
	return Token(strings.TrimSpace(string(b))), nil
}

// tokenPath is where the token lies, and whether the user named that place.
func tokenPath(getenv func(string) string) (path string, asked bool) {
	if p := getenv("HF_TOKEN_PATH"); p != "" {
		return p, true
	}
	if home := getenv("HF_HOME"); home != "" {
		return filepath.Join(home, "token"), false
	}
	if cache := getenv("XDG_CACHE_HOME"); cache != "" {
		return filepath.Join(cache, "huggingface", "token"), false
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".cache", "huggingface", "token"), false
	}
	return "", false
}
