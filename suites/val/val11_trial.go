package val

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/requirement"
)

// texts is the search of one chart for strings that do not arrive as they are.
type texts struct {
	*requirement.Env
	chart  *tree.Chart
	leaves []textLeaf
	prefix string // of the release name
	home   render.Input

	seen   map[string]bool // leaf and shape of the places that were judged
	judged map[int]int     // places by leaf
	ruled  map[int]bool    // leaves that no text is judged of: the chart refuses each, or none is legal
	lost   []lostText
}

// lostText is a text that did not arrive as the same string.
type lostText struct {
	leaf int
	text yamlText
	what string // became of it

	result *render.Result
	object *render.Object
	path   []string
	place  string // where there is no object: the template that broke
	broken bool   // the render, or the document
	whole  bool   // the leaf stands there with nothing around it
	name   string // of the object, as it would be
}

// textsOf judges all strings of a chart at once.
func textsOf(e *requirement.Env, c *tree.Chart) *texts {
	return requirement.Shared(e, "VAL-11 "+c.Dir, func() *texts {
		t := &texts{Env: e, chart: c, leaves: chartTexts(e, c), seen: map[string]bool{}, judged: map[int]int{}, ruled: map[int]bool{}}
		t.home = e.Input(c, e.Home(c))
		if d := e.Tree.ChartDefinition(c); d != nil {
			t.prefix = d.Prefix
		}
		t.search()
		return t
	})
}

// chartTexts returns the strings that a chart is given: those of its schema, and
// the name of the instance where users choose it.
func chartTexts(e *requirement.Env, c *tree.Chart) []textLeaf {
	out := textLeaves(e.Schema(c))
	if !c.Module && e.Tree.ChartDefinition(c) != nil {
		l := textLeaf{use: nameText}
		l.mark = markFor(l, len(out))
		out = append(out, l)
	}
	return out
}

// marked is the surroundings in which leaves are given texts, with marks in all
// that bear one.
type marked struct {
	values map[string]any
	given  assignment
	result *render.Result
	arrive []arrival
}

func (t *texts) search() {
	var contexts []requirement.Surroundings
	for _, x := range t.Contexts(t.chart) {
		if x.Err == nil {
			contexts = append(contexts, x)
		}
	}
	// Most leaves live where most is switched on.
	if len(contexts) > 1 {
		contexts[0], contexts[1] = contexts[1], contexts[0]
	}
	all := make([]int, 0, len(t.leaves))
	for i, l := range t.leaves {
		if l.mark != "" {
			all = append(all, i)
		}
	}
	for _, x := range contexts {
		t.judge(t.prepare(x.Values, all))
	}
	// What has arrived nowhere may need to be alone.
	for _, i := range all {
		for _, x := range contexts[:min(2, len(contexts))] {
			if t.judged[i] == 0 {
				t.judge(t.prepare(x.Values, []int{i}))
			}
		}
	}
}

// render renders the chart with texts laid over a context.
func (t *texts) render(values map[string]any, a assignment) *render.Result {
	more, name := t.laid(values, a)
	in := t.home
	in.Values = append(slices.Clone(in.Values), more)
	if name != "" {
		in.Release = t.prefix + name
	}
	return t.Engine.Render(in)
}

// prepare gives as many leaves their marks as the chart renders with.
func (t *texts) prepare(values map[string]any, leaves []int) *marked {
	x := &marked{values: values}
	x.given, _ = t.settle(values, assignment{}, leaves, func(i int) string { return t.leaves[i].mark })
	x.result = t.render(values, x.given)
	if x.result.Failure == nil {
		x.arrive = arrivals(x.result, t.leaves)
	}
	return x
}

// settle adds texts for leaves to those that are given, as many as the chart
// renders with; the rest comes back with its failures.
func (t *texts) settle(values map[string]any, given assignment, leaves []int, text func(int) string) (assignment, map[int]*render.Failure) {
	failed := map[int]*render.Failure{}
	var add func(leaves []int)
	add = func(leaves []int) {
		if len(leaves) == 0 {
			return
		}
		with := given.with(leaves, text)
		r := t.render(values, with)
		switch {
		case r.Failure == nil:
			given = with
		case len(leaves) == 1:
			failed[leaves[0]] = r.Failure
		default:
			add(leaves[:len(leaves)/2])
			add(leaves[len(leaves)/2:])
		}
	}
	add(leaves)
	return given, failed
}

func (a assignment) with(leaves []int, text func(int) string) assignment {
	out := make(assignment, len(a)+len(leaves))
	for i, s := range a {
		out[i] = s
	}
	for _, i := range leaves {
		out[i] = text(i)
	}
	return out
}

// judge tries the texts on the leaves that arrive at places which are new.
func (t *texts) judge(x *marked) {
	var fresh []arrival
	var leaves []int
	for _, a := range x.arrive {
		isNew := false
		for _, i := range a.leaves {
			id := t.leaves[i].mark + " " + a.shape()
			if !t.seen[id] {
				t.seen[id], isNew = true, true
				t.judged[i]++
				if !slices.Contains(leaves, i) {
					leaves = append(leaves, i)
				}
			}
		}
		if isNew {
			fresh = append(fresh, a)
		}
	}
	if len(leaves) == 0 {
		return
	}
	slices.Sort(leaves)
	for _, y := range yamlTexts() {
		t.try(x, fresh, leaves, y)
	}
}

// try gives all leaves one text at once, and looks closer at those that lose it.
func (t *texts) try(x *marked, fresh []arrival, leaves []int, y yamlText) {
	leaves = slices.DeleteFunc(slices.Clone(leaves), func(i int) bool { return !t.leaves[i].allows(y.text) })
	leaves = t.legal(x, leaves, y.text)
	if len(leaves) == 0 {
		return
	}
	text := func(int) string { return y.text }
	given, failed := t.settle(x.values, x.given, leaves, text)
	for _, i := range leaves {
		if f := failed[i]; f != nil {
			t.refused(x, fresh, i, y, f)
		}
	}
	r := t.render(x.values, given)
	for _, i := range t.suspects(x, fresh, r, given, y.text) {
		// Alone, to tell its own faults from those of the others.
		one := x.given.with([]int{i}, text)
		alone := t.render(x.values, one)
		if alone.Failure != nil {
			t.refused(x, fresh, i, y, alone.Failure)
			continue
		}
		t.compare(x, fresh, alone, one, i, y)
	}
}

// swap returns how a text with marks reads once leaves have other texts.
func (t *texts) swap(marks, given assignment) func(string) string {
	var list []string
	for i, m := range marks {
		if given[i] != m {
			list = append(list, m, given[i])
		}
	}
	r := strings.NewReplacer(list...)
	return func(s string) string {
		if !strings.Contains(s, unlikely) {
			return s
		}
		return r.Replace(s)
	}
}

// suspects returns the leaves of which some place did not keep the text.
func (t *texts) suspects(x *marked, fresh []arrival, r *render.Result, given assignment, text string) []int {
	var out []int
	swap := t.swap(x.given, given)
	to := pairs(x.result, r, swap)
	for _, a := range fresh {
		o := to[a.object]
		bad := o == nil && brokenIn(r, x.result, a.object.Template)
		if o != nil {
			got, _ := a.become(o, swap, text)
			bad = got == changedText
		}
		for _, i := range a.leaves {
			if bad && given[i] == text && !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
	}
	return out
}

// brokenIn tells whether a template wrote a document that is no YAML, and did not
// in another render.
func brokenIn(r, before *render.Result, template string) bool {
	in := func(r *render.Result) int {
		n := 0
		for _, f := range r.YAML {
			if f.File == template {
				n++
			}
		}
		return n
	}
	return in(r) > in(before)
}

// compare notes the places at which one leaf alone loses a text.
func (t *texts) compare(x *marked, fresh []arrival, r *render.Result, given assignment, leaf int, y yamlText) {
	swap := t.swap(x.given, given)
	to := pairs(x.result, r, swap)
	noted := map[string]bool{} // one document breaks at one place
	for _, a := range fresh {
		if !slices.Contains(a.leaves, leaf) {
			continue
		}
		l := lostText{leaf: leaf, text: y, result: x.result, object: a.object, path: a.path, whole: a.whole(t.leaves[leaf])}
		l.name = a.object.GetKind() + " " + marks.ReplaceAllString(swap(a.object.GetName()), requirement.ExampleName)
		o := to[a.object]
		switch {
		case o != nil:
			got, what := a.become(o, swap, y.text)
			if got != changedText {
				continue
			}
			l.what = what
		case brokenIn(r, x.result, a.object.Template):
			l.what, l.broken = "breaks the YAML", true
			if noted[a.object.Template] || !t.culprit(r, a) {
				continue
			}
			noted[a.object.Template] = true
		default:
			continue
		}
		t.lost = append(t.lost, l)
	}
}

// culprit tells whether the YAML error of a template may be at an arrival: the
// error cites a key of its path, or none that any path could have.
func (t *texts) culprit(r *render.Result, a arrival) bool {
	for _, f := range r.YAML {
		if f.File != a.object.Template {
			continue
		}
		_, key, ok := strings.Cut(f.Message, `: at "`)
		key = strings.TrimLeft(strings.TrimSuffix(key, `"`), "- ")
		if !ok || slices.Contains(a.path, key) || a.key {
			return true
		}
	}
	return true
}

// refused notes a template that breaks on a text; one that says why is right.
func (t *texts) refused(x *marked, fresh []arrival, leaf int, y yamlText, f *render.Failure) {
	if f.Kind == render.FailFailure || f.Kind == render.SchemaFailure {
		return
	}
	t.lost = append(t.lost, lostText{leaf: leaf, text: y, what: "breaks the template", place: f.Place(), result: x.result, broken: true})
}

// legal leaves out what a text makes illegal where it arrives: a name or a label
// that the API server refuses is no text that the leaf can have.
func (t *texts) legal(x *marked, leaves []int, text string) []int {
	given := x.given.with(leaves, func(int) string { return text })
	swap := t.swap(x.given, given)
	out := map[int]bool{}
	var last *render.Object
	var paths map[string]bool
	for _, a := range x.arrive {
		if !restricted(a.path) {
			continue
		}
		if a.object != last {
			last, paths = a.object, map[string]bool{}
			for _, p := range requirement.Illegal(swapped(a.object, swap)) {
				paths[strings.Join(p.Path, "/")] = true
			}
		}
		path := make([]string, len(a.path))
		for i, p := range a.path {
			path[i] = swap(p)
		}
		if paths[strings.Join(path, "/")] {
			for _, i := range a.leaves {
				out[i] = true
			}
		}
	}
	return slices.DeleteFunc(leaves, func(i int) bool { return out[i] })
}

// restricted tells whether a path may be one of a name or a label.
func restricted(path []string) bool {
	return slices.ContainsFunc(path, func(p string) bool {
		return p == "name" || p == "namespace" || p == "labels" || p == "annotations" || p == "matchLabels" || p == "nodeSelector"
	})
}

// swapped returns an object as it reads once leaves have other texts.
func swapped(o *render.Object, swap func(string) string) *unstructured.Unstructured {
	var change func(v any) any
	change = func(v any) any {
		switch t := v.(type) {
		case map[string]any:
			out := make(map[string]any, len(t))
			for k, x := range t {
				out[swap(k)] = change(x)
			}
			return out
		case []any:
			out := make([]any, len(t))
			for i, x := range t {
				out[i] = change(x)
			}
			return out
		case string:
			return swap(t)
		}
		return v
	}
	m, _ := change(o.Object).(map[string]any)
	return &unstructured.Unstructured{Object: m}
}
