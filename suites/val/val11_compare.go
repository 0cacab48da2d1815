package val

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"proofplane/fixtures/render"
	"proofplane/suites/requirement"
)

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
	told := map[int]map[textKind]int{}
	for _, y := range yamlTexts() {
		// What two texts of a kind show, more of them do not show better.
		left := slices.DeleteFunc(slices.Clone(leaves), func(i int) bool { return told[i][y.kind] >= enough })
		before := len(t.lost)
		done := map[int]bool{}
		for _, i := range t.try(x, fresh, left, y) {
			// Texts with syntax are too different to tell of each other.
			done[i] = y.kind != syntaxText
		}
		for _, l := range t.lost[before:] {
			done[l.leaf] = true
		}
		for i, ok := range done {
			if told[i] == nil {
				told[i] = map[textKind]int{}
			}
			if ok {
				told[i][y.kind]++
			}
		}
	}
}

// enough texts of one kind that a leaf loses, or that are refused, tell what there
// is to tell.
const enough = 2

// try gives all leaves one text at once, and looks closer at those that lose it.
// It returns those of which the chart refuses it.
func (t *texts) try(x *setting, fresh []arrival, leaves []int, y yamlText) []int {
	leaves = slices.DeleteFunc(slices.Clone(leaves), func(i int) bool { return !t.leaves[i].allows(y.text) })
	leaves = t.legal(x, leaves, y.text)
	if len(leaves) == 0 {
		return nil
	}
	text := func(int) string { return y.text }
	given, failed := t.settle(x.values, x.given, leaves, text)
	for _, i := range leaves {
		if f := failed[i]; f != nil {
			t.refused(x, i, y, f)
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
			t.refused(x, i, y, alone.Failure)
			continue
		}
		t.compare(x, fresh, alone, one, i, y)
	}
	return slices.DeleteFunc(leaves, func(i int) bool { return failed[i] == nil })
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
func (t *texts) refused(x *setting, leaf int, y yamlText, f *render.Failure) {
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
