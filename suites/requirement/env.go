package requirement

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"sort"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
)

// Env is what all cases of a run share: the tree, the engine that renders it,
// and the cluster that the platform is simulated to run on.
type Env struct {
	Tree   *tree.Tree
	Engine *render.Engine

	baseOnce sync.Once
	base     *render.State

	lazies

	mu       sync.Mutex
	gates    map[string]*once[[]Gate]
	lookups  map[string]*once[[]Lookup]
	mentions map[string]*once[bool]

	shared sync.Map // see Shared
}

type once[T any] struct {
	sync.Once
	value T
}

// NewEnv returns the environment of a tree.
func NewEnv(t *tree.Tree, seed int64) *Env {
	e := &Env{Tree: t, Engine: render.NewEngine(t, seed), gates: map[string]*once[[]Gate]{}, lookups: map[string]*once[[]Lookup]{}, mentions: map[string]*once[bool]{}}
	e.initLazies()
	return e
}

// memo computes a value once for a key.
func memo[T any](e *Env, m map[string]*once[T], key string, compute func() T) T {
	e.mu.Lock()
	o := m[key]
	if o == nil {
		o = &once[T]{}
		m[key] = o
	}
	e.mu.Unlock()
	o.Do(func() { o.value = compute() })
	return o.value
}

// Base is the simulated cluster on which charts are rendered: the objects that
// the profile seeds, and those of the charts that it names as seeds.
func (e *Env) Base() *render.State {
	e.baseOnce.Do(func() {
		p := e.Tree.Profile
		var objs []*unstructured.Unstructured
		for _, o := range append(append([]map[string]any{}, p.PlatformObjects...), p.Seeds.Objects...) {
			n, err := render.Normalize(o)
			if err != nil {
				continue // the profile is YAML that was read from JSON types
			}
			objs = append(objs, &unstructured.Unstructured{Object: n})
		}
		for _, m := range p.Injected.ConfigMaps {
			data := map[string]any{}
			for k, v := range p.Injected.ClusterValues {
				data[k] = v
			}
			objs = append(objs, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": m, "namespace": p.Artifact.Namespace}, "data": data,
			}})
		}
		e.base = render.NewState(objs...)
		for _, dir := range p.Seeds.Charts {
			if e.Tree.Chart(dir) == nil {
				continue
			}
			r := e.Engine.Render(render.Input{Chart: dir, Release: path.Base(dir), Namespace: p.Artifact.Namespace, Values: e.Injected(Situation{}), State: e.base})
			for _, o := range r.Objects {
				objs = append(objs, o.Unstructured)
			}
		}
		e.base = render.NewState(objs...)
	})
	return e.base
}

// Situation is what surrounds a chart: where its tenant stands and which
// modules it can use. The zero value is a first-level tenant that inherits
// every module, on a cluster that serves all APIs.
type Situation struct {
	// Namespace of the release; "" is the namespace of a first-level tenant.
	Namespace string
	// Modules says for each module whether it is own, inherited or none;
	// inherited where nothing is said.
	Modules map[string]string
	// Offline renders as helm template does: no API beyond Kubernetes' own.
	Offline bool
	// Bare leaves the injected values out.
	Bare bool
	// State replaces the simulated cluster.
	State *render.State
	// Cluster overrides injected cluster values.
	Cluster map[string]any
	// Version is stamped on the chart.
	Version string
}

// Module sources.
const (
	Own       = "own"
	Inherited = "inherited"
	None      = "none"
)

// TenantNamespace is the namespace of the tenant that charts are rendered for.
func (e *Env) TenantNamespace() string { return e.Tree.Profile.Tenant.Prefix + "demo" }

// Injected returns the values that the platform injects in a situation.
func (e *Env) Injected(s Situation) []map[string]any {
	if s.Bare {
		return nil
	}
	inj := e.Tree.Profile.Injected
	ns := s.Namespace
	if ns == "" {
		ns = e.TenantNamespace()
	}
	cluster := render.MergeValues(inj.ClusterValues, s.Cluster)
	namespace := map[string]any{inj.HostKey: "demo.example.org"}
	for _, m := range inj.Modules {
		switch s.Modules[m] {
		case Own:
			namespace[m] = ns
		case None:
			namespace[m] = ""
		default:
			namespace[m] = e.Tree.Profile.Tenant.Root
		}
	}
	return []map[string]any{{inj.Cluster: cluster, inj.Namespace: namespace}}
}

// Input returns how a chart is rendered in a situation. Values are laid over
// the injected ones.
func (e *Env) Input(c *tree.Chart, s Situation, values ...map[string]any) render.Input {
	in := render.Input{Chart: c.Dir, Release: e.ReleaseName(c), Namespace: s.Namespace, State: s.State, Version: s.Version}
	if in.Namespace == "" {
		in.Namespace = e.TenantNamespace()
		if !c.Application {
			in.Namespace = e.Tree.Profile.Artifact.Namespace
		}
	}
	if a := e.installed(c); a != nil {
		in.Values = append(in.Values, e.Engine.ValuesFiles(a)...)
		if i := a.Component.Install; i != nil && s.Namespace == "" && !c.Application {
			if i.Namespace != "" {
				in.Namespace = i.Namespace
			}
		}
	}
	in.Values = append(in.Values, e.Injected(s)...)
	in.Values = append(in.Values, values...)
	if in.State == nil {
		in.State = e.FullState()
	}
	if c.Application {
		in.State = e.withTenant(in.State, in.Namespace, s)
	}
	if !s.Offline {
		in.Capabilities.APIVersions = e.APIs()
	}
	return in
}

// withTenant adds what a tenant has in a cluster before its releases come: its
// namespace, whose annotations say whose modules it uses, and the Secret through
// which the platform injects its values; and the root tenant's namespace.
func (e *Env) withTenant(state *render.State, namespace string, s Situation) *render.State {
	inj, tenant := e.Tree.Profile.Injected, e.Tree.Profile.Tenant
	s.Namespace = namespace
	values := merged(e.Injected(s))
	data, err := json.Marshal(values)
	if err != nil {
		return state // injected values are YAML, so they are JSON
	}
	annotations := map[string]any{}
	for k, v := range Map(values, inj.Namespace) {
		annotations[tenant.ModuleLabelPrefix+k] = v
	}
	root := map[string]any{tenant.ModuleLabelPrefix + inj.HostKey: "example.org"}
	for _, m := range inj.Modules {
		root[tenant.ModuleLabelPrefix+m] = tenant.Root
	}
	ns := func(name string, annotations map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name, "annotations": annotations},
		}}
	}
	return state.With(ns(tenant.Root, root), ns(namespace, annotations), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": inj.Secret, "namespace": namespace},
		"data":     map[string]any{inj.Key: base64.StdEncoding.EncodeToString(data)},
	}})
}

// Annotated returns a tenant's namespace with the annotations that say whose
// modules it uses, where it has none: they are what trees pass on that inject no
// values.
func (e *Env) Annotated(ns *unstructured.Unstructured) *unstructured.Unstructured {
	if len(ns.GetAnnotations()) > 0 {
		return ns
	}
	inj, prefix := e.Tree.Profile.Injected, e.Tree.Profile.Tenant.ModuleLabelPrefix
	annotations := map[string]string{prefix + inj.HostKey: "example.org"}
	for _, m := range inj.Modules {
		annotations[prefix+m] = e.Tree.Profile.Tenant.Root
	}
	ns = ns.DeepCopy()
	ns.SetAnnotations(annotations)
	return ns
}

func merged(layers []map[string]any) map[string]any {
	out := map[string]any{}
	for _, l := range layers {
		out = render.MergeValues(out, l)
	}
	return out
}

// installed returns the artifact by which a chart reaches a cluster, one with
// an install block first; nil where no source names it.
func (e *Env) installed(c *tree.Chart) *tree.Artifact { return e.artifacts()[c] }

func (e *Env) findArtifacts() map[*tree.Chart]*tree.Artifact {
	found := map[*tree.Chart]*tree.Artifact{}
	for _, a := range e.Tree.Artifacts() {
		if have := found[a.Chart]; a.Chart != nil && (have == nil || have.Component.Install == nil && a.Component.Install != nil) {
			found[a.Chart] = a
		}
	}
	return found
}

// ReleaseName is a name under which a chart is released: the chart's own for
// tenant modules, prefix and an example name for applications, the component's
// for the rest.
func (e *Env) ReleaseName(c *tree.Chart) string {
	if d := e.Tree.ChartDefinition(c); d != nil && !c.Module {
		if x := e.Tree.Profile.Examples[c.Dir]; x.Name != "" {
			return d.Prefix + x.Name
		}
		return d.Prefix + "demo"
	}
	if c.Module {
		return c.Name
	}
	switch {
	case c == e.Tree.TenantChart():
		return e.TenantNamespace() // a tenant's release is named as its namespace
	case c.Application && len(e.Tree.Definitions) == 0:
		return path.Base(c.Dir) + "-demo"
	}
	if a := e.installed(c); a != nil {
		if i := a.Component.Install; i != nil && i.ReleaseName != "" {
			return i.ReleaseName
		}
		return a.Component.Name
	}
	return path.Base(c.Dir)
}

// APIs are all API versions that a chart of the tree asks for.
func (e *Env) APIs() []string { return e.apis() }

func (e *Env) findAPIs() []string {
	set := map[string]bool{}
	for _, c := range e.Tree.Charts {
		if c.Err == nil && !c.Library {
			for _, a := range e.Engine.APIs(c.Dir) {
				set[a] = true
			}
		}
	}
	out := make([]string, 0, len(set))
	for a := range set {
		out = append(out, a)
	}
	sort.Strings(out)
	return out
}

// Renderable returns the charts that are released by themselves: all but
// libraries and those that only other charts install, which are judged where
// these install them.
func (e *Env) Renderable() []*tree.Chart {
	var out []*tree.Chart
	for _, c := range e.Tree.Charts {
		a := e.installed(c)
		if !c.Library && (c.Application || a == nil || a.Component.Install != nil) {
			out = append(out, c)
		}
	}
	return out
}

// Package returns the object that installs a package.
func (e *Env) Package(name, variant string) *unstructured.Unstructured {
	p := e.Tree.Profile
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": p.PackageAPI(), "kind": p.Packages.Kind,
		"metadata": map[string]any{"name": name},
		"spec":     map[string]any{"variant": variant},
	}}
}

// ClusterState is the simulated cluster with the given packages installed, and
// no others.
func (e *Env) ClusterState(packages []*unstructured.Unstructured) *render.State {
	return e.Base().With(packages...)
}

// FullState is the simulated cluster with every package installed that the
// tree has a source for.
func (e *Env) FullState() *render.State { return e.full() }

func (e *Env) fullState() *render.State {
	var objs []*unstructured.Unstructured
	for _, p := range e.Tree.Packages {
		if len(p.Variants) > 0 {
			objs = append(objs, e.Package(p.Name, p.Variants[0].Name))
		}
	}
	return e.ClusterState(objs)
}
