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
	Axes:      "every package source that installs something, every variant of it",
	How:       "renders every component that a variant installs with its default values, as on a cluster that serves no API beyond Kubernetes' own, so that what a chart guards by a capability is left out; each custom kind in it whose definition is rendered by an installed component of some package has to be defined by the chart itself, by a component of the same variant, or by a package in the closure of dependsOn; kinds that nothing in the tree defines are taken to be there",
	Fix:       "add the package that provides the kind to dependsOn of the variant, or guard the object by .Capabilities.APIVersions.Has",
	Plan:      planPKG03,
	Judge:     judgePKG03,
}

func planPKG03(e *requirement.Env) (requirement.Plan, error) {
	var p requirement.Plan
	for _, src := range e.Tree.Packages {
		var variants []string
		for _, v := range src.Variants {
			if slices.ContainsFunc(components(e.Tree, src, v), requirement.Installs) {
				variants = append(variants, v.Name)
			}
		}
		if len(variants) > 0 {
			p.Subjects = append(p.Subjects, requirement.Subject{Name: src.Name, Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "variant", Values: variants}}}})
		}
	}
	if len(p.Subjects) == 0 {
		p.Skip = "the tree has no package source that installs a component"
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

func judgePKG03(_ context.Context, c *requirement.Check) {
	src := c.Tree.PackageSource(c.Subject.Name)
	i := slices.IndexFunc(src.Variants, func(v *tree.Variant) bool { return v.Name == c.Get("variant") })
	v := src.Variants[i]
	installed := slices.DeleteFunc(components(c.Tree, src, v), func(a *tree.Artifact) bool { return !requirement.Installs(a) })
	kinds, needs := c.Kinds(), c.Needs(v)
	results := map[*tree.Artifact]*render.Result{}
	own := map[schema.GroupKind]bool{}
	var refused []string
	for _, a := range installed {
		r := c.Engine.Render(c.ArtifactInput(a, requirement.Situation{Offline: true}))
		results[a] = r
		if r.Failure != nil {
			refused = append(refused, fmt.Sprintf("%s: %s", a.Component.Name, r.Failure.Message))
		}
		for _, gk := range c.Defined(r) {
			own[gk] = true
		}
	}
	for _, a := range installed {
		r := results[a]
		seen := map[schema.GroupKind]bool{}
		for _, o := range r.Objects {
			gk := o.GroupVersionKind().GroupKind()
			if seen[gk] {
				continue
			}
			seen[gk] = true
			providers := kinds.Providers(gk)
			if len(providers) == 0 {
				continue
			}
			ok := own[gk] || slices.ContainsFunc(providers, func(p string) bool { return slices.Contains(needs, p) })
			c.Assert(ok, func() requirement.Finding {
				return requirement.Finding{
					Chart: c.Tree.Profile.PlatformChart, Place: fmt.Sprintf("%s:%d", src.File, v.Line), Subject: c.Tree.Profile.Sources.Kind + " " + src.Name,
					Cause:   strings.Join(append([]string{src.Name, v.Name}, providers...), " "),
					Message: fmt.Sprintf("variant %s of %s installs %s, which renders %s (%s) in %s; %s defines that kind, and nothing that the variant depends on leads there", v.Name, src.Name, a.Component.Name, gk.Kind, gk.Group, o.Template, strings.Join(providers, " or ")),
					Want:    "dependsOn: " + strings.Join(providers, " or "),
				}
			})
		}
	}
	switch {
	case c.Assertions > 0:
	case len(refused) > 0:
		c.Skip("a chart refuses its default values: %s", strings.Join(refused, "; "))
	default:
		c.Skip("its charts render no kind that a package of the tree defines")
	}
}
