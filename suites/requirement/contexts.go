package requirement

import (
	"fmt"
	"reflect"
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
// each enumeration at each of its other values that a template names, as
// path=value.
func (e *Env) ContextNames(c *tree.Chart) []string { return e.stage(c, ExampleName).names() }

// Context returns the values of a context, with example entries under the
// given name. It fails where there is no context of that name, and where the
// chart does not render in it.
func (e *Env) Context(c *tree.Chart, name, entry string) (map[string]any, error) {
	return e.stage(c, entry).context(name)
}

// Surroundings are the values of a context, and the refusal of the chart where
// it does not render with them.
type Surroundings struct {
	Name   string
	Values map[string]any
	Err    error
}

// Contexts returns all contexts of a chart, with example entries.
func (e *Env) Contexts(c *tree.Chart) []Surroundings {
	s := e.stage(c, ExampleName)
	var out []Surroundings
	for _, name := range s.names() {
		values, err := s.context(name)
		out = append(out, Surroundings{name, values, err})
	}
	return out
}

// ExampleName is the name of the entries that examples put into mappings.
const ExampleName = "demo"

// Home is the situation of a chart on which its contexts are made: a first-level
// tenant, or the root tenant where the chart refuses every other.
func (e *Env) Home(c *tree.Chart) Situation {
	home := Situation{}
	if !c.Module {
		return home
	}
	if r := e.Engine.Render(e.Input(c, home, e.Fill(c))); r.Failure != nil && r.Failure.Kind == render.FailFailure {
		root := Situation{Namespace: e.Tree.Profile.Tenant.Root}
		if e.Engine.Render(e.Input(c, root, e.Fill(c))).Failure == nil {
			return root
		}
	}
	return home
}

// stage is a chart at home, where values are tried on it.
type stage struct {
	*Env
	chart    *tree.Chart
	entry    string // names the entries of examples
	in       render.Input
	switches []map[string]any
	all      map[string]any // see most
}

func (e *Env) stage(c *tree.Chart, entry string) *stage {
	return &stage{Env: e, chart: c, entry: entry, in: e.Input(c, e.Home(c)), switches: e.switches(c, entry)}
}

func (s *stage) names() []string {
	names := []string{DefaultContext}
	if len(s.switches) > 0 {
		names = append(names, MostContext)
	}
	for _, g := range s.Gates(s.chart) {
		if g.kind == enumGate {
			for _, v := range g.Values[1:] {
				if s.Mentions(s.chart, strconv.Quote(v)) {
					names = append(names, g.Name()+"="+v)
				}
			}
		}
	}
	return names
}

func (s *stage) context(name string) (map[string]any, error) {
	set := s.Fill(s.chart)
	switch name {
	case DefaultContext:
		set = s.repair(set)
	case MostContext:
		set = s.most(set)
	default:
		gates := s.Gates(s.chart)
		i := slices.IndexFunc(gates, func(g Gate) bool {
			v, ok := strings.CutPrefix(name, g.Name()+"=")
			return ok && slices.Contains(g.Values, v)
		})
		if i < 0 {
			return nil, fmt.Errorf("chart %s has no context %q", s.chart.Dir, name)
		}
		layer := gates[i].Layer(strings.TrimPrefix(name, gates[i].Name()+"="))
		if with := s.repair(render.MergeValues(s.most(set), layer)); s.renders(with) == nil {
			return with, nil
		}
		set = s.repair(render.MergeValues(set, layer))
	}
	return set, s.renders(set)
}

func (s *stage) renders(values map[string]any) error {
	in := s.in
	in.Values = append(slices.Clone(in.Values), values)
	r := s.Engine.Render(in)
	switch {
	case r.Failure != nil:
		return r.Failure
	case len(r.YAML) > 0:
		return r.YAML[0]
	}
	return nil
}

// repair adds to values what the chart refuses to do without: values that its
// message names, one round after the other. What cannot be repaired stays.
func (s *stage) repair(values map[string]any) map[string]any {
	set := values
	for range 5 {
		err := s.renders(set)
		if err == nil {
			return set
		}
		if f, ok := err.(*render.Failure); !ok || f.Kind != render.FailFailure {
			return values
		}
		before := set
		message := strings.ToLower(err.Error())
		walkSchema(s.Schema(s.chart), render.MergeValues(s.chart.Values, set), nil, func(path []string, sub map[string]any, def any) {
			if !empty(def) || sub["type"] == "boolean" || !names(message, strings.ToLower(path[len(path)-1])) {
				return
			}
			if len(path) > 1 && !names(message, strings.ToLower(path[len(path)-2])) && strings.Contains(message, ".values.") {
				return
			}
			set = render.MergeValues(set, At(Example(sub, path[len(path)-1], s.entry), path...))
		})
		if reflect.DeepEqual(before, set) {
			return values
		}
	}
	return values
}

// names tells whether a text holds a word.
func names(text, word string) bool {
	for i := strings.Index(text, word); i >= 0; {
		end := i + len(word)
		letter := func(at int) bool { return at >= 0 && at < len(text) && text[at] >= 'a' && text[at] <= 'z' }
		if !letter(i-1) && !letter(end) {
			return true
		}
		next := strings.Index(text[end:], word)
		if next < 0 {
			return false
		}
		i = end + next
	}
	return false
}

func empty(v any) bool {
	switch t := v.(type) {
	case nil:
		return true
	case string:
		return t == ""
	case map[string]any:
		return len(t) == 0
	case []any:
		return len(t) == 0
	}
	return false
}

// most switches on as much as renders together: everything at once, else one
// switch after the other, twice, since some need others.
func (s *stage) most(base map[string]any) map[string]any {
	if s.all == nil {
		s.all = s.findMost(s.repair(base))
	}
	return s.all
}

func (s *stage) findMost(base map[string]any) map[string]any {
	all := base
	for _, on := range s.switches {
		all = render.MergeValues(all, on)
	}
	if s.renders(all) == nil {
		return all
	}
	set, switches := base, s.switches
	for range 2 {
		var left []map[string]any
		for _, on := range switches {
			if with := s.repair(render.MergeValues(set, on)); s.renders(with) == nil {
				set = with
			} else {
				left = append(left, on)
			}
		}
		if switches = left; len(left) == 0 {
			break
		}
	}
	return set
}

// switches are the values that each switch on one part of a chart: booleans
// that are false, lists and mappings that are empty, and what the platform
// injects as "false".
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
		if !empty(def) {
			return
		}
		items, _ := s["items"].(map[string]any)
		entries, _ := s["additionalProperties"].(map[string]any)
		if s["type"] == "array" && (items["type"] == "object" || items["enum"] != nil) || s["type"] == "object" && len(entries) > 0 {
			out = append(out, At(Example(s, path[len(path)-1], entry), path...))
		}
	})
	inj := e.Tree.Profile.Injected
	for _, key := range SortedKeys(inj.ClusterValues) {
		if inj.ClusterValues[key] == "false" && e.Mentions(c, key) {
			out = append(out, At("true", inj.Cluster, key))
		}
	}
	return out
}

// Example returns a value that a schema allows, with every property given but
// texts that may be left out: the default where there is one, else one that is
// typical for the type. key is the name of the property; entry names the
// entries of mappings, two in each, and is the text of strings.
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
		required, _ := s["required"].([]any)
		for _, p := range SortedKeys(props) {
			sub, ok := props[p].(map[string]any)
			// What a text means that may be left out is not known.
			if !ok || len(props) > 1 && plainText(sub) && !slices.Contains(required, any(p)) {
				continue
			}
			out[p] = Example(sub, p, entry)
		}
		return out
	case s["type"] == "object" && len(entries) > 0:
		return map[string]any{entry: Example(entries, key, entry), entry + "2": Example(entries, key, entry)}
	case s["type"] == "object":
		return map[string]any{}
	case s["type"] == "array":
		items, _ := s["items"].(map[string]any)
		if items["type"] == "string" && items["enum"] == nil {
			return []any{Example(items, key, entry), Example(items, key, entry+"2")}
		}
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

// plainText tells whether a schema allows any text and gives no default.
func plainText(s map[string]any) bool {
	d, _ := s["default"].(string)
	return s["type"] == "string" && s["enum"] == nil && s["pattern"] == nil && d == ""
}

// texts are typical strings, tried in turn against the pattern of a schema.
var texts = []string{"1Gi", "10", "1h", "30d", "2026-01-01T00:00:00Z", "a.example.org", "192.0.2.7", "192.0.2.7:80", "192.0.2.0/24", "https://demo.example.org", "0 0 * * *", "v1", "a"}

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
