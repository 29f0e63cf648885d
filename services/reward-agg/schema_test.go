package rewardagg

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(ProfileSchema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("profile.json", doc))
	s, err := c.Compile("profile.json")
	require.NoError(t, err)
	return s
}

func asJSON(t *testing.T, profile string) (any, error) {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(profile), &v); err != nil {
		return nil, err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(b))
}

func TestTheSchemaTakesTheBuiltinProfiles(t *testing.T) {
	t.Parallel()
	s := compiledSchema(t)
	for _, name := range Profiles() {
		src, err := ProfileYAML(name)
		require.NoError(t, err)
		v, err := asJSON(t, string(src))
		require.NoError(t, err)
		require.NoError(t, s.Validate(v), name)
	}
}

// What the program refuses the schema refuses too, but for what a schema can't
// say.
func TestTheSchemaRefusesWhatTheProgramRefuses(t *testing.T) {
	t.Parallel()
	src, err := ProfileYAML("stepgap")
	require.NoError(t, err)
	beyond := []string{"above none", "bad pattern", "matches all", "two documents", "NaN", "infinity", "minus infinity"}
	s := compiledSchema(t)
	for name, c := range wrongProfiles() {
		if slices.Contains(beyond, name) {
			continue
		}
		v, err := asJSON(t, strings.Replace(string(src), c.old, c.new, 1))
		require.NoError(t, err, name)
		require.Error(t, s.Validate(v), name)
	}
}

// The schema has the keys of the file, no more and no fewer, at every depth.
func TestTheSchemaHasTheKeysOfTheFile(t *testing.T) {
	t.Parallel()
	var root map[string]any
	require.NoError(t, json.Unmarshal(ProfileSchema(), &root))
	sameKeys(t, root, root, reflect.TypeFor[profileFile](), "")
}

func sameKeys(t *testing.T, root, node map[string]any, typ reflect.Type, path string) {
	t.Helper()
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		if typ.Kind() == reflect.Slice {
			node, _ = node["items"].(map[string]any)
		}
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct {
		return
	}
	if ref, ok := node["$ref"].(string); ok {
		node = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	properties, _ := node["properties"].(map[string]any)
	fields := yamlFields(typ)
	require.Equal(t, sortedKeys(fields), slices.Sorted(maps.Keys(properties)), "at %q", path)
	require.Equal(t, false, node["additionalProperties"], "at %q", path)
	for key, field := range fields {
		sameKeys(t, root, properties[key].(map[string]any), field, path+"."+key)
	}
}
