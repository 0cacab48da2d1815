package requirement

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
)

// AllPackages, as PlatformSituation.Enabled, asks for every optional package.
const AllPackages = "*"

// PlatformSituation is how a platform is installed.
type PlatformSituation struct {
	Preset  string
	Without string // bundle that is switched off, "" for none
	Enabled string // optional package, AllPackages, or ""
	Disable string // package, or ""
	Values  map[string]any
}

// Packages is what the platform chart emits in a situation.
type Packages struct {
	Result  *render.Result
	Objects []*unstructured.Unstructured
	byName  map[string]*render.Object
}

// PresetNames are the presets of the tree, none where it has no platform chart.
func (e *Env) PresetNames() []string {
	if e.Tree.PlatformChart() == nil {
		return nil
	}
	var names []string
	for _, p := range e.Tree.Presets {
		names = append(names, p.Name)
	}
	return names
}

// Bundles are the bundles that the platform chart can switch off, sorted.
func (e *Env) Bundles() []string {
	set := map[string]bool{}
	add := func(values map[string]any) {
		for name, v := range Map(values, strings.Split(e.Tree.Profile.BundlesKey, ".")...) {
			if m, ok := v.(map[string]any); ok && m["enabled"] != nil {
				set[name] = true
			}
		}
	}
	if c := e.Tree.PlatformChart(); c != nil {
		add(c.Values)
		for _, p := range e.Tree.Presets {
			add(p.Values)
		}
	}
	return SortedKeys(set)
}

// PlatformInput returns how the platform chart is rendered in a situation.
func (e *Env) PlatformInput(s PlatformSituation) (render.Input, error) {
	c := e.Tree.PlatformChart()
	if c == nil {
		return render.Input{}, errors.New("the tree has no platform chart")
	}
	p := e.Tree.Profile
	in := render.Input{Chart: c.Dir, Release: path.Base(c.Dir), Namespace: p.Artifact.Namespace, State: e.Base()}
	in.Capabilities.APIVersions = e.APIs()
	for _, pr := range e.Tree.Presets {
		if pr.Name == s.Preset {
			in.Values = append(in.Values, pr.Values)
		}
	}
	if s.Preset != "" && len(in.Values) == 0 {
		return in, fmt.Errorf("there is no preset %q", s.Preset)
	}
	if s.Without != "" {
		in.Values = append(in.Values, At(false, append(strings.Split(p.BundlesKey, "."), s.Without, "enabled")...))
	}
	if s.Enabled != "" {
		var names []any
		for _, src := range e.Tree.Packages {
			if s.Enabled == AllPackages || s.Enabled == src.Name {
				names = append(names, src.Name)
			}
		}
		in.Values = append(in.Values, At(names, strings.Split(p.EnabledKey, ".")...))
	}
	if s.Disable != "" {
		in.Values = append(in.Values, At([]any{s.Disable}, strings.Split(p.DisabledKey, ".")...))
	}
	if s.Values != nil {
		in.Values = append(in.Values, s.Values)
	}
	return in, nil
}

// Packages renders the platform chart in a situation. A render that fails is
// the *render.Failure of it.
func (e *Env) Packages(s PlatformSituation) (*Packages, error) {
	in, err := e.PlatformInput(s)
	if err != nil {
		return nil, err
	}
	r := e.Engine.Render(in)
	if r.Failure != nil {
		return nil, r.Failure
	}
	p := &Packages{Result: r, byName: map[string]*render.Object{}}
	want := e.Tree.Profile.Packages
	for _, o := range r.Objects {
		if o.GetKind() == want.Kind && o.GroupVersionKind().Group == want.Group {
			p.byName[o.GetName()] = o
			p.Objects = append(p.Objects, o.Unstructured)
		}
	}
	return p, nil
}

// Get returns an emitted package, nil where it is not emitted.
func (p *Packages) Get(name string) *render.Object { return p.byName[name] }

// Names are the emitted packages, sorted.
func (p *Packages) Names() []string { return SortedKeys(p.byName) }

// Variant returns the variant of the source that an emitted package uses, nil
// where its source has none of that name.
func (p *Packages) Variant(e *Env, name string) (*tree.PackageSource, *tree.Variant) {
	o, src := p.byName[name], e.Tree.PackageSource(name)
	if o == nil || src == nil {
		return src, nil
	}
	want := Nested(o.Unstructured, "spec", "variant")
	if want == "" {
		want = "default"
	}
	for _, v := range src.Variants {
		if v.Name == want {
			return src, v
		}
	}
	return src, nil
}

// Artifacts are the artifacts that the emitted packages produce, by name.
func (p *Packages) Artifacts(e *Env) map[string]*tree.Artifact {
	out := map[string]*tree.Artifact{}
	for _, name := range p.Names() {
		src, v := p.Variant(e, name)
		if v == nil {
			continue
		}
		for _, c := range v.Components {
			n := tree.ArtifactName(src.Name, v.Name, c.Name)
			if a := e.Tree.Artifact(n); a != nil {
				out[n] = a
			}
		}
	}
	return out
}

// Installed are the artifacts of the emitted packages that are released by
// themselves, by name.
func (p *Packages) Installed(e *Env) []*tree.Artifact {
	all := p.Artifacts(e)
	var out []*tree.Artifact
	for _, n := range SortedKeys(all) {
		if all[n].Component.Install != nil {
			out = append(out, all[n])
		}
	}
	return out
}

// BundlesOf are the bundles without which no preset emits a package.
func (e *Env) BundlesOf(name string) []string {
	var out []string
	for _, b := range e.Bundles() {
		for _, preset := range e.PresetNames() {
			with, err := e.Packages(PlatformSituation{Preset: preset})
			if err != nil || with.Get(name) == nil {
				continue
			}
			without, err := e.Packages(PlatformSituation{Preset: preset, Without: b})
			if err == nil && without.Get(name) == nil {
				out = append(out, b)
				break
			}
		}
	}
	return out
}

// Installs are the ways to install the platform that render: every preset, and
// every preset without one of its bundles.
func (e *Env) Installs() []PlatformSituation {
	return e.installs()
}

func (e *Env) findInstalls() []PlatformSituation {
	var out []PlatformSituation
	for _, preset := range e.PresetNames() {
		for _, b := range append([]string{""}, e.Bundles()...) {
			s := PlatformSituation{Preset: preset, Without: b}
			if _, err := e.Packages(s); err == nil {
				out = append(out, s)
			}
		}
	}
	return out
}

// Name is the value of the install axis.
func (s PlatformSituation) Name() string {
	if s.Without == "" {
		return s.Preset
	}
	return s.Preset + "-without-" + s.Without
}

// Install returns the situation of a name, ok is false where there is none.
func (e *Env) Install(name string) (PlatformSituation, bool) {
	all := e.Installs()
	i := slices.IndexFunc(all, func(s PlatformSituation) bool { return s.Name() == name })
	if i < 0 {
		return PlatformSituation{}, false
	}
	return all[i], true
}

// InstallNames are the names of Installs.
func (e *Env) InstallNames() []string {
	var out []string
	for _, s := range e.Installs() {
		out = append(out, s.Name())
	}
	return out
}

// PlatformReleases are the releases that the packages of the tree install, as
// namespace/name, whatever is installed of them.
func (e *Env) PlatformReleases() map[string]bool { return e.releases() }

func (e *Env) findReleases() map[string]bool {
	out := map[string]bool{}
	for _, a := range e.Tree.Artifacts() {
		i := a.Component.Install
		if i == nil {
			continue
		}
		name, ns := i.ReleaseName, i.Namespace
		if name == "" {
			name = a.Component.Name
		}
		if ns == "" {
			ns = e.Tree.Profile.Artifact.Namespace
		}
		out[ns+"/"+name] = true
		// A HelmRelease is named after its component, whatever the release.
		out[ns+"/"+a.Component.Name] = true
	}
	return out
}

// PlatformServices are the Services that the installed components of the tree
// render, as namespace/name.
func (e *Env) PlatformServices() map[string]*render.Object { return e.services() }

func (e *Env) findServices() map[string]*render.Object {
	out := map[string]*render.Object{}
	for _, a := range e.Tree.Artifacts() {
		if a.Component.Install == nil || a.Chart == nil || a.Chart.Err != nil {
			continue
		}
		for _, r := range e.Engine.Closure(e.Input(a.Chart, Situation{})) {
			if r.Result == nil || r.Remote {
				continue
			}
			for _, o := range r.Objects {
				if o.GetKind() != "Service" {
					continue
				}
				out[r.NamespaceOf(o)+"/"+o.GetName()] = o
			}
		}
	}
	return out
}

// lazies are what an Env computes once for a whole run.
type lazies struct {
	apis      func() []string
	full      func() *render.State
	artifacts func() map[*tree.Chart]*tree.Artifact
	installs  func() []PlatformSituation
	releases  func() map[string]bool
	kinds     func() *Kinds
	scopes    func() *Scopes
	services  func() map[string]*render.Object
	injects   func() bool
	alone     func() map[string]bool
	defaults  func() []*render.Result

	definitions func() *definitions
}

func (e *Env) initLazies() {
	e.apis = sync.OnceValue(e.findAPIs)
	e.full = sync.OnceValue(e.fullState)
	e.artifacts = sync.OnceValue(e.findArtifacts)
	e.installs = sync.OnceValue(e.findInstalls)
	e.releases = sync.OnceValue(e.findReleases)
	e.services = sync.OnceValue(e.findServices)
	e.kinds = sync.OnceValue(e.findKinds)
	e.alone = sync.OnceValue(e.findAlone)
	e.defaults = sync.OnceValue(e.findDefaults)
	e.scopes = sync.OnceValue(e.findScopes)
	e.injects = sync.OnceValue(e.findInjects)
	e.definitions = sync.OnceValue(e.findDefinitions)
}

// PlatformSwitches are values of the platform chart, each with one of its
// booleans turned over; those of the bundles are left out.
func (e *Env) PlatformSwitches() []map[string]any {
	c := e.Tree.PlatformChart()
	if c == nil {
		return nil
	}
	var out []map[string]any
	Walk(c.Values, func(path []string, v any) {
		if b, ok := v.(bool); ok && path[0] != strings.Split(e.Tree.Profile.BundlesKey, ".")[0] {
			out = append(out, At(!b, path...))
		}
	})
	return out
}
