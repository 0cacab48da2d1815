package requirement

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
)

// Mentions tells whether a template of the chart, its dependencies left out,
// holds the text.
func (e *Env) Mentions(c *tree.Chart, text string) bool {
	return memo(e, e.mentions, c.Dir+"\x00"+text, func() bool { return e.Engine.Mentions(c.Dir, text) })
}

// Subjects makes a plan of all charts that can be rendered and that keep
// accepts, each with the matrix that of gives; skip is the reason where that
// leaves none.
func (e *Env) Subjects(keep func(*tree.Chart) bool, of func(*tree.Chart) matrix.Matrix, skip string) Plan {
	var p Plan
	for _, c := range e.Renderable() {
		if c.Err == nil && keep(c) {
			p.Subjects = append(p.Subjects, Subject{Chart: c, Matrix: of(c)})
		}
	}
	if len(p.Subjects) == 0 {
		p.Skip = skip
	}
	return p
}

// Result renders an input for a case that is about what is rendered. Where the
// chart refuses the values with a message, or gives nothing, the case is
// skipped; where it breaks, the case is blocked: VAL-02 judges that. ok is
// false then.
func (c *Check) Result(in render.Input) (*render.Result, bool) {
	r := c.Engine.Render(in)
	return r, c.usable(r)
}

func (c *Check) usable(r *render.Result) bool {
	switch {
	case r.Failure != nil && (r.Failure.Kind == render.FailFailure || r.Failure.Kind == render.SchemaFailure):
		c.Skip("the chart refuses the values: %s", firstLine(r.Failure.Error()))
		return false
	case r.Failure != nil:
		c.Block("the chart does not render: %s", firstLine(r.Failure.Error()))
		return false
	case len(r.Objects) == 0 && len(r.YAML) == 0:
		c.Skip("the chart renders nothing here")
		return false
	}
	return true
}

// Closure is Result for a chart and all that its HelmReleases install.
func (c *Check) Closure(in render.Input) ([]*render.Release, bool) {
	all := c.Engine.Closure(in)
	return all, c.usable(all[0].Result)
}

// Whole is Closure for a case that is about what is not there: a document that is
// no YAML may hold it, so that the case is blocked; VAL-04 judges that.
func (c *Check) Whole(in render.Input) ([]*render.Release, bool) {
	all, ok := c.Closure(in)
	for _, r := range all {
		if ok && r.Result != nil && len(r.YAML) > 0 {
			c.Block("a document is not strict YAML: %s", firstLine(r.YAML[0].Error()))
			return all, false
		}
	}
	return all, ok
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// Nested returns the string at a path of an object, "" where there is none.
func Nested(o *unstructured.Unstructured, path ...string) string {
	s, _, err := unstructured.NestedString(o.Object, path...)
	if err != nil {
		return ""
	}
	return s
}

// Map returns the mapping at a path, nil where there is none. It is not copied
// and must not be changed.
func Map(v any, path ...string) map[string]any {
	m, _ := Field(v, path...).(map[string]any)
	return m
}

// List returns the list at a path, nil where there is none.
func List(v any, path ...string) []any {
	l, _ := Field(v, path...).([]any)
	return l
}

// Field returns the value at a path of nested mappings, nil where there is
// none.
func Field(v any, path ...string) any {
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}

// Walk visits every value below v with its path, parents first.
func Walk(v any, visit func(path []string, v any)) { walk(v, nil, visit) }

func walk(v any, path []string, visit func([]string, any)) {
	visit(path, v)
	switch t := v.(type) {
	case map[string]any:
		for _, k := range SortedKeys(t) {
			walk(t[k], append(path[:len(path):len(path)], k), visit)
		}
	case []any:
		for i, x := range t {
			walk(x, append(path[:len(path):len(path)], itoa(i)), visit)
		}
	}
}

// Served returns the definition of the application kind that a HelmRelease is
// of: by its label, else by the chart that it installs; nil where the API does
// not serve it.
func (e *Env) Served(hr *unstructured.Unstructured) *tree.Definition {
	if !render.IsHelmRelease(hr) {
		return nil
	}
	if kind := hr.GetLabels()[e.Tree.Profile.Labels.ApplicationKind]; kind != "" {
		if d := e.Tree.Definition(kind); d != nil {
			return d
		}
	}
	if Field(hr.Object, "spec", "kubeConfig") != nil {
		return nil
	}
	ref := Nested(hr, "spec", "chartRef", "name")
	if ref == "" {
		return nil
	}
	a := e.Tree.Artifact(ref)
	if a == nil || a.Chart == nil {
		return nil
	}
	return e.Tree.ChartDefinition(a.Chart)
}

// BareInput is SweepInput without the values that the platform injects.
func (e *Env) BareInput(c *tree.Chart, p matrix.Point) render.Input {
	in := e.SweepInput(c, p)
	inj := e.Tree.Profile.Injected
	for i, layer := range in.Values {
		if layer[inj.Cluster] != nil && layer[inj.Namespace] != nil {
			in.Values = append(append([]map[string]any{}, in.Values[:i]...), in.Values[i+1:]...)
			break
		}
	}
	return in
}
