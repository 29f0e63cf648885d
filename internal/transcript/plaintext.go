package transcript

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// plain reads running text: one rollout, or many one after another. A new one
// begins with a new prompt, or with a "Question:" in ReAct.
func (d *decoder) plain() error {
	var b strings.Builder
	start, tooLarge, acted := 1, false, false
	flush := func() error {
		text := b.String()
		b.Reset()
		defer func() { tooLarge, acted = false, false }()
		line := d.line
		d.line = start
		defer func() { d.line = line }()
		if tooLarge {
			return d.fail(fmt.Errorf("%w: over %d bytes", ErrTooLarge, d.opts.MaxRecord))
		}
		return d.text(text)
	}
	for {
		line, long, err := d.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading %s after line %d: %w", d.name, d.line, err)
		}
		if acted && begins(line) {
			if err := flush(); err != nil {
				return err
			}
			start = d.line
		}
		if long || b.Len()+len(line) > d.opts.MaxRecord {
			tooLarge = true
		}
		if !tooLarge {
			b.Write(line)
			acted = acted || acts(line)
		}
		if err != nil {
			return flush()
		}
	}
}

var (
	rePromptStart = regexp.MustCompile(`^(?:<\|im_start\|>[ \t]*system|<\|begin_of_text\|>|<s>|Answer the given question\.|A conversation between User and Assistant)`)
	reReActStart  = regexp.MustCompile(`^[ \t]*Question[ \t]*\d*[ \t]*:`)
)

// begins reports whether a line can start a rollout. It starts another one only
// after somebody acted: the lines of one prompt may each look like a beginning.
func begins(line []byte) bool {
	if len(line) > 4096 {
		line = line[:4096]
	}
	return rePromptStart.Match(line) || reReActStart.Match(line)
}

var (
	reActs     = regexp.MustCompile(`(?i)<\|im_start\|>[ \t]*assistant|<\|start_header_id\|>[ \t]*assistant|</(?:search|think|answer|information|result|documents|tool_call)>|<\|end_of_query\|>|<\|end_search_query\|>`)
	reActsLine = regexp.MustCompile(`^[ \t]*(?:\*\*)?(?:Thought|Action)(?:[ \t]*\d{1,3})?(?:\*\*)?[ \t]*:`)
)

// acts reports whether on a line the policy speaks; a prompt that explains the
// tags doesn't count.
func acts(line []byte) bool {
	return reActsLine.Match(line) || reActs.Match(line) && !reInstruction.Match(line)
}

// text yields the rollout of one running text; text in which nobody acts, such
// as the head of a log, is passed over.
func (d *decoder) text(text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	bad := !utf8.ValidString(text)
	if bad {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	format := d.opts.Format
	switch format {
	case FormatAuto, "":
		format = detectText(text)
	case FormatStepGap, FormatNormalized:
		format = ""
	}
	if format == "" {
		if d.count == 0 && d.line > 1 || logHead(text) {
			return nil
		}
		return d.fail(fmt.Errorf("%q: %w", brief(text), errNoRollout))
	}
	dr := readText(text, format)
	if len(dr.turns) == 0 {
		if logHead(text) {
			return nil
		}
		return d.fail(fmt.Errorf("%q: %w", brief(text), errNoRollout))
	}
	if bad {
		dr.warn(WarnBadUTF8, "bytes that are no UTF-8 became U+FFFD")
	}
	return d.emit(build(dr), nil)
}

var reLogHead = regexp.MustCompile(`(?m)^(?:[#=-]{3,}|BEGIN TRIAL|Trial summary)`)

// logHead reports whether text is the head or a rule of a log.
func logHead(text string) bool {
	return reLogHead.MatchString(text) && !reReAct.MatchString(text)
}
