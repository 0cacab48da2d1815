package val

import (
	"slices"

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
		near := 1
		if t.picky[i] {
			near = 2
		}
		for _, x := range contexts[:min(near, len(contexts))] {
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
	if with := given.with(picky, text); len(picky) > 1 && t.render(values, with).Failure == nil {
		return with, failed
	}
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
