package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jsonDocuments reads an observation that is JSON: {"result": "Doc 1: ..."},
// a list of {"title", "text"}, {"document": {"contents": ...}}, or
// {"results": [...]}. An {"error": ...} holds no documents.
func jsonDocuments(text string) ([]document, bool) {
	s := strings.TrimSpace(text)
	if s == "" || s[0] != '{' && s[0] != '[' {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil, false
	}
	if strings.TrimSpace(s[dec.InputOffset():]) != "" {
		return nil, false // JSON and then something else: it is text
	}
	switch v.(type) {
	case map[string]any, []any:
	default:
		return nil, false
	}
	docs, known := documentsOf(v, 0)
	return docs, known
}

const maxNesting = 8

// documentsOf walks JSON and reports whether it knew the form.
func documentsOf(v any, depth int) ([]document, bool) {
	if depth > maxNesting {
		return nil, true
	}
	switch v := v.(type) {
	case string:
		var docs []document
		if deny(v) != denyNothing {
			return nil, true
		}
		for _, block := range reBlockRule.Split(v, -1) {
			docs = append(docs, splitBlock(block)...)
		}
		return docs, true
	case []any:
		var docs []document
		for _, e := range v {
			d, known := documentsOf(e, depth+1)
			if !known {
				return nil, false
			}
			docs = append(docs, d...)
		}
		return docs, true
	case map[string]any:
		return documentsOfObject(v, depth)
	case nil:
		return nil, true
	}
	return nil, false
}

func documentsOfObject(v map[string]any, depth int) ([]document, bool) {
	if body, ok := firstText(v, "text", "contents", "content", "snippet", "passage", "passage_text", "body", "paragraph_text", "summary", "extract"); ok {
		title, _ := firstText(v, "title", "name", "page_title")
		if title == "" {
			// Search-R1's corpus keeps `"Title"\ntext` in contents.
			if head, rest, cut := strings.Cut(body, "\n"); cut && len(head) > 2 && head[0] == '"' && head[len(head)-1] == '"' {
				title, body = strings.Trim(head, `"`), rest
			}
		}
		if title != "" {
			return []document{{title: title, text: body}}, true
		}
		return documentsOf(body, depth+1)
	}
	for _, key := range []string{"result", "results", "documents", "docs", "passages", "document", "data", "items", "organic", "output", "observation", "response", "retrieved"} {
		if e, ok := v[key]; ok {
			return documentsOf(e, depth+1)
		}
	}
	for _, key := range []string{"error", "err", "detail", "message", "status"} {
		if _, ok := v[key]; ok {
			return nil, true
		}
	}
	if len(v) == 0 {
		return nil, true
	}
	return nil, false
}

func firstText(v map[string]any, keys ...string) (string, bool) {
	for _, k := range keys {
		if s, ok := v[k].(string); ok && strings.TrimSpace(s) != "" {
			return s, true
		}
	}
	return "", false
}
