package pkg

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// PKG03: what a package renders, its dependencies define.
var PKG03 = &requirement.Requirement{
	ID:        "PKG-03",
	Statement: "The kinds a chart renders are provided by its package's dependency closure",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "field bugs: 29 packages that publish an application kind raced the package that defines that kind; five packages that ask for certificates raced the one that issues them, one variant forgotten in the first fix",
	Axes:      "every package source that installs or publishes something, every variant of it",
	How:       "renders every component that a variant installs with its default values, as on a cluster that serves no API beyond Kubernetes' own, so that what a chart guards by a capability is left out; each custom kind in it whose definition is rendered by an installed component of some package has to be defined by the chart itself, by a component of the same variant, or by a package in the closure of dependsOn; kinds that nothing in the tree defines are taken to be there. The same holds for the chart of an application or module that the variant publishes, in all contexts of its values; what its own HelmReleases install is their packages' matter. must for what the variant installs, whose order dependsOn alone secures, and where a preset emits the package without any that provides the kind; should where every preset emits both and an instance may only come too early: its release is tried again. One finding a package and missing provider",
	Fix:       "add the package that provides the kind to dependsOn of the variant, or guard the object by .Capabilities.APIVersions.Has",
	Plan:      planPKG03,
	Judge:     judgePKG03,
}

func planPKG03(e *requirement.Env) (requirement.Plan, error) {
	var p requirement.Plan
	for _, src := range e.Tree.Packages {
		var variants []string
		for _, v := range src.Variants {
			if slices.ContainsFunc(components(e.Tree, src, v), func(a *tree.Artifact) bool { return requirement.Installs(a) || publishes(e.Tree, a) }) {
				variants = append(variants, v.Name)
			}
		}
		if len(variants) > 0 {
			p.Subjects = append(p.Subjects, requirement.Subject{Name: src.Name, Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "variant", Values: variants}}}})
		}
	}
	if len(p.Subjects) == 0 {
		p.Skip = "the tree has no package source that installs or publishes a component"
	}
	return p, nil
}

// components are the artifacts of a variant.
func components(t *tree.Tree, src *tree.PackageSource, v *tree.Variant) []*tree.Artifact {
	var out []*tree.Artifact
	for _, c := range v.Components {
		if a := t.Artifact(tree.ArtifactName(src.Name, v.Name, c.Name)); a != nil {
			out = append(out, a)
		}
	}
	return out
}

// publishes tells whether a component is the chart of an application that users
// create, or of a module of tenants: released by others, from its artifact.
func publishes(t *tree.Tree, a *tree.Artifact) bool {
	c := a.Chart
	if a.Component.Install != nil || c == nil || c.Err != nil || c.Library || !c.Application {
		return false
	}
	return c.Module || slices.ContainsFunc(t.Definitions, func(d *tree.Definition) bool { return t.Artifact(d.ChartRef.Name) == a })
}

// variant03 is a variant of a package under judgement.
type variant03 struct {
	*requirement.Check
	src     *tree.PackageSource
	variant *tree.Variant
	needs   []string
	own     map[schema.GroupKind]bool // that it defines itself
	refused []string
}

func judgePKG03(_ context.Context, c *requirement.Check) {
	src := c.Tree.PackageSource(c.Subject.Name)
	i := slices.IndexFunc(src.Variants, func(v *tree.Variant) bool { return v.Name == c.Get("variant") })
	v := &variant03{Check: c, src: src, variant: src.Variants[i], needs: c.Needs(src.Variants[i]), own: map[schema.GroupKind]bool{}}
	results := map[*tree.Artifact]*render.Result{}
	all := components(c.Tree, src, v.variant)
	for _, a := range all {
		if !requirement.Installs(a) {
			continue
		}
		r := c.Engine.Render(c.ArtifactInput(a, requirement.Situation{Offline: true}))
		results[a] = r
		v.refuses(a, r)
		for _, gk := range c.Defined(r) {
			v.own[gk] = true
		}
	}
	for _, a := range all {
		switch {
		case results[a] != nil:
			v.judge(a, []*render.Result{results[a]})
		case publishes(c.Tree, a):
			v.judge(a, v.instances(a))
		}
	}
	switch {
	case c.Assertions > 0:
	case len(v.refused) > 0:
		c.Skip("a chart refuses its default values: %s", strings.Join(v.refused, "; "))
	default:
		c.Skip("its charts render no kind that a package of the tree defines")
	}
}

func (v *variant03) refuses(a *tree.Artifact, r *render.Result) {
	if r.Failure != nil {
		v.refused = append(v.refused, fmt.Sprintf("%s: %s", a.Component.Name, r.Failure.Message))
	}
}

// instances are renders of a published chart with each of its contexts.
func (v *variant03) instances(a *tree.Artifact) []*render.Result {
	home := v.Home(a.Chart)
	home.Offline = true
	var out []*render.Result
	for _, s := range v.Contexts(a.Chart) {
		r := v.Engine.Render(v.Input(a.Chart, home, s.Values))
		if s.Err != nil {
			continue
		}
		if r.Failure != nil {
			v.refuses(a, r)
			continue
		}
		out = append(out, r)
	}
	return out
}

// judge asserts that the kinds of a component's objects are provided.
func (v *variant03) judge(a *tree.Artifact, results []*render.Result) {
	seen := map[schema.GroupKind]bool{}
	for _, r := range results {
		for _, o := range r.Objects {
			gk := o.GroupVersionKind().GroupKind()
			if seen[gk] {
				continue
			}
			seen[gk] = true
			providers := v.Kinds().Providers(gk)
			if len(providers) == 0 {
				continue
			}
			ok := v.own[gk] || slices.ContainsFunc(providers, func(p string) bool { return slices.Contains(v.needs, p) })
			v.Assert(ok, func() requirement.Finding { return v.finding(a, o, gk, providers) })
		}
	}
}

func (v *variant03) finding(a *tree.Artifact, o *render.Object, gk schema.GroupKind, providers []string) requirement.Finding {
	by := strings.Join(providers, " or ")
	does, severity, end, want := "installs", requirement.Must, "", "dependsOn: "+by
	if !requirement.Installs(a) {
		does = "publishes"
		if preset := v.emittedWithout(providers); preset != "" {
			end = fmt.Sprintf("; with preset %s it is never there, and no instance can be installed", preset)
			want = by + " emitted too, or the object left out where the kind is not served"
		} else {
			severity, end = requirement.Should, ": an instance that comes before it fails, and is tried again"
		}
	}
	if !slices.ContainsFunc(providers, func(p string) bool { return !v.neededBy(p) }) {
		// An edge would close a circle.
		want = fmt.Sprintf("the kind defined by a package that does not depend on %s, as %s does", v.src.Name, by)
	}
	return requirement.Finding{
		Chart: v.Tree.Profile.PlatformChart, Place: fmt.Sprintf("%s:%d", v.src.File, v.variant.Line), Subject: v.Tree.Profile.Sources.Kind + " " + v.src.Name,
		Root: strings.Join(append([]string{v.src.Name}, providers...), " "), Severity: severity,
		Message: fmt.Sprintf("%s %s %s, which renders %s (%s); %s defines that kind, and nothing that variant %s depends on leads there%s", v.src.Name, does, a.Component.Name, gk.Kind, o.Template, by, v.variant.Name, end),
		Want:    want,
	}
}

// neededBy tells whether a package depends on the one under judgement.
func (v *variant03) neededBy(name string) bool {
	src := v.Tree.PackageSource(name)
	return src != nil && slices.ContainsFunc(src.Variants, func(w *tree.Variant) bool { return slices.Contains(v.Needs(w), v.src.Name) })
}

// emittedWithout is a preset that emits this variant with all that it depends on,
// by itself or where it is asked for, and none of the providers; "" where there
// is none.
func (v *variant03) emittedWithout(providers []string) string {
	for _, preset := range v.PresetNames() {
		for _, enabled := range []string{"", v.src.Name} {
			p, err := v.Packages(requirement.PlatformSituation{Preset: preset, Enabled: enabled})
			if err != nil {
				continue
			}
			if _, emitted := p.Variant(v.Env, v.src.Name); emitted == v.variant && complete(v.Env, p, v.src.Name) && !slices.ContainsFunc(providers, func(n string) bool { return p.Get(n) != nil }) {
				return preset
			}
		}
	}
	return ""
}

// complete tells whether all that an emitted package depends on is emitted, too.
func complete(e *requirement.Env, p *requirement.Packages, name string) bool {
	seen := map[string]bool{}
	var look func(name string) bool
	look = func(name string) bool {
		if seen[name] {
			return true
		}
		seen[name] = true
		_, v := p.Variant(e, name)
		return v != nil && !slices.ContainsFunc(v.DependsOn, func(d string) bool { return !look(d) })
	}
	return look(name)
}
