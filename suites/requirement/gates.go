package requirement

import (
	"fmt"
	"sort"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
)

// Gate is a value of a chart that switches parts of it: a boolean, an
// enumeration, or a list of strings that may be empty.
type Gate struct {
	Path   []string
	Values []string // the default first
	kind   gateKind
	items  map[string]any // schema of a list's items
}

type gateKind int

const (
	boolGate gateKind = iota
	enumGate
	listGate
)

// Some and Empty are the values of a list gate.
const (
	Some  = "some"
	Empty = "none"
)

// Name is the dotted path of the value.
func (g Gate) Name() string { return strings.Join(g.Path, ".") }

// Layer returns the values that put the gate at a value.
func (g Gate) Layer(value string) map[string]any {
	switch g.kind {
	case boolGate:
		return At(value == "true", g.Path...)
	case listGate:
		if value == Some {
			return At([]any{Text(g.items, g.Path[len(g.Path)-1], "a.demo.example.org"), Text(g.items, g.Path[len(g.Path)-1], "b.demo.example.org")}, g.Path...)
		}
		return At([]any{}, g.Path...)
	}
	return At(value, g.Path...)
}

// At returns values with one value at a path.
func At(value any, path ...string) map[string]any {
	for i := len(path) - 1; i >= 0; i-- {
		value = map[string]any{path[i]: value}
	}
	m, _ := value.(map[string]any)
	return m
}

// Schema returns the published schema of a chart: the definition's, else the
// chart's own; nil where it has none.
func (e *Env) Schema(c *tree.Chart) map[string]any {
	if c.Schema != nil {
		return c.Schema
	}
	if d := e.Tree.ChartDefinition(c); d != nil {
		return d.Schema
	}
	return nil
}

// Gates returns the gates of a chart by path.
func (e *Env) Gates(c *tree.Chart) []Gate {
	return memo(e, e.gates, c.Dir, func() []Gate {
		var out []Gate
		walkSchema(e.Schema(c), c.Values, nil, func(path []string, s map[string]any, def any) {
			g := Gate{Path: path}
			enum, _ := s["enum"].([]any)
			switch {
			case s["type"] == "boolean":
				b, _ := def.(bool)
				g.Values = []string{fmt.Sprint(b), fmt.Sprint(!b)}
			case len(enum) > 0 && s["type"] == "string":
				g.kind = enumGate
				if d, ok := def.(string); ok {
					g.Values = append(g.Values, d)
				}
				for _, v := range enum {
					if t, ok := v.(string); ok && t != "" && (len(g.Values) == 0 || t != g.Values[0]) {
						g.Values = append(g.Values, t)
					}
				}
				if len(g.Values) > 1 && g.Values[0] == "" {
					g.Values = g.Values[1:]
				}
				// Long enumerations are sizes and versions: the default, the next
				// and the last stand for them.
				if n := len(g.Values); n > 3 {
					g.Values = []string{g.Values[0], g.Values[1], g.Values[n-1]}
				}
			case s["type"] == "array":
				items, _ := s["items"].(map[string]any)
				list, _ := def.([]any)
				if items["type"] != "string" || items["enum"] != nil || len(list) > 0 {
					return
				}
				g.kind, g.items = listGate, items
				g.Values = []string{Empty, Some}
			}
			if len(g.Values) > 1 {
				out = append(out, g)
			}
		})
		return out
	})
}

// walkSchema visits the leaves of a schema in order of their paths, with the
// default of each: the one in values, else the schema's.
func walkSchema(s map[string]any, values map[string]any, path []string, visit func([]string, map[string]any, any)) {
	props, _ := s["properties"].(map[string]any)
	names := make([]string, 0, len(props))
	for n := range props {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		sub, ok := props[n].(map[string]any)
		if !ok {
			continue
		}
		p := append(append([]string{}, path...), n)
		def, ok := values[n]
		if !ok {
			def = sub["default"]
		}
		if sub["properties"] != nil {
			inner, _ := def.(map[string]any)
			walkSchema(sub, inner, p, visit)
			continue
		}
		visit(p, sub, def)
	}
}

// Fill returns values for what a schema requires and has no default for: the
// first value of an enumeration, an example name for a string.
func (e *Env) Fill(c *tree.Chart) map[string]any {
	out := map[string]any{}
	s := e.Schema(c)
	required := map[string]bool{}
	if list, ok := s["required"].([]any); ok {
		for _, r := range list {
			if n, ok := r.(string); ok {
				required[n] = true
			}
		}
	}
	walkSchema(s, c.Values, nil, func(path []string, s map[string]any, def any) {
		if len(path) != 1 || s["type"] != "string" {
			return
		}
		if d, ok := def.(string); ok && d != "" {
			return
		}
		enum, _ := s["enum"].([]any)
		for _, v := range enum {
			if t, ok := v.(string); ok && t != "" {
				out[path[0]] = t
				return
			}
		}
		if required[path[0]] {
			out[path[0]] = "demo"
		}
	})
	return render.MergeValues(out, e.Tree.Profile.Examples[c.Dir].Values)
}

// Axes of a sweep beside the gates.
const (
	ModulesAxis = "modules"
	APIsAxis    = "apis"
	allAPIs     = "all"
	noAPIs      = "none"
)

// Sweep is the matrix of situations for a chart: its gates, where its modules
// come from, whether the cluster serves the platform's APIs, and whether it holds
// what the chart looks up; pairwise.
func (e *Env) Sweep(c *tree.Chart) matrix.Matrix {
	m := matrix.Matrix{Pairwise: true}
	if c.Application {
		m.Axes = append(m.Axes, matrix.Axis{Name: ModulesAxis, Values: []string{Inherited, Own, None}})
	}
	m.Axes = append(m.Axes, matrix.Axis{Name: APIsAxis, Values: []string{allAPIs, noAPIs}})
	for _, g := range e.Gates(c) {
		m.Axes = append(m.Axes, matrix.Axis{Name: g.Name(), Values: g.Values})
	}
	if axes := e.lookupAxes(c); len(axes) > 0 {
		m.Axes = append(m.Axes, axes...)
		m.Where = func(p matrix.Point) bool { return !e.contradicts(c, p) }
	}
	return m
}

// SweepInput returns how a chart is rendered at a point of its sweep, with
// more values laid over.
func (e *Env) SweepInput(c *tree.Chart, p matrix.Point, more ...map[string]any) render.Input {
	values := e.filled(c, p)
	for _, g := range e.Gates(c) {
		if v := p.Get(g.Name()); v != "" {
			values = render.MergeValues(values, g.Layer(v))
		}
	}
	in := e.Input(c, e.sweepSituation(p), append([]map[string]any{values}, more...)...)
	return e.looked(c, in, p)
}

// sweepSituation is what surrounds a chart at a point of its sweep.
func (e *Env) sweepSituation(p matrix.Point) Situation {
	s := Situation{Offline: p.Get(APIsAxis) == noAPIs, Modules: map[string]string{}}
	if v := p.Get(ModulesAxis); v != "" {
		for _, m := range e.Tree.Profile.Injected.Modules {
			s.Modules[m] = v
		}
	}
	return s
}
