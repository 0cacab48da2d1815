package val

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"proofplane/fixtures/render"
	"proofplane/suites/requirement"
)

// arrival is a place of what is rendered that holds the marks of leaves.
type arrival struct {
	object *render.Object
	// path of the string, or of the key; inText stands where a string holds a
	// document of its own.
	path   []string
	key    bool // the last element of path is a key that holds the marks
	text   string
	leaves []int
}

// inText is the element of a path behind which a string is read as YAML.
const inText = "(document)"

// names tells whether the place is in the name or a label of the object.
func (a arrival) names() bool {
	return len(a.path) > 1 && a.path[0] == "metadata" && (a.path[1] == "name" || a.path[1] == "labels")
}

// hidden tells whether the place is in what a Secret holds.
func (a arrival) hidden() bool {
	return a.object.GetKind() == "Secret" && len(a.path) > 1 && (a.path[0] == "data" || a.path[0] == "stringData") && !a.key
}

// shape is the place without what differs between situations.
func (a arrival) shape() string {
	p := strings.Join(a.path, "/")
	return a.object.Template + "|" + a.object.GetKind() + "|" + digits.ReplaceAllString(marks.ReplaceAllString(p, "*"), "0")
}

var (
	digits = regexp.MustCompile(`\d+`)
	marks  = regexp.MustCompile(unlikely + `[a-z]{2}|` + regexp.QuoteMeta(unlikelyNumber) + `\d{2}`)
)

func isMarked(text string) bool {
	return strings.Contains(text, unlikely) || strings.Contains(text, unlikelyNumber)
}

// arrivals finds the marks of leaves in what is rendered, keys before values.
func arrivals(r *render.Result, leaves []textLeaf) []arrival {
	var out []arrival
	for _, o := range r.Objects {
		var walk func(v any, path []string, inside bool)
		note := func(text string, path []string, key bool) {
			a := arrival{object: o, path: path, key: key, text: text}
			for i, l := range leaves {
				if l.mark != "" && strings.Contains(text, l.mark) {
					a.leaves = append(a.leaves, i)
				}
			}
			if len(a.leaves) > 0 {
				out = append(out, a)
			}
		}
		walk = func(v any, path []string, inside bool) {
			at := func(p string) []string { return append(path[:len(path):len(path)], p) }
			switch t := v.(type) {
			case map[string]any:
				for _, k := range requirement.SortedKeys(t) {
					if isMarked(k) {
						note(k, at(k), true)
					}
					walk(t[k], at(k), inside)
				}
			case []any:
				for i, x := range t {
					walk(x, at(strconv.Itoa(i)), inside)
				}
			case string:
				if !isMarked(t) {
					return
				}
				if doc := document(t); doc != nil && !inside {
					walk(doc, at(inText), true)
					return
				}
				note(t, path, false)
			}
		}
		walk(o.Object, nil, false)
	}
	return out
}

// document returns the mapping or list that a text of several lines, or in
// brackets, is in YAML or JSON; nil where it is none.
func document(text string) any {
	s := strings.TrimSpace(text)
	bracket := strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")
	if !bracket && !strings.Contains(s, "\n") || strings.HasPrefix(s, "#!") || strings.Contains(s, "\n---") {
		return nil
	}
	var v any
	if yaml.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	switch t := v.(type) {
	case map[string]any:
		for k := range t {
			if strings.ContainsAny(k, " \t\n;$") {
				return nil // a script or a text that happens to hold colons
			}
		}
		if len(t) > 0 {
			return t
		}
	case []any:
		if len(t) > 0 {
			return t
		}
	}
	return nil
}

// outcome is what became of a text at an arrival.
type outcome int

const (
	arrived outcome = iota
	unjudged
	changedText
)

// become tells what a text became at an arrival, given the object that stands in
// the place of the arrival's; what is how people say it.
func (a arrival) become(o *render.Object, swap func(string) string, text string) (outcome, string) {
	var v any = o.Object
	last := len(a.path) - 1
	for i, p := range a.path {
		p = swap(p)
		if p == inText {
			s, ok := v.(string)
			if !ok {
				return unjudged, ""
			}
			if v = document(s); v == nil {
				return changedText, "breaks the document in " + strings.Join(a.path[:i], ".")
			}
			continue
		}
		switch t := v.(type) {
		case map[string]any:
			x, ok := t[p]
			if !ok && i == last && a.key {
				for _, read := range readAs(text) {
					if _, ok := t[strings.ReplaceAll(swap(a.path[i]), text, read)]; ok {
						return changedText, fmt.Sprintf("arrives as the key %q", read)
					}
				}
			}
			if !ok {
				return unjudged, ""
			}
			v = x
		case []any:
			n, err := strconv.Atoi(p)
			if err != nil || n >= len(t) {
				return unjudged, ""
			}
			v = t[n]
		default:
			return unjudged, ""
		}
	}
	if a.key {
		return arrived, ""
	}
	want := swap(a.text)
	switch t := v.(type) {
	case string:
		if t == want {
			return arrived, ""
		}
		for _, read := range readAs(text) {
			if strings.TrimSpace(strings.ReplaceAll(want, text, read)) == t {
				return changedText, fmt.Sprintf("arrives as %q", t)
			}
		}
		if cut, _, ok := strings.Cut(want, " #"); ok && strings.TrimSpace(cut) == t {
			return changedText, fmt.Sprintf("arrives as %q", t)
		}
		return unjudged, "" // a template made something else of it
	case nil:
		return changedText, "arrives as null"
	case bool:
		return changedText, fmt.Sprintf("arrives as %v", t)
	case map[string]any:
		return changedText, "arrives as a mapping"
	case []any:
		return changedText, "arrives as a list"
	}
	return changedText, fmt.Sprintf("arrives as the number %v", v)
}

// readAs are the texts that YAML makes of a text that is not quoted, and that
// come out where what it made is written down again.
func readAs(text string) []string {
	out := []string{}
	var v any
	if yaml.Unmarshal([]byte(text), &v) == nil {
		switch v.(type) {
		case map[string]any, []any:
		case nil:
			out = append(out, "", "null", "<nil>")
		default:
			out = append(out, fmt.Sprint(v))
		}
	}
	if strings.Contains(text, "\n") {
		out = append(out, strings.ReplaceAll(text, "\n", " "))
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == text })
}

// pairs leads from the objects of one render to those in their place in another
// one: the same template wrote as many of a kind, or one of the name that is
// expected. What is not there has no entry.
func pairs(from, to *render.Result, swap func(string) string) map[*render.Object]*render.Object {
	type group struct{ template, kind string }
	groups := map[group][]*render.Object{}
	of := func(o *render.Object) group {
		return group{o.Template, o.GroupVersionKind().GroupKind().String()}
	}
	for _, o := range to.Objects {
		groups[of(o)] = append(groups[of(o)], o)
	}
	counts := map[group]int{}
	for _, o := range from.Objects {
		counts[of(o)]++
	}
	out := map[*render.Object]*render.Object{}
	next := map[group]int{}
	for _, o := range from.Objects {
		g := of(o)
		n := next[g]
		next[g]++
		if counts[g] == len(groups[g]) {
			out[o] = groups[g][n]
			continue
		}
		for _, p := range groups[g] {
			if p.GetName() != "" && p.GetName() == swap(o.GetName()) {
				out[o] = p
				break
			}
		}
	}
	return out
}
