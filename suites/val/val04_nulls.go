package val

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/suites/requirement"
)

// effect is what becomes of a null that is applied.
type effect struct {
	name     string // tells causes apart
	severity requirement.Severity
	refused  bool   // the API server refuses the object
	why      string // for people
}

// null is a null in an object.
type null struct {
	path    []string
	element bool // of a list
	effect  effect
}

// nullsOf are the nulls of an object that are not as they should be, in order.
func nullsOf(c *requirement.Check, o *render.Object) []null {
	if o.GetKind() == "CustomResourceDefinition" {
		return nil // defaults and examples may be null; status is the server's
	}
	var out []null
	eachNull(o.Object, nil, false, func(p []string, element bool) {
		if p[len(p)-1] == "creationTimestamp" || p[0] == "status" || len(p) > 2 && render.IsHelmRelease(o.Unstructured) && p[0] == "spec" && p[1] == "values" {
			return // the server fills it in, or it takes a default of a chart away
		}
		if e, ok := effectOf(c.FieldSchema(o.GroupVersionKind(), p), p, element); ok {
			out = append(out, null{p, element, e})
		}
	})
	return out
}

func eachNull(v any, p []string, element bool, visit func([]string, bool)) {
	switch t := v.(type) {
	case nil:
		visit(p, element)
	case map[string]any:
		for _, k := range requirement.SortedKeys(t) {
			eachNull(t[k], append(p[:len(p):len(p)], k), false, visit)
		}
	case []any:
		for i, x := range t {
			eachNull(x, append(p[:len(p):len(p)], strconv.Itoa(i)), true, visit)
		}
	}
}

// effectOf is what becomes of a null in a field; ok is false where it is as good
// as any value, and where it is judged by itself.
func effectOf(s requirement.FieldSchema, p []string, element bool) (e effect, ok bool) {
	const must, should = requirement.Must, requirement.Should
	last := p[len(p)-1]
	switch {
	case s.Nullable, s.All && last == namesOfRule:
		return effect{}, false
	case s.All:
		return effect{"all", must, false, "nothing there selects everything"}, true
	case s.Default:
		return effect{"default", should, false, "the API server puts the default there"}, true
	case element && (s.Custom || s.Required):
		return effect{"element", must, true, "the API server refuses a list with such an element"}, true
	case element:
		return effect{"element", must, false, "it stays in the list as an empty element"}, true
	case s.Required && s.Custom:
		return effect{"required", must, true, "the type requires a value, so the API server refuses the object"}, true
	case s.Required:
		return effect{"required", must, true, "the type requires a value, and the API server takes an empty one for it or refuses the object"}, true
	case s.MapKey && s.Text && s.Custom:
		return effect{"key", must, false, "the API server drops a key without a value"}, true
	case s.MapKey && !s.Custom, !s.Known && labelAt(p):
		return effect{"key", must, false, "Helm's install stores an empty value, and its next upgrade takes the key away"}, true
	case s.Known:
		return effect{"dropped", should, false, "the API server drops it"}, true
	}
	return effect{"unknown", should, false, "no type in the tree says what it means"}, true
}

// labelAt tells whether a path is that of a label or an annotation.
func labelAt(p []string) bool {
	n := len(p)
	return n > 2 && p[n-3] == "metadata" && (p[n-2] == "labels" || p[n-2] == "annotations")
}

// judgeNulls asserts that an object has no nulls; those of what is vendored are
// collected by the vendored chart.
func judgeNulls(c *requirement.Check, rel *render.Release, o *render.Object, vendored map[string]*vendoredNulls) {
	nulls := nullsOf(c, o)
	if len(nulls) == 0 {
		c.Assert(true, nil)
		return
	}
	upstream := c.Tree.Vendored(o.Template)
	byCause := map[string][]null{}
	given := map[string][]string{}
	for _, n := range nulls {
		at := giver(rel, n.path)
		switch {
		case at != nil:
			given[n.effect.name+" given"] = at
			byCause[n.effect.name+" given"] = append(byCause[n.effect.name+" given"], n)
		case upstream != "" && !n.effect.refused:
			v := vendored[upstream]
			if v == nil {
				v = &vendoredNulls{result: rel.Result, object: o, path: n.path}
				vendored[upstream] = v
			}
			v.count++
		default:
			byCause[n.effect.name] = append(byCause[n.effect.name], n)
		}
	}
	for _, cause := range requirement.SortedKeys(byCause) {
		list := byCause[cause]
		c.Fail(findingOf(c, rel, o, list, given[cause]))
	}
}

// findingOf is the finding of nulls of one object that have one effect. at is the
// path in the HelmRelease that gives the first, nil where the chart's own
// templates write it.
func findingOf(c *requirement.Check, rel *render.Release, o *render.Object, list []null, at []string) requirement.Finding {
	e := list[0].effect
	var paths []string
	for _, n := range list {
		paths = append(paths, strings.Join(n.path, "."))
	}
	f := requirement.Finding{
		Result: rel.Result, Object: o, Path: list[0].path, Severity: e.severity, AtCaller: true,
		Message: fmt.Sprintf("%s in %s: %s", areNull(paths), o.Key(), e.why),
		Want:    "a value, or no key",
	}
	if at != nil {
		f.Result, f.Object, f.Path, f.Subject = rel.Parent.Result, rel.Via, at, o.Key().String()
		f.Message += fmt.Sprintf("; the values for chart %s give it", path.Base(rel.Input.Chart))
	}
	place, through := c.Engine.LocateCall(f.Result, f.Object, f.Path...)
	if through != "" {
		f.Root = strings.Join([]string{"null", e.name, c.Tree.Origin(fileOf(through)), f.Path[len(f.Path)-1]}, " ")
	} else {
		f.Place, f.AtCaller = place, false
		f.Root = strings.Join([]string{"null", e.name, fileOf(place), withoutIndexes(f.Path)}, " ")
	}
	return f
}

// maxPaths is how many paths a message names.
const maxPaths = 5

func areNull(paths []string) string {
	if len(paths) == 1 {
		return paths[0] + " is null"
	}
	text := strings.Join(paths[:min(len(paths), maxPaths)], ", ")
	if more := len(paths) - maxPaths; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + " are null"
}

// withoutIndexes is a path in which all elements of a list are the same.
func withoutIndexes(p []string) string {
	p = slices.Clone(p)
	for i, k := range p {
		if _, err := strconv.Atoi(k); err == nil {
			p[i] = "*"
		}
	}
	return strings.Join(p, ".")
}

// giver is the path of the null in the HelmRelease of a release which ends in the
// same key: its chart writes what it is given. It is nil where there is none.
func giver(rel *render.Release, p []string) []string {
	if rel.Via == nil || rel.Parent == nil {
		return nil
	}
	var found []string
	best := 0
	values := requirement.Field(rel.Via.Object, "spec", "values")
	if values == nil {
		return nil
	}
	eachNull(values, []string{"spec", "values"}, false, func(at []string, _ bool) {
		same := 0
		for same < min(len(at), len(p)) && at[len(at)-1-same] == p[len(p)-1-same] {
			same++
		}
		if same > best {
			best, found = same, at
		}
	})
	return found
}

// vendoredNulls are the nulls in what one chart has from upstream.
type vendoredNulls struct {
	result *render.Result
	object *render.Object // the first with nulls
	path   []string       // of its first null
	count  int
}

func (v *vendoredNulls) report(c *requirement.Check, dir string) {
	nulls := "1 null"
	if v.count > 1 {
		nulls = fmt.Sprintf("%d nulls", v.count)
	}
	c.Fail(requirement.Finding{
		Result: v.result, Object: v.object, Path: v.path, Severity: requirement.Should, Root: "vendored " + dir,
		Message: fmt.Sprintf("%s in templates of vendored %s, first %s in %s; the API server refuses none of them", nulls, path.Base(dir), strings.Join(v.path, "."), v.object.Key()),
		Want:    "no key where there is no value",
	})
}
