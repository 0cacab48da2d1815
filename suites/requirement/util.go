package requirement

import (
	"sort"
	"strconv"
)

func itoa(i int) string { return strconv.Itoa(i) }

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
