package rewardagg

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// unknownKey names the first key of node that t has no field for: its line, its
// place, and the keys that there are.
func unknownKey(node *yaml.Node, t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case node.Kind == yaml.DocumentNode:
		return firstUnknown(node.Content, func(_ int, n *yaml.Node) error { return unknownKey(n, t, path) })
	case node.Kind == yaml.AliasNode:
		return unknownKey(node.Alias, t, path)
	case node.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		return firstUnknown(node.Content, func(i int, n *yaml.Node) error {
			return unknownKey(n, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		})
	case node.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		fields := yamlFields(t)
		return firstUnknown(node.Content, func(i int, n *yaml.Node) error {
			if i%2 == 1 {
				return nil // a value, looked at with its key
			}
			place := strings.TrimPrefix(path+"."+n.Value, ".")
			field, known := fields[n.Value]
			if !known {
				return &ProfileError{place, fmt.Sprintf("line %d: unknown key; there are %s", n.Line, strings.Join(sortedKeys(fields), ", "))}
			}
			return unknownKey(node.Content[i+1], field, place)
		})
	}
	return nil // a value of another kind; decoding says so
}

func firstUnknown(nodes []*yaml.Node, look func(int, *yaml.Node) error) error {
	for i, n := range nodes {
		if err := look(i, n); err != nil {
			return err
		}
	}
	return nil
}

// yamlFields are the types of a struct's fields, by key.
func yamlFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		fields[t.Field(i).Tag.Get("yaml")] = t.Field(i).Type
	}
	return fields
}

func sortedKeys(fields map[string]reflect.Type) []string {
	var keys []string
	for k := range fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
