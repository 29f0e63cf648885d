package gateway

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// object is JSON.
type object = map[string]any

// openAPI describes the interface. The bodies' schemas are read off the types
// that the handlers use, so that they can't drift apart.
func openAPI(o Options) object {
	s := schemas{all: object{}}
	body := func(v any, example any) object {
		media := object{"schema": s.of(reflect.TypeOf(v), true)}
		if example != nil {
			media["example"] = example
		}
		return object{"required": true, "content": object{"application/json": media}}
	}
	answer := func(description string, v any) object {
		return object{"description": description, "content": object{"application/json": object{"schema": s.of(reflect.TypeOf(v), false)}}}
	}
	later := object{"Retry-After": object{"description": "seconds to wait before the next try", "schema": object{"type": "integer"}}}
	problems := func(codes ...string) object {
		out := object{}
		for _, code := range append(codes, "401", "403", "421", "429", "500", "503") {
			p := object{"description": problemWords[code], "content": object{"application/problem+json": object{"schema": s.of(reflect.TypeFor[Problem](), false)}}}
			if code == "429" || code == "503" {
				p["headers"] = later
			}
			out[code] = p
		}
		return out
	}
	posting := []string{"400", "408", "413", "415", "422"}
	operation := func(id, summary string, responses object, problems object, more object) object {
		for k, v := range problems {
			responses[k] = v
		}
		op := object{"operationId": id, "summary": summary, "responses": responses}
		for k, v := range more {
			op[k] = v
		}
		return op
	}
	pending := answer("not there yet: nothing that could be taken for a reward", Pending{})
	pending["headers"] = later
	id := func(name string) object {
		return object{"name": name, "in": "path", "required": true, "schema": object{"type": "string", "pattern": "^[A-Za-z0-9_-]{1,128}$"}}
	}
	param := func(name, description string, schema object) object {
		return object{"name": name, "in": "query", "description": description, "schema": schema}
	}
	text := object{"type": "string"}
	wait := param("wait", fmt.Sprintf("how long to wait, such as 30s, or a number of seconds; at most %s", o.MaxWait), text)
	rewardAnswer := func() object {
		return answer("the reward. Process is null where there is none, and reason says why", schema.Reward{})
	}
	paths := object{
		"/v1/rollouts": object{"post": operation("postRollout", "Post one rollout",
			object{"202": answer("on its way", Accepted{})}, problems(posting...), object{"requestBody": body(Rollout{}, exampleRollout)})},
		"/v1/rollouts:batch": object{"post": operation("postBatch", fmt.Sprintf("Post up to %d rollouts", o.MaxBatch),
			object{"202": answer("all are on their way", BatchResult{}), "207": answer("some were refused", BatchResult{})}, problems(posting...),
			object{"requestBody": body(Batch{}, object{"rollouts": []any{exampleRollout}})})},
		"/v1/score": object{"post": operation("score", "Post one rollout and wait for its reward",
			object{"200": rewardAnswer(), "202": pending}, problems(posting...),
			object{"requestBody": body(Rollout{}, exampleRollout), "parameters": []any{wait}})},
		"/v1/rewards/{run}/{rollout}": object{"get": operation("getReward", "Wait for the reward of a rollout",
			object{"200": rewardAnswer(), "202": pending}, problems("400", "422"),
			object{"parameters": []any{id("run"), id("rollout"), wait}})},
		"/v1/labels/{run}/{rollout}": object{"get": operation("getLabels", "Read the labels of a rollout that stand by now",
			object{"200": answer("the labels, by index", Labels{})}, problems("400", "422"),
			object{"parameters": []any{id("run"), id("rollout")}})},
		"/get_reward": object{"post": operation("openRLHF", "The remote reward protocol of OpenRLHF",
			object{"200": answer("the rewards; null where there is none", RLHFAnswer{})}, problems(posting...),
			object{"requestBody": body(RLHFRequest{}, nil), "parameters": []any{
				param("run", "the run of these rollouts; by default a fresh one for each start of the gateway", text),
				wait,
				param("outcome", "add this outcome to the process reward", object{"type": "string", "enum": []any{"em", "f1", "cover_em"}}),
				param("weight", "the outcome's weight; 1 by default", object{"type": "number"}),
			}})},
		"/healthz": object{"get": object{"operationId": "health", "summary": "Can the pipeline be reached?", "security": []any{}, "responses": object{
			"200": answer("yes", Health{}),
			"503": object{"description": problemWords["503"], "headers": later, "content": object{"application/problem+json": object{"schema": s.of(reflect.TypeFor[Problem](), false)}}},
		}}},
		"/openapi.json": object{"get": object{"operationId": "openapi", "summary": "This document", "security": []any{}, "responses": object{
			"200": object{"description": "OpenAPI 3.1", "content": object{"application/json": object{"schema": object{"type": "object"}}}},
		}}},
	}
	security := []any{object{"bearer": []any{}}, object{"basic": []any{}}}
	if o.Tokens == nil {
		security = append(security, object{})
	}
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "StepGap", "version": "1",
			"description": "Typed rewards for the steps of search agents. A failure is never a number: it is a state, a null with its reason, or a problem."},
		"paths":    paths,
		"security": security,
		"components": object{"schemas": s.all, "securitySchemes": object{
			"bearer": object{"type": "http", "scheme": "bearer"},
			"basic":  object{"type": "http", "scheme": "basic", "description": "the token as password, for clients that take nothing but a URL"},
		}},
	}
}

var problemWords = map[string]string{
	"400": "no JSON, or no UTF-8", "401": "no token, or one that is not known here", "403": "the token may not use this run",
	"408": "the body came too slowly", "413": "over a limit", "415": "not declared as JSON", "421": "a gateway without tokens was asked under another host's name",
	"422": "a field is wrong; nothing was published", "429": "more than the caller's rate", "500": "a fault of the gateway's own",
	"503": "the gateway or the pipeline is full, or the pipeline can't be reached",
}

var exampleRollout = object{
	"run": "exp-7", "rollout": "q12-3", "question": "Where was the author of The Glass Orchard born?",
	"text": "<search>author of The Glass Orchard</search>\n<information>Doc 1(Title: \"The Glass Orchard\") The Glass Orchard is a novel by Mara Quill.</information>\n<think>The Glass Orchard was written by Mara Quill.</think>\n<answer>Harrowdale</answer>",
	"gold": []any{"Harrowdale"}, "group": "q12", "group_size": 8,
}

// schemas collects those of named types.
type schemas struct{ all object }

// of is the schema of a type. Types of requests refuse what they don't know,
// except where the reader is lenient.
func (s schemas) of(t reflect.Type, request bool) object {
	switch t {
	case reflect.TypeFor[Content]():
		return object{"type": []any{"string", "array", "null"}, "items": object{"type": "object", "properties": object{"text": object{"type": "string"}}}}
	case reflect.TypeFor[Arguments]():
		return object{"description": "JSON in a string, or JSON itself"}
	case reflect.TypeFor[RLHFLabel]():
		return object{"type": []any{"string", "number", "array", "object", "null"}, "items": object{"type": "string"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		inner := s.of(t.Elem(), request)
		if kind, ok := inner["type"].(string); ok {
			inner["type"] = []any{kind, "null"}
			return inner
		}
		return object{"anyOf": []any{inner, object{"type": "null"}}}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem(), request)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem(), request)}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Struct:
		if t.Name() == "" {
			return s.fields(t, request)
		}
		if _, known := s.all[t.Name()]; !known {
			s.all[t.Name()] = nil // for types that hold themselves
			s.all[t.Name()] = s.fields(t, request)
		}
		return object{"$ref": "#/components/schemas/" + t.Name()}
	default:
		return object{"type": "integer"}
	}
}

func (s schemas) fields(t reflect.Type, request bool) object {
	_, lenient := reflect.PointerTo(t).MethodByName("UnmarshalJSON")
	properties, required := object{}, []any{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		optional := strings.Contains(options, "omitempty") || len(f.Index) > 1
		field := s.of(f.Type, request && !lenient)
		if f.Type.Kind() == reflect.Slice && !optional && !request {
			field["type"] = []any{"array", "null"}
		}
		if doc := f.Tag.Get("doc"); doc != "" {
			if _, ref := field["$ref"]; !ref {
				field["description"] = doc
			}
		}
		if !optional {
			required = append(required, name)
		}
		properties[name] = field
	}
	out := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	if request && !lenient && t != reflect.TypeFor[RLHFRequest]() {
		out["additionalProperties"] = false
	}
	return out
}
