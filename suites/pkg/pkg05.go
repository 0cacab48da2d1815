package pkg

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

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
	How:       "each component that an emitted package sets values for must be one of its variant, with an install block: nothing else becomes a release. Each value of the platform chart is changed, in every preset, with everything switched on, and beside every alternative that the comments of the values file name, until the output of the platform chart changes or a template refuses the change; where nothing changes but the injected values, a chart or a program of the tree must name their key. A value that is read beside a lookup, or an empty mapping that is read, is believed. must where what is set is lost: for a component, or as a value of the platform that changes nothing; should where the injected values hold the same, so that only a line is too much",
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
					f := requirement.Finding{
						Result: pk.Result, Object: o, Path: []string{"spec", "components", component, "values"}, AtCaller: true, Cause: name + " " + component,
						Message: fmt.Sprintf("package %s sets values for component %s, which no release receives: %s", name, component, why),
						Want:    "values for components that are installed by themselves",
					}
					if contains(injectedValues(c.Env, pk.Result), requirement.Field(o.Object, "spec", "components", component, "values")) {
						f.Severity, f.Want = requirement.Should, "no second way for these values"
						f.Message += "; the same values reach it with the injected ones"
					}
					return f
				})
			}
		}
	}
	if values == 0 {
		c.Skip("no package sets values for a component here")
	}
}

// injectedValues are the values that the platform injects into every release, as
// its chart renders them.
func injectedValues(e *requirement.Env, r *render.Result) map[string]any {
	for _, o := range r.Objects {
		if o.GetKind() == "Secret" && o.GetName() == e.Tree.Profile.Injected.Secret {
			return valuesIn(o, e.Tree.Profile.Injected.Key)
		}
	}
	return nil
}

// contains tells whether every value of part is one of whole, at the same path.
func contains(whole, part any) bool {
	p, ok := part.(map[string]any)
	if !ok {
		return reflect.DeepEqual(whole, part)
	}
	w, ok := whole.(map[string]any)
	for k, v := range p {
		ok = ok && w[k] != nil && contains(w[k], v)
	}
	return ok
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
	return requirement.Map(valuesIn(o, key), cluster)
}

func valuesIn(o *render.Object, key string) map[string]any {
	values := map[string]any{}
	if sigsyaml.Unmarshal([]byte(requirement.Nested(o.Unstructured, "stringData", key)), &values) != nil {
		return nil
	}
	return values
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
