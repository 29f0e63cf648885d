package transcript

import (
	"regexp"
	"strings"
)

var (
	// reDocHead finds where documents begin, at the head of a line:
	//
	//	Doc 1(Title: "X") text      Doc 1 (Title: X)\ntext
	//	Doc 1<## Title: X ##> text  Doc 1: text        [1] text
	//	(1)Title: X Text: text      (1)X   text        Document 1: ...
	reDocHead = regexp.MustCompile(`(?m)^[ \t]*(?:(?:Doc|Document|Passage|Page|Result)\s*\[?(\d{1,3})\]?[ \t]*(?:\(Title:|<#+[ \t]*Title:|:)|\((\d{1,3})\)[ \t]*(?:"?Title:|\S)|\[(\d{1,3})\][ \t]+\S|(\d{1,3})\.[ \t]+\[[^\]\n]*\]\(\S+\)[ \t]*$)`)

	reQuotedTitle = regexp.MustCompile(`(?s)^[ \t]*(?:Doc|Document|Passage|Page|Result)\s*\[?\d{1,3}\]?[ \t]*\(Title:[ \t]*"(.*?)"[ \t]*\)[ \t]*:?(.*)$`)
	rePlainTitle  = regexp.MustCompile(`(?s)^[ \t]*(?:Doc|Document|Passage|Page|Result)\s*\[?\d{1,3}\]?[ \t]*\(Title:[ \t]*([^\n]*)\)[ \t]*:?\n(.*)$`)
	reInlineTitle = regexp.MustCompile(`(?s)^[ \t]*(?:Doc|Document|Passage|Page|Result)\s*\[?\d{1,3}\]?[ \t]*\(Title:[ \t]*([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)[ \t]*:?(.*)$`)
	reHashTitle   = regexp.MustCompile(`(?s)^[ \t]*(?:Doc|Document|Passage|Page|Result)\s*\[?\d{1,3}\]?[ \t]*<#+[ \t]*Title:[ \t]*(.*?)[ \t]*#+>(.*)$`)
	reColonHead   = regexp.MustCompile(`(?s)^[ \t]*(?:Doc|Document|Passage|Page|Result)\s*\[?\d{1,3}\]?[ \t]*:[ \t]*(.*)$`)
	reNumberHead  = regexp.MustCompile(`(?s)^[ \t]*(?:\(\d{1,3}\)|\[\d{1,3}\])[ \t]*(.*)$`)
	reLinkHead    = regexp.MustCompile(`(?s)^[ \t]*\d{1,3}\.[ \t]+\[([^\]\n]*)\]\((\S+)\)[ \t]*\n(.*)$`)
	reTitleText   = regexp.MustCompile(`(?s)^\s*"?Title:[ \t]*(.*?)[ \t\n]+Text:[ \t]*(.*)$`)
	reTitleLine   = regexp.MustCompile(`(?s)^\s*"?Title:[ \t]*([^\n]*)\n(.*)$`)
	reWideGap     = regexp.MustCompile(`^([^\n]{1,160}?) {3,}(\S)`)
	reBlockRule   = regexp.MustCompile(`(?m)^[ \t]*={5,}[ \t]*$`)
)

// splitDocuments divides an observation into documents with their titles. A
// text without headers is one document.
func splitDocuments(text string) []document {
	if docs, ok := jsonDocuments(text); ok {
		return docs
	}
	var docs []document
	for _, block := range reBlockRule.Split(text, -1) {
		docs = append(docs, splitBlock(block)...)
	}
	return docs
}

func splitBlock(text string) []document {
	heads := documentHeads(text)
	if len(heads) == 0 {
		return []document{oneDocument(text)}
	}
	var docs []document
	if before := text[:heads[0]]; strings.TrimSpace(before) != "" {
		docs = append(docs, oneDocument(before))
	}
	for i, start := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1]
		}
		docs = append(docs, oneDocument(text[start:end]))
	}
	return docs
}

// documentHeads returns the offsets at which documents begin: headers whose
// numbers count up by one from 1 (or from 0). A number in the middle of a text
// that merely looks like a header is not one.
func documentHeads(text string) []int {
	var heads []int
	next := -1
	for _, m := range reDocHead.FindAllStringSubmatchIndex(text, -1) {
		n := 0
		for g := 2; g+1 < len(m); g += 2 {
			if m[g] >= 0 {
				for _, c := range text[m[g]:m[g+1]] {
					n = n*10 + int(c-'0')
				}
			}
		}
		switch {
		case next < 0 && n > 1:
			continue
		case next >= 0 && n != next:
			continue
		}
		heads = append(heads, m[0])
		next = n + 1
	}
	return heads
}

// oneDocument takes the header off a document.
func oneDocument(text string) document {
	for _, re := range []*regexp.Regexp{reQuotedTitle, reHashTitle, rePlainTitle, reInlineTitle} {
		if m := re.FindStringSubmatch(text); m != nil {
			return document{title: m[1], text: m[2]}
		}
	}
	if m := reLinkHead.FindStringSubmatch(text); m != nil {
		return document{title: m[1], text: m[3]}
	}
	body := text
	if m := reColonHead.FindStringSubmatch(body); m != nil {
		body = m[1]
	} else if m := reNumberHead.FindStringSubmatch(body); m != nil {
		body = m[1]
	}
	return titled(body)
}

// titled reads "Title: X Text: ..." and "X   ...".
func titled(body string) document {
	if m := reTitleText.FindStringSubmatch(body); m != nil && !strings.Contains(m[1], "\n") {
		return document{title: m[1], text: m[2]}
	}
	if m := reTitleLine.FindStringSubmatch(body); m != nil {
		return document{title: m[1], text: m[2]}
	}
	s := strings.TrimLeft(body, " \t\r\n")
	if m := reWideGap.FindStringSubmatchIndex(s); m != nil && !strings.Contains(s[m[2]:m[3]], ". ") {
		return document{title: s[m[2]:m[3]], text: s[m[4]:]}
	}
	return document{text: body}
}
