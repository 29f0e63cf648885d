package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// errNoRollout says that a record holds no rollout in any known form.
var errNoRollout = errors.New("no rollout in any known format")

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// record is one JSON object.
type record map[string]json.RawMessage

// str returns the first of keys that holds a string.
func (r record) str(keys ...string) string {
	for _, k := range keys {
		var s string
		if json.Unmarshal(r[k], &s) == nil && strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// id takes a string or a number.
func (r record) id(keys ...string) string {
	for _, k := range keys {
		if s := r.str(k); s != "" {
			return s
		}
		var n json.Number
		if json.Unmarshal(r[k], &n) == nil && n != "" {
			return n.String()
		}
	}
	return ""
}

// texts collects strings from the first of keys that holds any: a string, a
// list (of lists), or {"target": ...}.
func (r record) texts(keys ...string) []string {
	for _, k := range keys {
		if found := goldIn(r[k], 0); len(found) > 0 {
			return found
		}
	}
	return nil
}

func goldIn(raw json.RawMessage, depth int) []string {
	if len(raw) == 0 || depth > maxNesting {
		return nil
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) == nil {
		for _, k := range []string{"target", "ground_truth", "answer", "answers", "value"} {
			if found := goldIn(m[k], depth+1); len(found) > 0 {
				return found
			}
		}
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		var out []string
		for _, e := range list {
			out = append(out, goldIn(e, depth+1)...)
		}
		return out
	}
	return stringsIn(raw, depth)
}

// truth reads a verdict: true, "True", 1.
func (r record) truth(keys ...string) *bool {
	for _, k := range keys {
		var b bool
		if json.Unmarshal(r[k], &b) == nil && string(r[k]) != "null" {
			return &b
		}
		switch s := strings.ToLower(strings.TrimSpace(r.str(k))); s {
		case "true", "correct", "yes":
			b = true
			return &b
		case "false", "incorrect", "no":
			return &b
		}
		var n float64
		if json.Unmarshal(r[k], &n) == nil && (n == 0 || n == 1) && len(r[k]) > 0 && string(r[k]) != "null" {
			b = n == 1
			return &b
		}
	}
	return nil
}

func (r record) has(key string) bool { return len(r[key]) > 0 && string(r[key]) != "null" }

// readRecord reads one JSON object as a rollout.
func readRecord(raw json.RawMessage, format Format) (*draft, record, error) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, nil, fmt.Errorf("reading a JSON object: %w", err)
	}
	d, err := r.draft(format)
	if err != nil {
		return nil, r, err
	}
	d.fill(r)
	return d, r, nil
}

func (r record) draft(format Format) (*draft, error) {
	var steps []record
	if json.Unmarshal(r["steps"], &steps) == nil && len(steps) > 0 {
		if format == FormatNormalized || format != FormatStepGap && isNormalized(steps) {
			return readNormalized(steps), nil
		}
		return readStepGap(r, steps)
	}
	if r.has("steps") && format == FormatStepGap {
		return readStepGap(r, nil)
	}
	for _, k := range []string{"messages", "conversations", "conversation", "trajectory", "history"} {
		var messages []message
		if json.Unmarshal(r[k], &messages) == nil && len(messages) > 0 && (messages[0].Role != "" || messages[0].From != "") {
			return readChat(messages), nil
		}
	}
	for _, k := range []string{"traj", "gen_text_store", "response", "responses", "completion", "generation", "generated_text", "output", "outputs", "trajectory", "rollout_text", "sequences_str", "sequence", "solution_str", "full_text", "text", "scratchpad", "trace"} {
		s := r.str(k)
		if s == "" {
			var list []string
			if json.Unmarshal(r[k], &list) == nil && len(list) > 0 {
				s = list[0]
			}
		}
		if s == "" {
			continue
		}
		f := format
		if f == FormatAuto || f == "" {
			f = detectText(s)
		}
		if f == "" && (k == "gen_text_store" || k == "traj" || r.has("question") || r.has("prompt")) {
			f = FormatSearchR1
		}
		if f != "" {
			return readText(s, f), nil
		}
	}
	return nil, fmt.Errorf("fields %s: %w", strings.Join(sortedKeys(r), ", "), errNoRollout)
}

// fill takes from the record what its text doesn't say.
func (d *draft) fill(r record) {
	if q := r.str("question", "query", "instruction", "problem", "input_question"); q != "" {
		d.question = q
	} else if d.question == "" {
		if p := r.str("prompt", "input"); p != "" {
			d.question, _ = splitPrompt(p)
			if d.question == "" {
				d.question = questionIn(p)
			}
		}
	}
	if gold := r.texts("gold_answer", "gold_answers", "golden_answers", "gt_answer", "ground_truth", "gold", "target", "reference", "label"); len(gold) > 0 && d.format != FormatNormalized {
		d.gold = gold
	} else if d.format == FormatNormalized {
		d.gold = r.texts("gold_answer")
	} else if len(d.gold) == 0 && !r.has("traj") && d.format != FormatStepGap {
		d.gold = r.texts("answer", "answers", "reward_model")
	}
	if v := r.truth("correct", "is_correct", "gpt4o_output", "em", "reward"); v != nil {
		d.correct = v
	}
	if g := r.id("group", "group_id", "group_index"); g != "" {
		d.group = g
	}
}
