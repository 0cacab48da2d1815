package requirement

import (
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
)

// crdGroup is the API group of the objects that define kinds.
const crdGroup = "apiextensions.k8s.io"

// Kinds tells which kinds the packages of a tree bring to a cluster: those
// whose definitions their installed components render.
type Kinds struct {
	byPackage map[string]map[schema.GroupKind]bool
	given     map[schema.GroupKind]bool
}

// Kinds is what the packages of the tree provide.
func (e *Env) Kinds() *Kinds { return e.kinds() }

func (e *Env) findKinds() *Kinds {
	k := &Kinds{byPackage: map[string]map[schema.GroupKind]bool{}, given: map[schema.GroupKind]bool{}}
	packaged := map[*tree.Chart]bool{}
	for _, a := range e.Tree.Artifacts() {
		packaged[a.Chart] = true
		if !Installs(a) {
			continue
		}
		set := k.byPackage[a.Package.Name]
		if set == nil {
			set = map[schema.GroupKind]bool{}
			k.byPackage[a.Package.Name] = set
		}
		for _, gk := range Defined(e.Engine.Render(e.ArtifactInput(a, Situation{Offline: true}))) {
			set[gk] = true
		}
	}
	// What no package holds is there before the first package.
	for _, c := range e.Renderable() {
		if c.Err == nil && !packaged[c] {
			for _, gk := range Defined(e.Engine.Render(e.Input(c, Situation{Offline: true}))) {
				k.given[gk] = true
			}
		}
	}
	return k
}

// Providers are the packages that provide a kind, sorted. A kind that a chart
// outside all packages defines has none: it is there before them.
func (k *Kinds) Providers(gk schema.GroupKind) []string {
	if k.given[gk] {
		return nil
	}
	var out []string
	for name, set := range k.byPackage {
		if set[gk] {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// Installs tells whether a package releases a component by itself.
func Installs(a *tree.Artifact) bool {
	return a.Component.Install != nil && a.Chart != nil && a.Chart.Err == nil && !a.Chart.Library
}

// Defined are the kinds that the CustomResourceDefinitions of a render define.
func Defined(r *render.Result) []schema.GroupKind {
	var out []schema.GroupKind
	for _, o := range r.Objects {
		if o.GetKind() == "CustomResourceDefinition" && o.GroupVersionKind().Group == crdGroup {
			out = append(out, schema.GroupKind{Group: Nested(o.Unstructured, "spec", "group"), Kind: Nested(o.Unstructured, "spec", "names", "kind")})
		}
	}
	return out
}

// ArtifactInput returns how the component of a package is rendered where it is
// released by itself: with the values that are built into it, under its
// release name.
func (e *Env) ArtifactInput(a *tree.Artifact, s Situation, values ...map[string]any) render.Input {
	in := e.Input(a.Chart, s, values...)
	in.Values = slices.Concat(e.Engine.ValuesFiles(a), e.Injected(s), values)
	in.Release, in.Namespace = a.Component.Name, e.Tree.Profile.Artifact.Namespace
	if i := a.Component.Install; i != nil {
		if i.ReleaseName != "" {
			in.Release = i.ReleaseName
		}
		if i.Namespace != "" {
			in.Namespace = i.Namespace
		}
	}
	return in
}

// Needs are the packages that a variant depends on, those that they depend on,
// and so on, in the order in which they are found. Nothing here says which
// variant of a needed package is installed, so all of its variants count.
func (e *Env) Needs(v *tree.Variant) []string {
	out := slices.Clone(v.DependsOn)
	seen := map[string]bool{}
	for i := 0; i < len(out); i++ {
		if seen[out[i]] {
			continue
		}
		seen[out[i]] = true
		if src := e.Tree.PackageSource(out[i]); src != nil {
			for _, w := range src.Variants {
				out = append(out, w.DependsOn...)
			}
		}
	}
	found := map[string]bool{}
	return slices.DeleteFunc(out, func(n string) bool {
		again := found[n]
		found[n] = true
		return again
	})
}
