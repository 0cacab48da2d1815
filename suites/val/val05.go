package val

import (
	"context"
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// VAL05: every value that is offered does something.
var VAL05 = &requirement.Requirement{
	ID:        "VAL-05",
	Statement: "Every schema leaf has an effect or is declared inert",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "field bug: the replica counts of two components were in the schema of an application and never handed to the chart behind it",
	Axes:      "every application chart with a schema, each property on top of it",
	How:       "changes each leaf of the schema, in the mappings and lists too, with everything switched on, with the defaults, at every alternative, and with the modules own, inherited and missing, until the rendered objects change or a template refuses the value. Objects that only watch (profile: observers) do not count, and a change that reaches nothing but the values of a HelmRelease has to change what that renders, where its chart is in the tree and the leaf is no mapping of free shape. A leaf of an entry that the chart refuses in every form is left out, and so is one whose description says that it is unused, deprecated, reserved or without effect. Must in all cases: a user is offered what does nothing",
	Fix:       "hand the value over, take it out of the schema, or say in its description that it has no effect",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool { return c.Application && len(schemaLeaves(e.Schema(c))) > 0 }, func(c *tree.Chart) matrix.Matrix {
			var names []string
			for _, l := range schemaLeaves(e.Schema(c)) {
				if !slices.Contains(names, l.path[0]) {
					names = append(names, l.path[0])
				}
			}
			return matrix.Matrix{Axes: []matrix.Axis{{Name: "value", Values: names}}}
		}, "no application chart has a schema"), nil
	},
	Judge: judgeVAL05,
}

// schemaLeaf is a value that a schema offers.
type schemaLeaf struct {
	// path of the value; entries of mappings are named, items of lists numbered.
	path []string
	// parents are the schemas of the elements of path, the leaf's last.
	parents []map[string]any
	inert   bool // by its own description, or one above it
}

// name is the path as people write it.
func (l schemaLeaf) name() string {
	var out []string
	for i, p := range l.path {
		if i > 0 && l.parents[i-1]["properties"] == nil {
			p = "*"
		}
		out = append(out, p)
	}
	return strings.Join(out, ".")
}

// inertWords are how a description says that a value does nothing; that it does
// nothing beside another one does not count.
var inertWords = regexp.MustCompile(`(?i)^\W*(deprecated|unused|reserved|not used|ignored)\b|\bunused\b|\breserved for future\b|\b(not used|no effect|ignored)\W*$`)

// schemaLeaves returns the leaves of a schema in order: scalars, lists of
// scalars, and mappings whose shape is not said.
func schemaLeaves(s map[string]any) []schemaLeaf {
	var out []schemaLeaf
	var walk func(s map[string]any, l schemaLeaf)
	walk = func(s map[string]any, l schemaLeaf) {
		below := func(name string, sub map[string]any) schemaLeaf {
			d, _ := sub["description"].(string)
			return schemaLeaf{append(slices.Clone(l.path), name), append(slices.Clone(l.parents), sub), l.inert || inertWords.MatchString(d)}
		}
		props, _ := s["properties"].(map[string]any)
		entries, _ := s["additionalProperties"].(map[string]any)
		items, _ := s["items"].(map[string]any)
		switch {
		case len(props) > 0:
			for _, n := range requirement.SortedKeys(props) {
				if sub, ok := props[n].(map[string]any); ok {
					walk(sub, below(n, sub))
				}
			}
		case len(entries) > 0 && entries["properties"] != nil:
			walk(entries, below(requirement.ExampleName, entries))
		case items["properties"] != nil:
			walk(items, below("0", items))
		case len(l.path) > 0:
			out = append(out, l)
		}
	}
	walk(s, schemaLeaf{})
	return out
}

func judgeVAL05(_ context.Context, c *requirement.Check) {
	chart := c.Subject.Chart
	leaves := schemaLeaves(c.Schema(chart))
	var contexts []surroundings
	for _, x := range c.Contexts(chart) {
		contexts = append(contexts, surroundings{values: x.Values, refused: x.Err != nil, near: strings.HasPrefix(x.Name, c.Get("value"))})
	}
	// What is about the value itself comes first, then what has most switched
	// on, since most leaves live there; what the chart refuses comes last: a
	// leaf may be what it asks for.
	if len(contexts) > 1 {
		contexts[0], contexts[1] = contexts[1], contexts[0]
	}
	if !slices.ContainsFunc(contexts, func(s surroundings) bool { return !s.refused }) {
		c.Block("the chart renders neither with its defaults nor with anything switched on")
		return
	}
	most := contexts[0]
	here := &stage{Check: c, leaves: leaves, homes: map[string]render.Input{}}
	shown := here.shown(contexts)
	rank := func(s surroundings) int {
		switch {
		case s.near && !s.refused:
			return 0
		case s.near:
			return 1
		case !s.refused:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(contexts, func(a, b surroundings) int { return rank(a) - rank(b) })
	inert, refused := 0, 0
	for _, l := range leaves {
		switch {
		case l.path[0] != c.Get("value"):
			continue
		case l.inert:
			inert++
			continue
		}
		t := &trial{stage: here, leaf: l}
		some := func(s surroundings) bool { return t.effect(s, quick) || t.alone(s) }
		every := func(s surroundings) bool { return t.effect(s, thorough) }
		alive := shown[l.key()] || slices.ContainsFunc(contexts, some) || t.nearby(most) || slices.ContainsFunc(contexts, every)
		if !alive && !t.rendered {
			refused++
			continue
		}
		c.Assert(alive, func() requirement.Finding {
			return requirement.Finding{
				Chart: chart.Dir, Place: schemaPlace(c, l), Subject: l.name(), Cause: l.name(),
				Message: fmt.Sprintf("value %s has no effect: whatever a user sets it to, nothing that is rendered changes", l.name()),
				Want:    "a value that is handed over, or declared to be without effect",
			}
		})
	}
	switch {
	case c.Assertions > 0:
	case inert > 0:
		c.Skip("declared to be without effect")
	case refused > 0:
		c.Skip("the chart refuses every example of the entry that these values stand in")
	}
}

// surroundings are what a leaf is changed in.
type surroundings struct {
	values  map[string]any
	modules string // of all modules; "" is inherited
	refused bool   // by the chart, as they are
	near    bool   // about the value that is judged
}

// stage is the chart whose leaves are tried.
type stage struct {
	*requirement.Check
	leaves []schemaLeaf
	homes  map[string]render.Input // by the modules
}

// input returns the chart in surroundings, with more values laid over.
func (t *stage) input(s surroundings, more map[string]any) render.Input {
	in, ok := t.homes[s.modules]
	if !ok {
		home := t.Home(t.Subject.Chart)
		home.Modules = map[string]string{}
		for _, m := range t.Tree.Profile.Injected.Modules {
			if s.modules != "" {
				home.Modules[m] = s.modules
			}
		}
		in = t.Input(t.Subject.Chart, home)
		t.homes[s.modules] = in
	}
	in.Values = append(slices.Clone(in.Values), s.values, more)
	return in
}

// trial is the search for an effect of one leaf.
type trial struct {
	*stage
	leaf     schemaLeaf
	rendered bool // something rendered in which the leaf stands
}

// nearby tells whether a leaf that nothing shows yet has an effect beside
// another value: with blanks next to it filled in, with one switch turned over, at one alternative of an enumeration, or with the
// modules own or missing.
func (t *trial) nearby(s surroundings) bool {
	c, l, leaves := t.Check, t.leaf, t.leaves
	current := render.MergeValues(c.Subject.Chart.Values, s.values)
	with := func(values map[string]any) bool {
		return t.effect(surroundings{values: render.MergeValues(s.values, values)}, quick)
	}
	blanks, beside := map[string]any{}, l.path[:len(l.path)-1]
	for _, o := range leaves {
		if len(o.path) == len(l.path) && slices.Equal(o.path[:len(o.path)-1], beside) && !slices.Equal(o.path, l.path) {
			if v := at(current, o); v == nil || v == "" {
				blanks = render.MergeValues(blanks, set(render.MergeValues(current, blanks), o, requirement.Example(o.schema(), o.last(), requirement.ExampleName)))
			}
		}
	}
	if len(blanks) > 0 && with(blanks) {
		return true
	}
	var others []map[string]any
	for _, o := range leaves {
		if slices.Equal(o.path, l.path) {
			continue
		}
		if b, ok := at(current, o).(bool); ok && (o.path[0] == l.path[0] || len(o.path) == 1) {
			others = append(others, set(current, o, !b))
		}
		enum, _ := o.schema()["enum"].([]any)
		if o.path[0] != l.path[0] && len(o.path) > 1 {
			continue
		}
		for _, v := range enum {
			text, ok := v.(string)
			switch {
			case !ok || !c.Mentions(c.Subject.Chart, strconv.Quote(text)):
			case slices.Contains(l.path, text):
				others = slices.Insert(others, 0, set(current, o, v)) // the one that the leaf is for
			default:
				others = append(others, set(current, o, v))
			}
		}
	}
	if slices.ContainsFunc(others, with) {
		return true
	}
	for _, m := range []string{requirement.Own, requirement.None} {
		if t.effect(surroundings{values: s.values, modules: m}, quick) {
			return true
		}
	}
	return false
}

// alone tells whether a leaf of an entry has an effect where the entry holds
// nothing but what it has to.
func (t *trial) alone(s surroundings) bool {
	c, l := t.Check, t.leaf
	current := render.MergeValues(c.Subject.Chart.Values, s.values)
	for i := len(l.path) - 2; i > 0; i-- {
		if l.parents[i-1]["properties"] != nil {
			continue
		}
		entry := schemaLeaf{path: l.path[:i+1], parents: l.parents[:i+1]}
		example, _ := requirement.Example(entry.schema(), entry.last(), requirement.ExampleName).(map[string]any)
		required, _ := entry.schema()["required"].([]any)
		least := map[string]any{}
		for _, r := range required {
			if n, ok := r.(string); ok {
				least[n] = example[n]
			}
		}
		values := maps.Clone(s.values)
		maps.Copy(values, set(current, entry, least))
		return t.effect(surroundings{values: values, modules: s.modules}, quick)
	}
	return false
}

func (l schemaLeaf) schema() map[string]any { return l.parents[len(l.parents)-1] }
func (l schemaLeaf) last() string           { return l.path[len(l.path)-1] }
func (l schemaLeaf) key() string            { return strings.Join(l.path, "/") }

// How many values a leaf is changed to in one context: a few in each tell most
// leaves apart, and the rest is tried on those that they do not.
const (
	quick    = 2
	thorough = 20
)

// effect tells whether changing a leaf to one of the first values that it may
// have changes what is rendered.
func (t *trial) effect(s surroundings, limit int) bool {
	c, l := t.Check, t.leaf
	current := render.MergeValues(c.Subject.Chart.Values, s.values)
	var base map[string]any
	if at(current, schemaLeaf{path: l.path[:len(l.path)-1]}) == nil {
		// The entry that the leaf stands in is not there: that it comes in is no
		// effect of the leaf.
		base = set(current, l, requirement.Example(l.schema(), l.last(), requirement.ExampleName))
		current = render.MergeValues(current, base)
	}
	before := c.Engine.Render(t.input(s, base))
	if before.Failure != nil && before.Failure.Kind == render.FailFailure && !s.refused {
		start := base
		if start == nil {
			start = map[string]any{l.path[0]: current[l.path[0]]}
		}
		if with, r := t.persuade(s, start, before); r.Failure == nil {
			base, before, current = with, r, render.MergeValues(current, with)
		}
	}
	if before.Failure != nil && before.Failure.Kind != render.FailFailure {
		return false
	}
	t.rendered = t.rendered || before.Failure == nil
	others := changed(l, at(current, l))
	for _, v := range others[:min(limit, len(others))] {
		if reflect.DeepEqual(v, at(current, l)) {
			continue
		}
		after := c.Engine.Render(t.input(s, set(current, l, v)))
		switch {
		case after.Failure != nil && (before.Failure != nil || after.Failure.Kind == render.SchemaFailure):
			continue
		case after.Failure != nil || before.Failure != nil:
			t.rendered = true
			return true // a template refuses the value, or asks for it
		}
		switch releases, direct := changes(c, before, after); {
		case direct || len(releases) > 0 && l.free():
			return true
		case len(releases) > 0 && arrives(c, before, after, releases):
			return true
		}
	}
	return false
}

var terms = regexp.MustCompile(`[a-z0-9]+(?:-[a-z0-9]+)+`)

// persuade puts the terms that a refusal names into the lists of texts of an
// entry, one list at a time: a chart may ask for one of a few words.
func (t *trial) persuade(s surroundings, base map[string]any, refusal *render.Result) (map[string]any, *render.Result) {
	var words []any
	for _, w := range terms.FindAllString(refusal.Failure.Message, 8) {
		if !slices.Contains(words, any(w)) {
			words = append(words, w)
		}
	}
	for _, o := range t.leaves {
		items, _ := o.schema()["items"].(map[string]any)
		if len(words) == 0 || items["type"] != "string" || o.path[0] != t.leaf.path[0] || len(o.path) < 2 {
			continue
		}
		with := render.MergeValues(base, set(base, o, words))
		if r := t.Engine.Render(t.input(s, with)); r.Failure == nil {
			return with, r
		}
	}
	return base, refusal
}

// free tells whether a leaf is a mapping whose shape is not said.
func (l schemaLeaf) free() bool {
	open, _ := l.schema()["x-kubernetes-preserve-unknown-fields"].(bool)
	return open || l.schema()["type"] == "object" && l.schema()["additionalProperties"] == nil
}

// changes compares two renders of a chart. direct is set where an object
// differs that is more than an observer; otherwise releases are the
// HelmReleases, by key, that differ in their values alone.
func changes(c *requirement.Check, a, b *render.Result) (releases map[render.Key]bool, direct bool) {
	x, y := acting(c, a), acting(c, b)
	if len(x) != len(y) || len(a.YAML) != len(b.YAML) {
		return nil, true
	}
	releases = map[render.Key]bool{}
	for i, o := range x {
		p := y[i]
		switch {
		case o.Unstructured == p.Unstructured || reflect.DeepEqual(o.Object, p.Object):
		case !render.IsHelmRelease(o.Unstructured) || !reflect.DeepEqual(withoutValues(o), withoutValues(p)):
			return nil, true
		default:
			releases[o.Key()] = true
		}
	}
	return releases, false
}

// acting are the objects of a render that are more than observers.
func acting(c *requirement.Check, r *render.Result) []*render.Object {
	return slices.DeleteFunc(slices.Clone(r.Objects), func(o *render.Object) bool {
		return slices.Contains(c.Tree.Profile.Observers, o.GroupVersionKind().GroupKind().String())
	})
}

func withoutValues(o *render.Object) map[string]any {
	u := o.DeepCopy()
	if spec, ok := u.Object["spec"].(map[string]any); ok {
		delete(spec, "values")
	}
	return u.Object
}

// arrives tells whether what some HelmReleases of two renders are given makes a
// difference to what they install. What cannot be followed is believed.
func arrives(c *requirement.Check, a, b *render.Result, changed map[render.Key]bool) bool {
	x, y := c.Engine.Closure(a.Input), c.Engine.Closure(b.Input)
	if len(x) != len(y) {
		return true
	}
	for i, r := range x[1:] {
		if r.Parent.Parent == nil && !changed[r.Via.Key()] {
			continue
		}
		s := y[i+1]
		if r.Result == nil || s.Result == nil || r.Failure != nil || s.Failure != nil {
			return true
		}
		if _, direct := changes(c, r.Result, s.Result); direct {
			return true
		}
	}
	return false
}

// schemaPlace is where a leaf stands in the schema of the chart, or of the
// definition where the chart has none.
func schemaPlace(c *requirement.Check, l schemaLeaf) string {
	chart := c.Subject.Chart
	file := path.Join(chart.Dir, "values.schema.json")
	var text string
	if data, err := c.Tree.Files.ReadFile(file); err == nil {
		text = string(data)
	} else if d := c.Tree.ChartDefinition(chart); d != nil {
		return fmt.Sprintf("%s:%d", d.File, d.SchemaLine)
	}
	at := 0
	for i, p := range l.path {
		if i > 0 && l.parents[i-1]["properties"] == nil {
			continue
		}
		if next := strings.Index(text[at:], strconv.Quote(p)+":"); next >= 0 {
			at += next + 1
		}
	}
	return fmt.Sprintf("%s:%d", file, 1+strings.Count(text[:at], "\n"))
}

// at returns the value of a leaf, nil where there is none.
func at(values map[string]any, l schemaLeaf) any {
	var v any = values
	for _, p := range l.path {
		switch t := v.(type) {
		case map[string]any:
			v = t[p]
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil || i >= len(t) {
				return nil
			}
			v = t[i]
		default:
			return nil
		}
	}
	return v
}

// set returns the top-level value of a leaf with the leaf changed; mappings and
// lists that are not there are made up.
func set(values map[string]any, l schemaLeaf, value any) map[string]any {
	var change func(v any, i int) any
	change = func(v any, i int) any {
		if i == len(l.path) {
			return value
		}
		p := l.path[i]
		n, err := strconv.Atoi(p)
		if err == nil && i > 0 && l.parents[i-1]["type"] == "array" {
			list, _ := v.([]any)
			list = slices.Clone(list)
			for len(list) <= n {
				list = append(list, requirement.Example(l.parents[i], p, requirement.ExampleName))
			}
			list[n] = change(list[n], i+1)
			return list
		}
		m, _ := v.(map[string]any)
		out := make(map[string]any, len(m)+1)
		for k, x := range m {
			out[k] = x
		}
		have, ok := out[p]
		if !ok && i+1 < len(l.path) {
			have = requirement.Example(l.parents[i], p, requirement.ExampleName)
		}
		out[p] = change(have, i+1)
		return out
	}
	top, _ := change(values, 0).(map[string]any)
	return map[string]any{l.path[0]: top[l.path[0]]}
}

var number = regexp.MustCompile(`\d+`)

// changed are the values that a leaf is changed to, likely ones first.
func changed(l schemaLeaf, current any) []any {
	s := l.schema()
	if enum, ok := s["enum"].([]any); ok {
		var out []any
		for _, v := range enum {
			if v != current && v != "" {
				out = append(out, v)
			}
		}
		return out[:min(4, len(out))]
	}
	switch s["type"] {
	case "boolean":
		b, _ := current.(bool)
		return []any{!b}
	case "integer", "number":
		n := 0.0
		switch t := current.(type) {
		case int:
			n = float64(t)
		case float64:
			n = t
		}
		return []any{n + 1, n - 1, n + 1000}
	case "array":
		items, _ := s["items"].(map[string]any)
		list, _ := current.([]any)
		var less []any
		if len(list) > 0 {
			less = []any{list[:len(list)-1], []any{}}
		}
		return append(less, append(slices.Clone(list), requirement.Example(items, l.last(), "probe")), append(slices.Clone(list), "probe.example.org"), append(slices.Clone(list), "192.0.2.0/24"), append(slices.Clone(list), map[string]any{"name": "probe"}))
	case "object":
		m, _ := current.(map[string]any)
		entries, _ := s["additionalProperties"].(map[string]any)
		var v any = "probe"
		if len(entries) > 0 {
			v = requirement.Example(entries, l.last(), "probe")
		}
		// Keys that stand there by default are known to somebody.
		known, _ := s["default"].(map[string]any)
		other := map[string]any{}
		for k, x := range render.MergeValues(known, m) {
			switch t := x.(type) {
			case bool:
				other[k] = !t
			case string:
				other[k] = t + "probe"
			}
		}
		return []any{render.MergeValues(m, other), render.MergeValues(m, map[string]any{"probe": v}), render.MergeValues(m, map[string]any{"probe": map[string]any{"probe": "probe"}})}
	}
	text := fmt.Sprint(current)
	if current == nil {
		text = ""
	}
	var out []any
	// The last number in it, one more: a size, a version, a time.
	if all := number.FindAllStringIndex(text, -1); len(all) > 0 && len(text) < 40 {
		last := all[len(all)-1]
		if n, err := strconv.Atoi(text[last[0]:last[1]]); err == nil {
			out = append(out, text[:last[0]]+strconv.Itoa(n+1)+text[last[1]:])
		}
	}
	if quantity, _ := s["x-kubernetes-int-or-string"].(bool); quantity {
		return append(out, "7", "7Gi")
	}
	pattern, _ := s["pattern"].(string)
	re, err := regexp.Compile(pattern)
	for _, v := range []string{text + "probe", "probe", "7", "7Gi", "2026-01-01T00:00:00Z", "probe.example.org", "192.0.2.7", "https://probe.example.org", "5 5 * * *"} {
		if v != text && (err != nil || re.MatchString(v)) {
			out = append(out, v)
		}
	}
	return out
}
