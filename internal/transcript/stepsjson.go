package transcript

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// isNormalized tells {think, action, query, docs} from StepGap's own steps.
func isNormalized(steps []record) bool {
	for _, s := range steps {
		if s.has("action") && (s.has("think") || s.has("query")) && !s.has("passages") {
			return true
		}
	}
	return false
}

// readNormalized reads {think, action, query, docs}: docs of a search are what
// it returned, docs of the finishing step the grader's words.
func readNormalized(steps []record) *draft {
	d := &draft{format: FormatNormalized}
	var w script
	for _, s := range steps {
		w.gap()
		think, value := s.str("think"), s.str("query")
		say := w.line(think).trimmed(w.b.String())
		at := w.line(value)
		t := turn{value: strings.TrimSpace(value)}
		switch action := strings.ToLower(strings.TrimSpace(s.str("action"))); action {
		case "search", "lookup", "retrieve":
			t.act = actSearch
		case "answer", "finish":
			t.act = actAnswer
		case "invalid", "":
			t = readAction(w.b.String(), at)
			t.warn(WarnInvalidAction, brief(value))
		default:
			t.act = toolAct(action)
			if t.act == actNone {
				t.warn(WarnOtherTool, action)
			}
		}
		if t.act != actNone {
			if t.at.empty() {
				t.at = at
			}
			t.at = t.at.trimmed(w.b.String())
		}
		if !say.empty() {
			t.say = []seg{say}
		}
		d.observeAll(&t, s["docs"])
		d.turns = append(d.turns, t)
	}
	d.text = w.b.String()
	return d
}

// observeAll takes a list of documents, each a string or an object.
func (d *draft) observeAll(t *turn, raw json.RawMessage) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, e := range list {
		var s string
		if json.Unmarshal(e, &s) == nil {
			if v := verdictOf(s); v != nil && t.act != actSearch && d.correct == nil {
				d.correct = v
			}
			if t.act != actSearch {
				t.observe(s)
				continue
			}
			t.observeDocument(s)
			continue
		}
		var p schema.Passage
		if json.Unmarshal(e, &p) == nil && p.Text != "" {
			if deny(p.Text) == denyNothing {
				t.docs = append(t.docs, document{p.Title, p.Text})
			}
			continue
		}
		docs, _ := jsonDocuments(string(e))
		t.docs = append(t.docs, docs...)
	}
	t.answered = true
}

// observeDocument takes one document of a list that was split already.
func (t *turn) observeDocument(s string) {
	t.answered = true
	if why := deny(s); why != denyNothing {
		t.warn(WarnNoEvidence, string(why)+": "+brief(s))
		return
	}
	body, cut := withoutVerdicts(s)
	if cut {
		t.warn(WarnVerdict, brief(s))
	}
	doc := oneDocument(body)
	doc.text = strings.TrimSpace(reResultPrefix.ReplaceAllString(doc.text, ""))
	doc.title = strings.TrimSpace(doc.title)
	if why := deny(doc.text); why != denyNothing {
		t.warn(WarnNoEvidence, string(why)+": "+brief(s))
		return
	}
	t.docs = append(t.docs, doc)
}

// readStepGap reads StepGap's own JSONL. Steps are either simple turns
//
//	{"think": "...", "query": "...", "passages": [{"title": "...", "text": "..."}]}
//	{"think": "...", "answer": "..."}
//
// where a thought's claims belong to the step before, or steps as the wire has
// them (schema.Step in JSON), which are taken as they are.
func readStepGap(r record, steps []record) (*draft, error) {
	d := &draft{format: FormatStepGap}
	if isWireForm(steps) {
		return d, errWireForm
	}
	var w script
	for i, s := range steps {
		w.gap()
		t := turn{}
		say := w.line(s.str("think", "thought", "plan", "text")).trimmed(w.b.String())
		if !say.empty() {
			t.say = []seg{say}
		}
		switch {
		case s.has("query"):
			t.act = actSearch
			t.at = w.line(s.str("query")).trimmed(w.b.String())
		case s.has("answer"):
			t.act = actAnswer
			t.at = w.line(s.id("answer")).trimmed(w.b.String())
		case s.has("passages") || s.has("docs"):
			return nil, fmt.Errorf("step %d has passages but no query", i+1)
		}
		t.value = t.at.in(w.b.String())
		raw := s["passages"]
		if len(raw) == 0 {
			raw = s["docs"]
		}
		d.observeAll(&t, raw)
		d.turns = append(d.turns, t)
	}
	if a := r.id("answer"); a != "" && (len(d.turns) == 0 || d.turns[len(d.turns)-1].act != actAnswer) {
		t := turn{act: actAnswer}
		if n := len(d.turns); n > 0 && d.turns[n-1].act == actNone {
			t.say = d.turns[n-1].say
			d.turns = d.turns[:n-1]
		}
		w.gap()
		t.at = w.line(a).trimmed(w.b.String())
		t.value = t.at.in(w.b.String())
		d.turns = append(d.turns, t)
	}
	d.text = w.b.String()
	return d, nil
}
