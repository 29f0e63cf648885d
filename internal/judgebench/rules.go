package judgebench

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/judge/local"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

var (
	reOpening  = regexp.MustCompile(`<<([a-z]+)\n`)
	reEarlier  = regexp.MustCompile(`^step \d+(?: looked for: (.*);)? found: (.*)$`)
	reHeading  = regexp.MustCompile(`^\[\d+\] (.*)$`)
	reNumbered = regexp.MustCompile(`^\((\d+)\) (.*)$`)
	reClosing  = regexp.MustCompile(`\n[0-9A-Za-z]+>>`)
)

// fieldsOf reads the fenced data of a message.
func fieldsOf(message string) map[string]string {
	fields := map[string]string{}
	for {
		at := reOpening.FindStringSubmatchIndex(message)
		if at == nil {
			return fields
		}
		name, rest := message[at[2]:at[3]], message[at[1]:]
		end := reClosing.FindStringIndex(rest)
		if end == nil {
			return fields
		}
		value := rest[:end[0]]
		if value == "(none)" {
			value = ""
		}
		fields[name], message = value, rest[end[1]:]
	}
}

type aimAnswer struct {
	Needed string `json:"needed"`
	Aim    string `json:"aim"`
}

func aim(ctx context.Context, fields map[string]string) (aimAnswer, error) {
	in := entitycheck.Input{Question: fields["question"], Query: fields["query"], Claim: fields["claim"]}
	// Prompts that show query or claim in one field say which it is.
	if query, ok := strings.CutPrefix(fields["step"], "looks for: "); ok {
		in.Query = query
	} else if said, ok := strings.CutPrefix(fields["step"], "concludes: "); ok {
		in.Claim = strings.TrimPrefix(said, "(none)")
	}
	for i, line := range strings.Split(fields["earlier"], "\n") {
		if m := reEarlier.FindStringSubmatch(line); m != nil {
			in.Earlier = append(in.Earlier, schema.Prior{Index: i + 1, Query: m[1], Claim: strings.TrimPrefix(m[2], "(none)")})
		}
	}
	v, err := local.New().Align(ctx, in)
	out := aimAnswer{Needed: "as in " + digestOf(fields), Aim: "misaligned"}
	if v.Aligned {
		out.Aim = "aligned"
	}
	return out, err
}

type statedAnswer struct {
	Answer string `json:"answer"`
	Stated string `json:"stated"`
	Quote  string `json:"quote"`
}

func stated(ctx context.Context, fields map[string]string) (statedAnswer, error) {
	out := statedAnswer{Answer: "not given", Stated: "no"}
	v, err := local.New().Stated(ctx, abstaincheck.Input{
		Question: fields["question"], Query: fields["sought"], Sought: fields["sought"],
		Passages: passagesOf(fields["passages"], nil),
	})
	if v.Stated {
		out.Answer, out.Stated = "as in "+digestOf(fields), "yes"
	}
	if len(v.Quotes) > 0 {
		out.Quote = v.Quotes[0]
	}
	return out, err
}

type quoteAnswer struct {
	About     string `json:"about"`
	Sentences []int  `json:"sentences"`
}

func quote(ctx context.Context, fields map[string]string) (quoteAnswer, error) {
	out := quoteAnswer{About: "no", Sentences: []int{}}
	var sentences []string
	in := quoteextract.Input{
		Question: fields["question"], Kind: schema.KindSearch, Query: fields["query"], Claim: fields["claim"],
		Passages: passagesOf(fields["passages"], &sentences),
	}
	for _, s := range claim.Split(in.Claim) {
		in.Claims = append(in.Claims, s.Text)
	}
	v, err := local.New().Extract(ctx, in)
	if v.Relevant {
		out.About = "yes"
	}
	for _, q := range v.Quotes {
		if n := slices.Index(sentences, q); n >= 0 && len(out.Sentences) < 3 {
			out.Sentences = append(out.Sentences, n+1)
		}
	}
	return out, err
}

// passagesOf reads passages as a prompt shows them; numbered sentences are also
// put into sentences.
func passagesOf(text string, sentences *[]string) []schema.Passage {
	var out []schema.Passage
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := reHeading.FindStringSubmatch(line); m != nil {
			out = append(out, schema.Passage{Title: m[1]})
			continue
		}
		if len(out) == 0 {
			out = append(out, schema.Passage{})
		}
		if m := reNumbered.FindStringSubmatch(line); m != nil && sentences != nil {
			*sentences = append(*sentences, m[2])
			line = m[2]
		}
		p := &out[len(out)-1]
		p.Text = strings.TrimSpace(p.Text + "\n" + line)
	}
	return out
}
