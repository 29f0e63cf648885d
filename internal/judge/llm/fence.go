package llm

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fencer makes the codes that mark text of strangers as data. A code is an
// HMAC of the text under a secret of the deployment: who wrote the text can't
// have known it, so can't close the fence; yet the same text always gets the
// same code, so that prefix caches and verdict caches hit.
type Fencer struct{ key []byte }

// NewFencer returns a Fencer for a deployment's secret. Processes that share
// the secret render the same prompts. An empty secret gets a random one, good
// for this process alone.
func NewFencer(secret Secret) *Fencer {
	if !secret.Empty() {
		sum := sha256.Sum256([]byte("stepgap fence\x00" + secret.Reveal()))
		return &Fencer{key: sum[:]}
	}
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the program instead
	return &Fencer{key: key}
}

// codeBytes is the length of a code before it is written in hex: a guess is
// right once in 4 billion, and codes cost tokens on every call.
const codeBytes = 4

// code returns the code for parts, which no part contains.
func (f *Fencer) code(parts []string) string {
	for round := byte(0); ; round++ {
		mac := hmac.New(sha256.New, f.key)
		mac.Write([]byte{round})
		for _, p := range parts {
			sum := sha256.Sum256([]byte(p)) // fixed length: no two lists of parts run together alike
			mac.Write(sum[:])
		}
		code := hex.EncodeToString(mac.Sum(nil)[:codeBytes])
		clash := false
		for _, p := range parts {
			clash = clash || strings.Contains(p, code)
		}
		if !clash || round == 255 {
			return code
		}
	}
}

// defuse makes text of strangers harmless as far as the tokenizer goes, and
// otherwise leaves it as it is, so that quotes from it can still be found:
// chat-control tokens, which many servers honour anywhere in the text, are
// broken by a space; control and invisible format characters become spaces or
// vanish; invalid UTF-8 becomes U+FFFD.
func defuse(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\u200d', r == '\u200c': // joiners are letters' business
			return r
		case unicode.Is(unicode.Cf, r):
			return -1
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		}
		return r
	}, text)
	return controlTokens().Replace(text)
}

// controlTokens breaks the chat-control tokens of the common model families.
func controlTokens() *strings.Replacer {
	tokens := []string{
		"<s>", "</s>", "<bos>", "<eos>", "<pad>", "<unk>",
		"<start_of_turn>", "<end_of_turn>", "<think>", "</think>", "<tool_call>", "</tool_call>",
		"[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[TOOL_CALLS]",
		"<<SYS>>", "<</SYS>>", "<SPECIAL_",
	}
	pairs := make([]string, 0, 2*len(tokens)+8)
	for _, t := range tokens {
		pairs = append(pairs, t, t[:1]+" "+t[1:])
	}
	// <|im_start|>, <｜begin▁of▁sentence｜> and their kin.
	pairs = append(pairs, "<|", "< |", "|>", "| >", "<｜", "< ｜", "｜>", "｜ >")
	return strings.NewReplacer(pairs...)
}
