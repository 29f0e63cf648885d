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
	start, tooLarge := 1, false
	flush := func() error {
		text := b.String()
		b.Reset()
		defer func() { tooLarge = false }()
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
		if b.Len() > 0 && begins(line, &b, d.opts.Format) {
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

// begins reports whether a line starts another rollout than the one that is
// being gathered.
func begins(line []byte, b *strings.Builder, format Format) bool {
	if len(line) > 4096 {
		line = line[:4096]
	}
	switch {
	case rePromptStart.Match(line):
		// the lines of one prompt may each look like a beginning
		return detectText(b.String()) != ""
	case reReActStart.Match(line):
		return format == FormatReAct || (format == FormatAuto || format == "") && reReAct.MatchString(b.String())
	}
	return false
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
