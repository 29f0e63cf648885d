package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// toolCall is what a policy asked a tool for.
type toolCall struct {
	id    string
	name  string
	act   act
	value string
}

// parseCalls reads a tool call, or a list of them, from JSON.
func parseCalls(body string) ([]toolCall, error) {
	dec := json.NewDecoder(strings.NewReader(strings.TrimSpace(body)))
	var calls []toolCall
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			if len(calls) > 0 {
				return calls, nil
			}
			return nil, fmt.Errorf("reading a tool call: %w", err)
		}
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			list = []json.RawMessage{raw}
		}
		for _, r := range list {
			c, err := parseCall(r)
			if err != nil {
				return nil, err
			}
			calls = append(calls, c)
		}
		if !dec.More() {
			return calls, nil
		}
	}
}

type wireCall struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Parameters json.RawMessage `json:"parameters"`
	Function   *wireCall       `json:"function"`
}

func parseCall(raw json.RawMessage) (toolCall, error) {
	var w wireCall
	if err := json.Unmarshal(raw, &w); err != nil {
		return toolCall{}, fmt.Errorf("reading a tool call: %w", err)
	}
	id := w.ID
	if w.Function != nil {
		w = *w.Function
	}
	if w.Name == "" {
		return toolCall{}, errors.New("reading a tool call: it has no name")
	}
	args := w.Arguments
	if len(args) == 0 {
		args = w.Parameters
	}
	c := toolCall{id: id, name: w.Name, act: toolAct(w.Name)}
	c.value = argument(args)
	return c, nil
}

// toolAct sorts tools by what they do.
func toolAct(name string) act {
	n := strings.ToLower(name)
	for _, w := range []string{"finish", "answer", "submit", "final"} {
		if strings.Contains(n, w) {
			return actAnswer
		}
	}
	for _, w := range []string{"search", "visit", "retrieve", "retriev", "browse", "lookup", "look_up", "query", "wiki", "fetch",
		"open", "click", "crawl", "read", "scholar", "google", "bing", "find", "scroll", "web", "page", "document", "url"} {
		if strings.Contains(n, w) {
			return actSearch
		}
	}
	return actNone
}

// argument is the query among a call's arguments: the named ones first, else
// all strings. Several queries of one call are joined by "; ".
func argument(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if inner := strings.TrimSpace(s); strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)) {
			return argument(json.RawMessage(inner)) // OpenAI: arguments are JSON in a string
		}
		return s
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return strings.Join(stringsIn(raw, 0), "; ")
	}
	for _, key := range []string{"query", "queries", "q", "search_query", "search_queries", "query_list", "keywords", "keyword", "question", "goal", "answer", "final_answer", "response", "text", "input", "entity", "title", "url", "urls", "link", "id"} {
		if v, ok := m[key]; ok {
			if found := stringsIn(v, 0); len(found) > 0 {
				return strings.Join(found, "; ")
			}
		}
	}
	return strings.Join(stringsIn(raw, 0), "; ")
}

// stringsIn lists the strings of a JSON value, objects' in the order of their
// keys.
func stringsIn(raw json.RawMessage, depth int) []string {
	if depth > maxNesting {
		return nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if s = strings.TrimSpace(s); s != "" {
			return []string{s}
		}
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		var out []string
		for _, e := range list {
			out = append(out, stringsIn(e, depth+1)...)
		}
		return out
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) == nil {
		var out []string
		for _, k := range sortedKeys(m) {
			out = append(out, stringsIn(m[k], depth+1)...)
		}
		return out
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil && n != "" {
		return []string{n.String()}
	}
	return nil
}
