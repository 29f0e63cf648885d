package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// counts writes a map of counts on one line, in the order of its keys.
func counts[K ~string](m map[K]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}
