package requirement

import (
	"bytes"
	"regexp"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
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
		for _, gk := range e.Defined(e.Engine.Render(e.ArtifactInput(a, Situation{Offline: true}))) {
			set[gk] = true
		}
	}
	// What no package holds is there before the first package.
	for _, c := range e.Renderable() {
		if c.Err == nil && !packaged[c] {
			for _, gk := range e.Defined(e.Engine.Render(e.Input(c, Situation{Offline: true}))) {
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

// Defined are the kinds that a release defines: by the
// CustomResourceDefinitions among its objects, and by those in the crds folders
// of its chart, which Helm installs before all templates.
func (e *Env) Defined(r *render.Result) []schema.GroupKind {
	var out []schema.GroupKind
	for _, o := range r.Objects {
		if o.GetKind() == crdKind && o.GroupVersionKind().Group == crdGroup {
			out = append(out, schema.GroupKind{Group: Nested(o.Unstructured, "spec", "group"), Kind: Nested(o.Unstructured, "spec", "names", "kind")})
		}
	}
	for _, doc := range e.crds(r.Input) {
		out = append(out, schema.GroupKind{Group: doc.Spec.Group, Kind: doc.Spec.Names.Kind})
	}
	return out
}

const crdKind = "CustomResourceDefinition"

type crd struct {
	Kind string `yaml:"kind"`
	Spec struct {
		Group string `yaml:"group"`
		Names struct {
			Kind string `yaml:"kind"`
		} `yaml:"names"`
	} `yaml:"spec"`
}

// crds reads the crds folders of a chart, and of those charts that it embeds
// with these values. What cannot be read is left out: the render tells of it.
func (e *Env) crds(in render.Input) []crd {
	var files []*loader.BufferedFile
	found := false
	err := e.Tree.Files.Walk(in.Chart, func(p string) error {
		rel := strings.TrimPrefix(p, in.Chart+"/")
		folder := crdFile.MatchString(rel)
		found = found || folder
		if !folder && !chartFile.MatchString(rel) {
			return nil
		}
		data, err := e.Tree.Files.ReadFile(p)
		files = append(files, &loader.BufferedFile{Name: rel, Data: data})
		return err
	})
	if err != nil || !found {
		return nil
	}
	c, err := loader.LoadFiles(files)
	if err != nil || chartutil.ProcessDependenciesWithMerge(c, merged(in.Values)) != nil {
		return nil
	}
	var out []crd
	for _, f := range c.CRDObjects() {
		dec := yaml.NewDecoder(bytes.NewReader(f.File.Data))
		for {
			var doc crd
			if dec.Decode(&doc) != nil {
				break
			}
			if doc.Kind == crdKind {
				out = append(out, doc)
			}
		}
	}
	return out
}

var (
	crdFile   = regexp.MustCompile(`^(charts/[^/]+/)*crds/.+\.ya?ml$`)
	chartFile = regexp.MustCompile(`^(charts/[^/]+/)*(Chart|values)\.yaml$|^(charts/[^/]+/)*charts/[^/]+\.tgz$`)
)

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
