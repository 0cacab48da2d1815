package val

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/suites/requirement"
)

// mark is a value of a leaf that is recognized in what is rendered.
type mark struct {
	leaf  schemaLeaf
	value any
	word  string // that stands nowhere else
}

// shows tells whether a text holds the word of a mark, and not because it counts
// past it.
func (m mark) shows(text string) bool {
	n, err := strconv.Atoi(m.word)
	return m.in(text) && (err != nil || !(mark{word: strconv.Itoa(n - 1)}).in(text) || !(mark{word: strconv.Itoa(n + 1)}).in(text))
}

// markable tells whether a leaf can have a mark: it is not one of a few values.
func (l schemaLeaf) markable() bool {
	_, enum := l.schema()["enum"]
	return !l.inert && !enum && l.schema()["type"] != "boolean"
}

// in tells whether a text holds the word of a mark, as a whole.
func (m mark) in(text string) bool {
	letter := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z')
	}
	for at := 0; ; {
		i := strings.Index(text[at:], m.word)
		if i < 0 {
			return false
		}
		at += i + len(m.word)
		if strings.HasPrefix(m.word, unlikely) || !letter(at) && !letter(at-len(m.word)-1) {
			return true
		}
	}
}

// unlikely begins the words of texts.
const unlikely = "zqv"

// shown returns the leaves whose values are found in what is rendered, when all
// leaves that can be told apart are changed at once: what a chart writes down
// needs no trial of its own. It looks for the leaves of the value that is judged,
// and renders the same for every value of a chart.
func (t *stage) shown(contexts []surroundings) map[string]bool {
	found, refused := map[string]bool{}, map[string]bool{}
	known := &strings.Builder{}
	words(known, t.Schema(t.Subject.Chart))
	for i, s := range contexts {
		if i >= 4 && !s.near {
			continue // what lives nowhere but there is quickly found by itself
		}
		if !slices.ContainsFunc(t.leaves, func(l schemaLeaf) bool {
			return l.path[0] == t.Get("value") && l.markable() && !found[l.key()] && !refused[l.key()]
		}) {
			break
		}
		before := t.Engine.Render(t.input(s, nil))
		if before.Failure != nil {
			continue
		}
		text := &strings.Builder{}
		text.WriteString(known.String())
		for _, o := range before.Objects {
			words(text, o.Object)
		}
		// Entries that are not there come in one after the other: some exclude
		// each other.
		current := render.MergeValues(t.Subject.Chart.Values, s.values)
		groups := map[string][]mark{}
		for _, m := range t.marks(current, text.String()) {
			if !refused[m.leaf.key()] {
				g := m.leaf.missing(current)
				groups[g] = append(groups[g], m)
			}
		}
		for _, g := range requirement.SortedKeys(groups) {
			budget := 12
			t.try(s, current, groups[g], found, refused, &budget)
		}
	}
	return found
}

// missing is the path of the outermost entry around a leaf that is not there, ""
// where all are.
func (l schemaLeaf) missing(values map[string]any) string {
	for i := 1; i < len(l.path); i++ {
		if above := (schemaLeaf{path: l.path[:i]}); at(values, above) == nil {
			return above.key()
		}
	}
	return ""
}

// try looks for marks, in one render where the chart takes them together. The
// budget is of renders.
func (t *stage) try(s surroundings, current map[string]any, marks []mark, found, refused map[string]bool, budget *int) {
	if *budget--; len(marks) == 0 || *budget < 0 {
		return
	}
	values, tops := maps.Clone(current), map[string]any{}
	for _, m := range marks {
		top := set(values, m.leaf, m.value)
		maps.Copy(values, top)
		maps.Copy(tops, top)
	}
	r := t.Engine.Render(t.input(s, tops))
	if r.Failure == nil {
		t.find(r, marks, found)
		return
	}
	// What the refusal names is left out: values, else the leaves, else what they
	// stand in.
	named := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return mark{word: n}.in(r.Failure.Message) })
	}
	for _, blamed := range []func(m mark) bool{
		func(m mark) bool { return named(m.word) },
		func(m mark) bool { return named(m.leaf.last()) },
		func(m mark) bool { return named(m.leaf.path...) },
	} {
		rest := slices.DeleteFunc(slices.Clone(marks), blamed)
		if len(rest) == len(marks) {
			continue
		}
		for _, m := range marks {
			if !blamed(m) {
				continue
			}
			refused[m.leaf.key()] = true
			// A text that a template refuses is read, unless its entry does not fit.
			if strings.HasPrefix(m.word, unlikely) && m.in(r.Failure.Message) && r.Failure.Kind == render.FailFailure && m.leaf.missing(current) == "" {
				found[m.leaf.key()] = true
			}
		}
		t.try(s, current, rest, found, refused, budget)
		return
	}
	if half := len(marks) / 2; half > 0 {
		t.try(s, current, marks[:half], found, refused, budget)
		t.try(s, current, marks[half:], found, refused, budget)
	}
}

// find looks for the marks of the value that is judged in a render. As for a
// single leaf, the values of a HelmRelease count where they can not be followed,
// and for what has a free shape.
func (t *stage) find(r *render.Result, marks []mark, found map[string]bool) {
	texts := func(r *render.Result) (direct, handed string) {
		var d, h strings.Builder
		for _, o := range acting(t.Check, r) {
			if !render.IsHelmRelease(o.Unstructured) {
				words(&d, o.Object)
				continue
			}
			words(&d, withoutValues(o))
			words(&h, requirement.Map(o.Object, "spec", "values"))
		}
		return d.String(), h.String()
	}
	direct, handed := texts(r)
	var follow []mark
	for _, m := range marks {
		switch {
		case m.leaf.path[0] != t.Get("value") || found[m.leaf.key()]:
		case m.shows(direct) || m.leaf.free() && m.shows(handed):
			found[m.leaf.key()] = true
		case m.shows(handed):
			follow = append(follow, m)
		}
	}
	if len(follow) == 0 {
		return
	}
	for _, n := range t.Engine.Closure(r.Input)[1:] {
		var text string
		if n.Result == nil {
			var b strings.Builder
			words(&b, requirement.Map(n.Via.Object, "spec", "values"))
			text = b.String()
		} else {
			text, _ = texts(n.Result)
		}
		for _, m := range follow {
			if m.shows(text) {
				found[m.leaf.key()] = true
			}
		}
	}
}

// words writes the keys and scalars of a value, one a line; what a Secret holds
// also as it is read.
func words(b *strings.Builder, v any) {
	secret := requirement.Field(v, "kind") == "Secret"
	requirement.Walk(v, func(path []string, v any) {
		if len(path) > 0 {
			b.WriteString(path[len(path)-1] + "\n")
		}
		switch t := v.(type) {
		case map[string]any, []any, nil, bool:
			return
		case string:
			b.WriteString(t)
			if data, err := base64.StdEncoding.DecodeString(t); secret && path[0] == "data" && err == nil {
				b.WriteByte('\n')
				b.Write(data)
			}
		default:
			fmt.Fprint(b, v)
		}
		b.WriteByte('\n')
	})
}

// marks returns marks of the leaves that can have one. The words stand neither
// in a known text nor in each other, and a number is no simple function of
// another one.
func (t *stage) marks(current map[string]any, known string) []mark {
	var out []mark
	big, used := 10007, []int(nil)
	number := func(before, after string) string {
		for ; ; big += 34 {
			if m := (mark{word: before + strconv.Itoa(big) + after}); !m.in(known) {
				big += 34
				return m.word
			}
		}
	}
	// Integers are small: they may be what is repeated.
	derived := func(n int) bool {
		return slices.ContainsFunc(used, func(p int) bool {
			return n-p < 14 || (n+2)%p <= 4 || slices.ContainsFunc(used, func(q int) bool { return n-p-q <= 2 && p+q-n <= 2 })
		})
	}
	count := func() int {
		for n := 31; ; n += 2 {
			if m := (mark{word: strconv.Itoa(n)}); !m.in(known) && !derived(n) {
				used = append(used, n)
				return n
			}
		}
	}
	for i, l := range t.leaves {
		s := l.schema()
		if !l.markable() {
			continue
		}
		word := unlikely + strconv.Itoa(i) + "x"
		m := mark{leaf: l, word: word}
		switch s["type"] {
		case "integer", "number":
			n := count()
			m.word, m.value = strconv.Itoa(n), float64(n)
			least, _ := s["minimum"].(float64)
			most, ok := s["maximum"].(float64)
			if float64(n) < least || ok && float64(n) > most {
				continue
			}
		case "array":
			items, _ := s["items"].(map[string]any)
			if items["type"] != "string" || items["enum"] != nil || !allowed(items, word) {
				continue
			}
			list, _ := at(current, l).([]any)
			m.value = append(slices.Clone(list), word)
		case "object":
			entries, _ := s["additionalProperties"].(map[string]any)
			var v any = word
			if len(entries) > 0 {
				v = requirement.Example(entries, l.last(), word)
			}
			have, _ := at(current, l).(map[string]any)
			m.value = render.MergeValues(have, map[string]any{word: v})
		default:
			text, _ := at(current, l).(string)
			quantity, _ := s["x-kubernetes-int-or-string"].(bool)
			if quantity && text == "" {
				text = requirement.Text(s, l.last(), "")
			}
			m.value = word
			if all := numbered.FindAllStringSubmatchIndex(text, -1); len(all) > 0 && len(text) < 40 {
				// The last number in it: a size, a version, a time.
				x := all[len(all)-1]
				m.word = number(text[x[2]:x[3]], text[x[4]:x[5]])
				m.value = text[:x[2]] + m.word + text[x[5]:]
			}
			if !allowed(s, m.value.(string)) {
				continue
			}
		}
		out = append(out, m)
	}
	return out
}

// numbered is a word with a number in it.
var numbered = regexp.MustCompile(`([A-Za-z]*)[0-9]+([A-Za-z]*)`)

// allowed tells whether a schema allows a text, as far as its pattern says.
func allowed(s map[string]any, text string) bool {
	pattern, _ := s["pattern"].(string)
	re, err := regexp.Compile(pattern)
	return err != nil || re.MatchString(text)
}
