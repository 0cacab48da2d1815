package pkg

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// PKG05: what is set on the platform arrives.
var PKG05 = &requirement.Requirement{
	ID:        "PKG-05",
	Statement: "Values set for a component land in some HelmRelease; every platform value has an effect",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "field bugs: the PROXY protocol switch was written to a component without an install block, and dropped; the overcommit ratios were lost when the bundles were split",
	Axes:      "every way to install the platform, with every optional package and every switch of the platform chart turned over; every value of the platform chart, by its first key",
	How:       "each component that an emitted package sets values for must be one of its variant, with an install block: nothing else becomes a release. Each value of the platform chart is changed, in every preset, with everything switched on, and beside every alternative that the comments of the values file name, until the output of the platform chart changes or a template refuses the change; where nothing changes but the injected values, a chart or a program of the tree must name their key. A value that is read beside a lookup, or an empty mapping that is read, is believed",
	Fix:       "hand the value over where the component is installed, or through the injected values; remove a value that nothing reads",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		names := e.InstallNames()
		if len(names) == 0 {
			return requirement.Plan{Skip: "the tree has no platform chart with a preset that renders"}, nil
		}
		p := requirement.Plan{Subjects: []requirement.Subject{{Name: "components", Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "install", Values: names}}}}}}
		if keys := requirement.SortedKeys(e.Tree.PlatformChart().Values); len(keys) > 0 {
			p.Subjects = append(p.Subjects, requirement.Subject{Name: "values", Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "value", Values: keys}}}})
		}
		return p, nil
	},
	Judge: func(_ context.Context, c *requirement.Check) {
		if c.Subject.Name == "components" {
			judgeComponentValues(c)
			return
		}
		judgePlatformValues(c)
	},
}

func judgeComponentValues(c *requirement.Check) {
	install, ok := c.Install(c.Get("install"))
	if !ok {
		c.Skip("there is no such way to install the platform")
		return
	}
	install.Enabled = requirement.AllPackages
	switches := []map[string]any{nil}
	// Without a bundle, less is rendered: the switches are turned with all of
	// them.
	if install.Without == "" {
		switches = append(switches, c.PlatformSwitches()...)
	}
	values := 0
	for _, s := range switches {
		install.Values = s
		pk, err := c.Packages(install)
		if err != nil {
			continue // the chart refuses the combination
		}
		for _, name := range pk.Names() {
			o := pk.Get(name)
			src, variant := pk.Variant(c.Env, name)
			if variant == nil {
				continue // PKG-01 judges that
			}
			for _, component := range requirement.SortedKeys(requirement.Map(o.Object, "spec", "components")) {
				if requirement.Field(o.Object, "spec", "components", component, "values") == nil {
					continue
				}
				values++
				i := slices.IndexFunc(variant.Components, func(v *tree.Component) bool { return v.Name == component })
				c.Assert(i >= 0 && variant.Components[i].Install != nil, func() requirement.Finding {
					why := fmt.Sprintf("variant %s of %s has no such component", variant.Name, src.Name)
					if i >= 0 {
						why = fmt.Sprintf("it has no install block (%s:%d)", src.File, variant.Components[i].Line)
					}
					return requirement.Finding{
						Result: pk.Result, Object: o, Path: []string{"spec", "components", component, "values"}, Cause: name + " " + component,
						Message: fmt.Sprintf("package %s sets values for component %s, which no release receives: %s", name, component, why),
						Want:    "values for components that are installed by themselves",
					}
				})
			}
		}
	}
	if values == 0 {
		c.Skip("no package sets values for a component here")
	}
}

// judgePlatformValues changes every value below one key of the platform
// chart's values.
func judgePlatformValues(c *requirement.Check) {
	leaves, file, err := platformLeaves(c.Env)
	if err != nil {
		c.Block("the values of the platform chart cannot be read: %v", err)
		return
	}
	contexts := platformContexts(c.Env, leaves)
	if len(contexts) == 0 {
		c.Block("the platform chart does not render in any preset")
		return
	}
	for _, l := range leaves {
		if l.path[0] != c.Get("value") {
			continue
		}
		dead, effect := "", false
		for _, context := range append(slices.Clone(contexts), besides(c.Env, contexts, leaves, l)...) {
			for _, v := range l.others {
				switch changed, key := changes(c.Env, context, requirement.At(v, l.path...)); {
				case changed && (key == "" || hasReader(c.Env, key)):
					effect = true
				case changed:
					dead = key
				}
				if effect {
					break
				}
			}
			if effect {
				break
			}
		}
		if !effect && dead == "" {
			effect = trusted(c.Env, l)
		}
		c.Assert(effect, func() requirement.Finding {
			name := strings.Join(l.path, ".")
			f := requirement.Finding{
				Chart: c.Tree.PlatformChart().Dir, Place: fmt.Sprintf("%s:%d", file, l.line), Subject: name, Cause: name,
				Message: fmt.Sprintf("value %s of the platform has no effect: nothing that the platform chart renders changes with it, in any preset", name),
				Want:    "a value that reaches a package or the injected values",
			}
			if dead != "" {
				f.Message = fmt.Sprintf("value %s of the platform has no effect: it reaches the injected values as %s, which no chart and no program of the tree reads", name, dead)
			}
			return f
		})
	}
	if c.Assertions == 0 {
		c.Skip("there is no value below this key")
	}
}

// platformLeaf is a value of the platform chart.
type platformLeaf struct {
	path   []string
	line   int
	others []any // what it is changed to, likely ones first
	blank  bool  // an empty string
	free   bool  // an empty mapping
	on     any   // what switches it on: true for false, an alternative
	named  []string
}

// quoted finds the alternatives in a comment: "a", "b", or a | b.
var (
	quoted = regexp.MustCompile(`"([A-Za-z0-9][A-Za-z0-9.-]*)"`)
	barred = regexp.MustCompile(`([A-Za-z0-9.-]+)(?: \||$)`)
)

func platformLeaves(e *requirement.Env) ([]platformLeaf, string, error) {
	file := path.Join(e.Tree.PlatformChart().Dir, "values.yaml")
	data, err := e.Tree.Files.ReadFile(file)
	if err != nil {
		return nil, file, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, file, err
	}
	var packages []any
	for _, src := range e.Tree.Packages {
		packages = append(packages, src.Name)
	}
	var out []platformLeaf
	var walk func(n *yaml.Node, p []string)
	walk = func(n *yaml.Node, p []string) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, v := n.Content[i], n.Content[i+1]
			at := append(slices.Clone(p), key.Value)
			if v.Kind == yaml.MappingNode && len(v.Content) > 0 {
				walk(v, at)
				continue
			}
			l := platformLeaf{path: at, line: key.Line}
			var value any
			if v.Decode(&value) != nil {
				continue
			}
			for _, m := range quoted.FindAllStringSubmatch(key.HeadComment+" "+v.LineComment, 6) {
				l.named = append(l.named, m[1])
			}
			if strings.Contains(v.LineComment, " | ") {
				for _, m := range barred.FindAllStringSubmatch(v.LineComment, 6) {
					l.named = append(l.named, m[1])
				}
			}
			l.change(value)
			if _, ok := value.([]any); ok {
				l.others = append(l.others, packages)
			}
			out = append(out, l)
		}
	}
	if len(doc.Content) > 0 && doc.Content[0].Kind == yaml.MappingNode {
		walk(doc.Content[0], nil)
	}
	return out, file, nil
}

const probe = "proofplane"

// change fills in what a value is changed to.
func (l *platformLeaf) change(value any) {
	switch v := value.(type) {
	case bool:
		l.others = []any{!v, v} // a preset may hold either
		if !v {
			l.on = true
		}
		l.named = nil
	case int:
		l.others = []any{v + 1}
	case float64:
		l.others = []any{v + 1}
	case string:
		l.named = slices.DeleteFunc(l.named, func(n string) bool { return n == v })
		l.blank = v == ""
		if l.blank {
			l.named = nil // examples, not alternatives
		}
		l.others = []any{v + probe}
		for _, n := range l.named {
			l.others = append(l.others, n)
		}
	case []any:
		l.others = []any{append(slices.Clone(v), probe), append(slices.Clone(v), map[string]any{"name": probe})}
	case map[string]any:
		l.free = true
		l.others = []any{map[string]any{probe: probe}, map[string]any{probe: map[string]any{probe: probe}}}
	default:
		l.blank = true
		l.others = []any{probe, true, map[string]any{probe: probe}}
	}
}

// platformContexts are the situations in which values may come alive: every
// preset with all optional packages, as it is and with everything switched on
// that can be.
func platformContexts(e *requirement.Env, leaves []platformLeaf) []requirement.PlatformSituation {
	var plain, most []requirement.PlatformSituation
	for _, preset := range e.PresetNames() {
		s := requirement.PlatformSituation{Preset: preset, Enabled: requirement.AllPackages}
		if _, err := e.Packages(s); err != nil {
			continue
		}
		plain = append(plain, s)
		for _, l := range leaves {
			if l.on == nil || l.path[0] == strings.Split(e.Tree.Profile.BundlesKey, ".")[0] {
				continue
			}
			with := s
			with.Values = render.MergeValues(s.Values, requirement.At(l.on, l.path...))
			if _, err := e.Packages(with); err == nil {
				s = with
			}
		}
		most = append(most, s)
	}
	return append(plain, most...)
}

// besides are the contexts with a single other value changed, those that stand
// near to a value first: a switch, an alternative, or a blank beside it.
func besides(e *requirement.Env, contexts []requirement.PlatformSituation, leaves []platformLeaf, l platformLeaf) []requirement.PlatformSituation {
	var out []requirement.PlatformSituation
	add := func(s requirement.PlatformSituation, values map[string]any) {
		s.Values = render.MergeValues(s.Values, values)
		if _, err := e.Packages(s); err == nil {
			out = append(out, s)
		}
	}
	blanks := map[string]any{}
	for _, o := range leaves {
		if o.blank && len(o.path) == len(l.path) && slices.Equal(o.path[:len(o.path)-1], l.path[:len(l.path)-1]) {
			blanks = render.MergeValues(blanks, requirement.At(probe, o.path...))
		}
	}
	for _, s := range contexts {
		if len(blanks) > 0 {
			add(s, blanks)
		}
		for _, o := range leaves {
			for _, n := range o.named {
				add(s, requirement.At(n, o.path...))
			}
			if o.on != nil {
				add(s, requirement.At(o.on, o.path...))
			}
		}
	}
	return out
}

// trusted tells whether a value that changes nothing is to be believed in all
// the same, because a template reads it: in an empty mapping, whose shape is
// not known, or in a template that looks at the state of the cluster.
func trusted(e *requirement.Env, l platformLeaf) bool {
	dir := path.Join(e.Tree.PlatformChart().Dir, "templates")
	name := l.path[len(l.path)-1]
	reads := []string{".Values." + strings.Join(l.path, "."), `"` + name + `"`}
	if l.free {
		reads = append(reads, "."+name)
	}
	found := false
	err := e.Tree.Files.Walk(dir, func(p string) error {
		data, err := e.Tree.Files.ReadFile(p)
		text := string(data)
		if err == nil && (l.free || strings.Contains(text, "lookup ")) {
			found = found || slices.ContainsFunc(reads, func(r string) bool { return strings.Contains(text, r) })
		}
		return err
	})
	return found && err == nil
}

// changes tells whether values change what the platform chart renders, or make
// a template refuse. key is the injected value where nothing else changes, ""
// otherwise.
func changes(e *requirement.Env, s requirement.PlatformSituation, values map[string]any) (changed bool, key string) {
	before, err := e.PlatformInput(s)
	if err != nil {
		return false, ""
	}
	s.Values = render.MergeValues(s.Values, values)
	after, err := e.PlatformInput(s)
	if err != nil {
		return false, ""
	}
	a, b := e.Engine.Render(before), e.Engine.Render(after)
	if a.Failure != nil {
		return false, ""
	}
	if b.Failure != nil {
		return b.Failure.Kind != render.SchemaFailure, ""
	}
	if len(a.Objects) != len(b.Objects) {
		return true, ""
	}
	inj := e.Tree.Profile.Injected
	for i, o := range a.Objects {
		switch p := b.Objects[i]; {
		case o.Unstructured == p.Unstructured || reflect.DeepEqual(o.Object, p.Object):
		case o.GetKind() != "Secret" || o.GetName() != inj.Secret:
			return true, ""
		default:
			x, y := injectedIn(o, inj.Key, inj.Cluster), injectedIn(p, inj.Key, inj.Cluster)
			for _, k := range append(requirement.SortedKeys(x), requirement.SortedKeys(y)...) {
				if !reflect.DeepEqual(x[k], y[k]) {
					key = k
				}
			}
			changed = true
		}
	}
	return changed, key
}

// injectedIn returns the cluster values in the Secret that injects them.
func injectedIn(o *render.Object, key, cluster string) map[string]any {
	text := requirement.Nested(o.Unstructured, "stringData", key)
	values := map[string]any{}
	if sigsyaml.Unmarshal([]byte(text), &values) != nil {
		return nil
	}
	return requirement.Map(values, cluster)
}

// hasReader tells whether a chart other than the platform's, or a program of
// the tree, names an injected value.
func hasReader(e *requirement.Env, key string) bool {
	for _, c := range e.Renderable() {
		if c != e.Tree.PlatformChart() && e.Mentions(c, key) {
			return true
		}
	}
	for _, c := range e.Tree.Charts {
		if c.Library && e.Mentions(c, key) {
			return true
		}
	}
	found := false
	err := e.Tree.Files.Walk(".", func(p string) error {
		if found || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return nil
		}
		data, err := e.Tree.Files.ReadFile(p)
		found = err == nil && strings.Contains(string(data), key)
		return nil
	})
	return found || err != nil
}
