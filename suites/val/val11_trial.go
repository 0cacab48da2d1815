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

	renamed bool // keys are renamed wherever they are named

	seen   map[string]bool // leaf and shape of the places that were judged
	judged map[int]int     // places by leaf
	picky  map[int]bool    // leaves of which the chart refused a text
	lost   []lostText
	err    error // the chart renders in no context

	named  map[int]bool // leaves that become part of the name or a label of an object
	secret map[int]bool // leaves that a Secret holds
}

// lostText is a text that did not arrive as the same string.
type lostText struct {
	leaf int
	text yamlText
	what string // became of it

	result *render.Result
	object *render.Object
	path   []string
	name   string // of the object, as it would be
	place  string // where there is no object: the template that broke
	broken bool   // the render, or the document
}

// textsOf judges all strings of a chart at once.
func textsOf(e *requirement.Env, c *tree.Chart) *texts {
	return requirement.Shared(e, "VAL-11 "+c.Dir, func() *texts {
		t := &texts{Env: e, chart: c, leaves: chartTexts(e, c), seen: map[string]bool{}, judged: map[int]int{}, picky: map[int]bool{}, named: map[int]bool{}, secret: map[int]bool{}}
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
	if d := e.Tree.ChartDefinition(c); !c.Module && d != nil {
		pattern := e.Tree.Profile.Names.For(d.Kind)
		if pattern == "" {
			pattern = dnsLabel
		}
		l := textLeaf{use: nameText, schemaLeaf: schemaLeaf{parents: []map[string]any{{"pattern": pattern}}}}
		l.mark = markFor(l, len(out))
		out = append(out, l)
	}
	return out
}

// dnsLabel is what Kubernetes itself accepts as the name of most things.
const dnsLabel = `^[a-z]([-a-z0-9]*[a-z0-9])?$`

// setting is the surroundings in which leaves are given texts, with marks in all
// that bear one.
type setting struct {
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
		} else if t.err == nil {
			t.err = x.Err
		}
	}
	if len(contexts) > 0 {
		t.err = nil
	}
	// Most leaves live where most is switched on.
	if len(contexts) > 1 {
		contexts[0], contexts[1] = contexts[1], contexts[0]
	}
	all := t.marked()
	for n, x := range contexts {
		if n >= 2 {
			all = slices.DeleteFunc(all, func(i int) bool { return t.picky[i] })
		}
		t.judge(t.prepare(x.Values, all))
	}
	// What has arrived nowhere may need to be alone; a key, together with the lists
	// that name it; or what the chart asks for where it refuses it.
	persuaded := map[string]bool{}
	for i, l := range t.leaves {
		if l.mark == "" {
			continue
		}
		for _, x := range contexts[:min(2, len(contexts))] {
			for _, named := range []bool{false, true} {
				if t.judged[i] == 0 && (!named || l.use == keyText) {
					t.renamed = named
					t.judge(t.prepare(x.Values, []int{i}))
				}
			}
			t.renamed = false
		}
		if t.judged[i] == 0 && len(contexts) > 0 && !persuaded[l.group()] {
			persuaded[l.group()] = true
			if values, item := t.persuade(contexts[0].Values, i); values != nil {
				t.judge(t.prepare(values, slices.DeleteFunc(t.marked(), func(j int) bool { return j == item })))
			}
		}
	}
}

// marked returns the leaves that have a mark.
func (t *texts) marked() []int {
	var out []int
	for i, l := range t.leaves {
		if l.mark != "" {
			out = append(out, i)
		}
	}
	return out
}

// persuade returns values under which the chart renders with a leaf that it
// refuses: a list of texts beside it holds a term that the refusal names. item is
// the leaf of that list.
func (t *texts) persuade(values map[string]any, leaf int) (with map[string]any, item int) {
	mark := assignment{leaf: t.leaves[leaf].mark}
	r := t.render(values, mark)
	if r.Failure == nil || r.Failure.Kind != render.FailFailure {
		return nil, -1
	}
	words := terms.FindAllString(r.Failure.Message, 8)
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		for i, l := range t.leaves {
			if l.use != valueText || l.last() != "0" || len(l.path) < 3 || l.path[0] != t.leaves[leaf].group() || !l.allows(w) || i == leaf {
				continue
			}
			if with, _ := t.laid(values, assignment{i: w}); t.render(with, mark).Failure == nil {
				return with, i
			}
		}
	}
	return nil, -1
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
func (t *texts) prepare(values map[string]any, leaves []int) *setting {
	x := &setting{values: values}
	x.given, _ = t.settle(values, assignment{}, leaves, func(i int) string { return t.leaves[i].mark })
	x.result = t.render(values, x.given)
	if x.result.Failure == nil {
		x.arrive = arrivals(x.result, t.leaves)
	}
	return x
}

// settle adds texts for leaves to those that are given, as many as the chart
// renders with; the rest comes back with its failures. Leaves that were refused
// before come last and one by one: to find them among the others costs renders.
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
			t.picky[leaves[0]] = true
		default:
			add(leaves[:len(leaves)/2])
			add(leaves[len(leaves)/2:])
		}
	}
	var easy, picky []int
	for _, i := range leaves {
		if t.picky[i] {
			picky = append(picky, i)
		} else {
			easy = append(easy, i)
		}
	}
	add(easy)
	for _, i := range picky {
		add([]int{i})
	}
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
func (t *texts) judge(x *setting) {
	var fresh []arrival
	var leaves []int
	for _, a := range x.arrive {
		isNew := false
		for _, i := range a.leaves {
			t.named[i] = t.named[i] || a.names()
			t.secret[i] = t.secret[i] || a.hidden() && a.text == t.leaves[i].mark
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
	lost := map[int]map[textKind]int{}
	for _, y := range yamlTexts() {
		// What two texts of a kind show, more of them do not show better.
		left := slices.DeleteFunc(slices.Clone(leaves), func(i int) bool { return lost[i][y.kind] >= enough })
		before := len(t.lost)
		t.try(x, fresh, left, y)
		seen := map[int]bool{}
		for _, l := range t.lost[before:] {
			if !seen[l.leaf] {
				seen[l.leaf] = true
				if lost[l.leaf] == nil {
					lost[l.leaf] = map[textKind]int{}
				}
				lost[l.leaf][y.kind]++
			}
		}
	}
}

// enough texts of one kind that a leaf loses tell what there is to tell.
const enough = 2

// try gives all leaves one text at once, and looks closer at those that lose it.
func (t *texts) try(x *setting, fresh []arrival, leaves []int, y yamlText) {
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
	clear, unclear := t.suspects(x, fresh, r, given, y.text)
	for _, i := range clear {
		t.compare(x, fresh, r, given, i, y)
	}
	for _, i := range unclear {
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
		if !isMarked(s) {
			return s
		}
		return r.Replace(s)
	}
}

// suspects returns the leaves of which some place did not keep the text; unclear
// are those whose fault may be another leaf's.
func (t *texts) suspects(x *setting, fresh []arrival, r *render.Result, given assignment, text string) (clear, unclear []int) {
	swap := t.swap(x.given, given)
	to := pairs(x.result, r, swap)
	doubt := map[int]bool{}
	broke := map[string][]int{} // leaves by the template that broke
	for _, a := range fresh {
		o := to[a.object]
		bad := o == nil && brokenIn(r, x.result, a.object.Template)
		if o != nil {
			got, _ := a.become(o, swap, text)
			bad = got == changedText
		}
		if !bad {
			continue
		}
		var here []int
		for _, i := range a.leaves {
			if given[i] == text {
				here = append(here, i)
			}
		}
		for _, i := range here {
			if _, ok := doubt[i]; !ok || len(here) > 1 {
				doubt[i] = len(here) > 1
			}
			if o == nil && !slices.Contains(broke[a.object.Template], i) {
				broke[a.object.Template] = append(broke[a.object.Template], i)
			}
		}
	}
	for _, leaves := range broke {
		for _, i := range leaves {
			doubt[i] = doubt[i] || len(leaves) > 1
		}
	}
	for i := range t.leaves {
		if d, ok := doubt[i]; ok && d {
			unclear = append(unclear, i)
		} else if ok {
			clear = append(clear, i)
		}
	}
	return clear, unclear
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

// compare notes the places at which one leaf loses a text.
func (t *texts) compare(x *setting, fresh []arrival, r *render.Result, given assignment, leaf int, y yamlText) {
	swap := t.swap(x.given, given)
	to := pairs(x.result, r, swap)
	note := func(a arrival, what string, broken bool) {
		t.lost = append(t.lost, lostText{
			leaf: leaf, text: y, what: what, broken: broken,
			result: x.result, object: a.object, path: a.path,
			name: a.object.GetKind() + " " + marks.ReplaceAllString(swap(a.object.GetName()), requirement.ExampleName),
		})
	}
	broken := map[string][]arrival{} // by template
	for _, a := range fresh {
		if !slices.Contains(a.leaves, leaf) {
			continue
		}
		o := to[a.object]
		if o == nil && brokenIn(r, x.result, a.object.Template) {
			broken[a.object.Template] = append(broken[a.object.Template], a)
		}
		if o == nil {
			continue
		}
		if got, what := a.become(o, swap, y.text); got == changedText {
			note(a, what, false)
		}
	}
	// One document breaks at one place.
	for _, template := range requirement.SortedKeys(broken) {
		note(t.culprit(r, broken[template], leaf, swap), "breaks the YAML", true)
	}
}

// culprit returns the arrival of a leaf at which a template broke: one that has
// lost another text, else one on whose path the error lies, else the first.
func (t *texts) culprit(r *render.Result, list []arrival, leaf int, swap func(string) string) arrival {
	for _, a := range list {
		if slices.ContainsFunc(t.lost, func(l lostText) bool {
			return l.leaf == leaf && l.object == a.object && slices.Equal(l.path, a.path)
		}) {
			return a
		}
	}
	for _, f := range r.YAML {
		_, key, ok := strings.Cut(f.Message, `: at "`)
		key = strings.Trim(key, "- \"'")
		for _, a := range list {
			if ok && f.File == a.object.Template && slices.ContainsFunc(a.path, func(p string) bool { return swap(p) == key }) {
				return a
			}
		}
	}
	return list[0]
}

// refused notes a template that breaks on a text; one that says why is right.
func (t *texts) refused(x *setting, fresh []arrival, leaf int, y yamlText, f *render.Failure) {
	if f.Kind == render.FailFailure || f.Kind == render.SchemaFailure {
		return
	}
	t.lost = append(t.lost, lostText{leaf: leaf, text: y, what: "breaks the template", place: f.Place(), result: x.result, broken: true})
}

// legal leaves out what a text makes illegal where it arrives: a name or a label
// that the API server refuses is no text that the leaf can have.
func (t *texts) legal(x *setting, leaves []int, text string) []int {
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
