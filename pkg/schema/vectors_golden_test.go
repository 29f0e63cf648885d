package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden vectors anew")

const goldenDir = "testdata/golden"

// goldenFile is what the JSON beside each golden body says. Bytes are base64 in
// it; everything else is as on the wire, under the long names.
type goldenFile struct {
	// Type is the Go name of the message.
	Type string `json:"type"`
	// Digest is the hex SHA-256 of the body.
	Digest string          `json:"digest"`
	Value  json.RawMessage `json:"value"`
}

func encodeAny(v any) ([]byte, error) {
	switch m := v.(type) {
	case *Step:
		return Encode(m)
	case *RolloutEnd:
		return Encode(m)
	case *Label:
		return Encode(m)
	case *Reward:
		return Encode(m)
	case *Dead:
		return Encode(m)
	case *LiveAnswer:
		return Encode(m)
	case *Work:
		return Encode(m)
	case *Transcript:
		return Encode(m)
	}
	return nil, fmt.Errorf("%T is no message", v)
}

func decodeAny(b []byte, v any) error {
	switch m := v.(type) {
	case *Step:
		return Decode(b, m)
	case *RolloutEnd:
		return Decode(b, m)
	case *Label:
		return Decode(b, m)
	case *Reward:
		return Decode(b, m)
	case *Dead:
		return Decode(b, m)
	case *LiveAnswer:
		return Decode(b, m)
	case *Work:
		return Decode(b, m)
	case *Transcript:
		return Decode(b, m)
	}
	return fmt.Errorf("%T is no message", v)
}

// blank returns a pointer to a new message of v's type.
func blank(v any) any { return reflect.New(reflect.TypeOf(v).Elem()).Interface() }

func typeName(v any) string { return reflect.TypeOf(v).Elem().Name() }

func writeGolden(t *testing.T, c goldenCase) {
	t.Helper()
	body, err := encodeAny(c.value)
	require.NoError(t, err)
	value, err := json.Marshal(c.value)
	require.NoError(t, err)
	text, err := json.MarshalIndent(goldenFile{Type: typeName(c.value), Digest: Digest(body), Value: value}, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(goldenDir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(goldenDir, c.name+".json"), append(text, '\n'), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(goldenDir, c.name+".msgpack"), body, 0o644))
}

// The bytes on the wire are a promise to every other implementation. A change
// of these files is a change of the wire.
func TestGoldenVectors(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if *update {
				writeGolden(t, c)
			}
			body, err := os.ReadFile(filepath.Join(goldenDir, c.name+".msgpack"))
			require.NoError(t, err, "run the test with -update to write it")
			text, err := os.ReadFile(filepath.Join(goldenDir, c.name+".json"))
			require.NoError(t, err)
			var file goldenFile
			require.NoError(t, json.Unmarshal(text, &file))
			require.Equal(t, typeName(c.value), file.Type)
			require.Equal(t, Digest(body), file.Digest)

			fromJSON := blank(c.value)
			strict := json.NewDecoder(bytes.NewReader(file.Value))
			strict.DisallowUnknownFields()
			require.NoError(t, strict.Decode(fromJSON))
			require.Empty(t, cmp.Diff(c.value, fromJSON), "the JSON is the case")

			encoded, err := encodeAny(fromJSON)
			require.NoError(t, err)
			require.Equal(t, body, encoded, "JSON -> bytes")

			fromBody := blank(c.value)
			require.NoError(t, decodeAny(body, fromBody))
			require.Empty(t, cmp.Diff(c.value, fromBody), "bytes -> message")
			again, err := encodeAny(fromBody)
			require.NoError(t, err)
			require.Equal(t, body, again, "bytes -> message -> bytes")
		})
	}
}

func TestGoldenFilesAreThoseOfTheCases(t *testing.T) {
	t.Parallel()
	want := map[string]bool{}
	for _, c := range goldenCases() {
		want[c.name+".json"], want[c.name+".msgpack"] = true, true
	}
	entries, err := os.ReadDir(goldenDir)
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, want[e.Name()], "%s belongs to no case", e.Name())
	}
	if !*update {
		require.Len(t, entries, len(want))
	}
}

// Every field of every message, and of every struct in one, is set in some
// golden vector, so a new field can't be forgotten.
func TestGoldenVectorsHoldEveryField(t *testing.T) {
	t.Parallel()
	all, set := map[string]bool{}, map[string]bool{}
	for _, c := range goldenCases() {
		v := reflect.ValueOf(c.value).Elem()
		fieldsOf(v.Type(), all)
		fieldsSet(v, set)
	}
	for field := range all {
		require.True(t, set[field], "%s is set in no golden vector", field)
	}
	require.Greater(t, len(all), 100)
}

func fieldsOf(t reflect.Type, all map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		fieldsOf(t.Elem(), all)
	case reflect.Struct:
		for i := range t.NumField() {
			all[t.Name()+"."+t.Field(i).Name] = true
			fieldsOf(t.Field(i).Type, all)
		}
	}
}

func fieldsSet(v reflect.Value, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fieldsSet(v.Elem(), set)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fieldsSet(v.Index(i), set)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				set[v.Type().Name()+"."+v.Type().Field(i).Name] = true
			}
			fieldsSet(v.Field(i), set)
		}
	}
}

// Short keys are stable, lower-case, and unique within a map.
func TestWireKeys(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(rt reflect.Type) {
		switch rt.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(rt.Elem())
		case reflect.Struct:
			if seen[rt] {
				return
			}
			seen[rt] = true
			keys := map[string]string{}
			for i := range rt.NumField() {
				f := rt.Field(i)
				key, _, _ := strings.Cut(f.Tag.Get("msgpack"), ",")
				require.Regexp(t, `^[a-z][a-z0-9]{0,2}$`, key, "%s.%s", rt.Name(), f.Name)
				require.Empty(t, keys[key], "%s.%s and %s share the key %q", rt.Name(), f.Name, keys[key], key)
				keys[key] = f.Name
				require.NotEmpty(t, f.Tag.Get("json"), "%s.%s", rt.Name(), f.Name)
				walk(f.Type)
			}
		}
	}
	for _, c := range goldenCases() {
		walk(reflect.TypeOf(c.value))
	}
}

// A body cut anywhere is refused, never read as a shorter message.
func TestACutBodyIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range goldenCases() {
		body, err := encodeAny(c.value)
		require.NoError(t, err)
		stride := 1 + len(body)/500
		for cut := 0; cut < len(body); cut += stride {
			require.Error(t, decodeAny(body[:cut], blank(c.value)), "%s cut at byte %d of %d", c.name, cut, len(body))
		}
		require.Error(t, decodeAny(append(bytes.Clone(body), 0xc0), blank(c.value)), "%s with a byte too many", c.name)
	}
}
