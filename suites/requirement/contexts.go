package requirement

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
)

// Names of the contexts that every chart has.
const (
	DefaultContext = "default"
	MostContext    = "most"
)

// ContextNames are the names of the contexts in which parts of a chart come
// alive: its defaults; as much switched on as renders together; and that with
// each enumeration at each of its other values, as path=value.
func (e *Env) ContextNames(c *tree.Chart) []string {
	names := []string{DefaultContext}
	if len(e.switches(c, ExampleName)) > 0 {
		names = append(names, MostContext)
	}
	for _, g := range e.Gates(c) {
		if g.kind == enumGate {
			for _, v := range g.Values[1:] {
				names = append(names, g.Name()+"="+v)
			}
		}
	}
	return names
}

// ExampleName is the name of the entries that examples put into mappings.
const ExampleName = "demo"

// Context returns the values of a context, with example entries under the
// given name. ok is false where there is none of that name, or no render bears
// it.
func (e *Env) Context(c *tree.Chart, name, entry string) (map[string]any, bool) {
	base := e.Fill(c)
	if name == DefaultContext {
		return base, e.renders(c, base)
	}
	most := e.most(c, base, entry)
	if name == MostContext {
		return most, e.renders(c, most)
	}
	for _, g := range e.Gates(c) {
		if v, ok := strings.CutPrefix(name, g.Name()+"="); ok && slices.Contains(g.Values, v) {
			set := e.most(c, render.MergeValues(base, g.Layer(v)), entry)
			return set, e.renders(c, set)
		}
	}
	return nil, false
}

func (e *Env) renders(c *tree.Chart, values map[string]any) bool {
	r := e.Engine.Render(e.Input(c, Situation{}, values))
	return r.Failure == nil && len(r.YAML) == 0
}

// most switches on as much as renders together: everything at once, else one
// switch after the other, twice, since some need others.
func (e *Env) most(c *tree.Chart, base map[string]any, entry string) map[string]any {
	switches := e.switches(c, entry)
	all := base
	for _, s := range switches {
		all = merge(all, s)
	}
	if e.renders(c, all) {
		return all
	}
	set := base
	for range 2 {
		var left []map[string]any
		for _, s := range switches {
			if with := merge(set, s); e.renders(c, with) {
				set = with
			} else {
				left = append(left, s)
			}
		}
		if switches = left; len(left) == 0 {
			break
		}
	}
	return set
}

// merge lays over on base, where an empty mapping of base gives way.
func merge(base, over map[string]any) map[string]any { return render.MergeValues(base, over) }

// switches are the values that each switch on one part of a chart: booleans
// that are false, lists and mappings that are empty.
func (e *Env) switches(c *tree.Chart, entry string) []map[string]any {
	var out []map[string]any
	for _, g := range e.Gates(c) {
		switch {
		case g.kind == boolGate && g.Values[0] == "false":
			out = append(out, g.Layer("true"))
		case g.kind == listGate:
			out = append(out, g.Layer(Some))
		}
	}
	walkSchema(e.Schema(c), c.Values, nil, func(path []string, s map[string]any, def any) {
		switch d := def.(type) {
		case map[string]any:
			if len(d) > 0 {
				return
			}
		case []any:
			if len(d) > 0 {
				return
			}
		case nil:
		default:
			return
		}
		items, _ := s["items"].(map[string]any)
		entries, _ := s["additionalProperties"].(map[string]any)
		if s["type"] == "array" && (items["type"] == "object" || items["enum"] != nil) || s["type"] == "object" && len(entries) > 0 {
			out = append(out, At(Example(s, path[len(path)-1], entry), path...))
		}
	})
	return out
}

// Example returns a value that a schema allows, with every property given: the
// default where there is one, else one that is typical for the type. key is
// the name of the property; entry names the entries of mappings, and is the
// text of strings.
func Example(s map[string]any, key, entry string) any {
	if enum, ok := s["enum"].([]any); ok {
		if d := s["default"]; d != nil && d != "" {
			return d
		}
		for _, v := range enum {
			if v != "" {
				return v
			}
		}
	}
	props, _ := s["properties"].(map[string]any)
	entries, _ := s["additionalProperties"].(map[string]any)
	switch {
	case len(props) > 0:
		out := map[string]any{}
		for _, p := range SortedKeys(props) {
			if sub, ok := props[p].(map[string]any); ok {
				out[p] = Example(sub, p, entry)
			}
		}
		return out
	case s["type"] == "object" && len(entries) > 0:
		return map[string]any{entry: Example(entries, key, entry)}
	case s["type"] == "object":
		return map[string]any{}
	case s["type"] == "array":
		items, _ := s["items"].(map[string]any)
		return []any{Example(items, key, entry)}
	case s["type"] == "boolean":
		if b, ok := s["default"].(bool); ok {
			return b
		}
		return true
	case s["type"] == "integer" || s["type"] == "number":
		if n, ok := s["default"].(float64); ok && n != 0 {
			return n
		}
		if n, ok := s["minimum"].(float64); ok && n > 0 {
			return n
		}
		return float64(1)
	}
	if d, ok := s["default"].(string); ok && d != "" {
		return d
	}
	return Text(s, key, entry)
}

// texts are typical strings, tried in turn against the pattern of a schema.
var texts = []string{"1Gi", "10", "1h", "30d", "2026-01-01T00:00:00Z", "a.example.org", "192.0.2.7", "192.0.2.0/24", "https://demo.example.org", "0 0 * * *", "v1", "a"}

// Text returns a string that a schema allows, prefer where it is one.
func Text(s map[string]any, key, prefer string) string {
	quantity, _ := s["x-kubernetes-int-or-string"].(bool)
	candidates := append([]string{prefer}, texts...)
	if quantity {
		candidates = []string{"1Gi", "1"}
		if strings.Contains(strings.ToLower(key), "cpu") {
			candidates = []string{"1"}
		}
		if _, err := strconv.Atoi(prefer); err == nil {
			candidates = append([]string{prefer}, candidates...)
		}
	}
	pattern, _ := s["pattern"].(string)
	re, err := regexp.Compile(pattern)
	for _, t := range candidates {
		if err != nil || re.MatchString(t) {
			return t
		}
	}
	return prefer
}
