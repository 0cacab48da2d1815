package requirement

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
)

// Values of the axis of a lookup.
const (
	Absent  = "absent"
	Present = "present"
)

// lookupAxis begins the names of the axes of lookups.
const lookupAxis = "lookup."

// Lookup is an object, or all of a kind, that a chart asks the cluster for, and
// what it finds where that is there.
type Lookup struct {
	render.Key
	// Found is nil where the cluster that charts are rendered on has it already.
	Found []*unstructured.Unstructured
	// Own is set where an earlier render of the chart made it.
	Own bool

	home string // namespace of the release that asks
	// entries is set where nothing asks for it before lists and mappings that are
	// empty have entries.
	entries bool
}

// Axis is the axis of the lookup, the state without more ado first.
func (l Lookup) Axis() matrix.Axis {
	name := l.Name
	if name == "" {
		name = "*"
	}
	if l.Namespace != "" && l.Namespace != l.home {
		name = l.Namespace + "/" + name
	}
	a := matrix.Axis{Name: lookupAxis + l.Kind + "." + name, Values: []string{Absent, Present}}
	if l.Found == nil {
		a.Values = []string{Present, Absent}
	}
	return a
}

// custom tells whether the kind is none of Kubernetes' own.
func (l Lookup) custom() bool {
	return !Builtin(&unstructured.Unstructured{Object: map[string]any{"apiVersion": l.Group + "/v1", "kind": l.Kind}})
}

// Lookups are what a chart looks up as it comes and with everything switched on,
// and what the charts look up that only it installs, as far as it may be there
// or not: a tenant has its namespace and its injected values before its releases
// come. What a lookup finds is, in this order, what an earlier render of the
// chart made, what another chart of the tree makes, and what its kind says of it.
// The keys of a Secret or a ConfigMap are not guessed: one that nothing makes is
// left out where a template reads a key of it.
func (e *Env) Lookups(c *tree.Chart) []Lookup {
	return memo(e, e.lookups, c.Dir, func() []Lookup { return e.findLookups(c) })
}

func (e *Env) findLookups(c *tree.Chart) []Lookup {
	if c.Err != nil || !e.Engine.Looks(c.Dir) && !e.Mentions(c, "HelmRelease") {
		return nil
	}
	in := e.SweepInput(c, nil)
	earlier := e.Engine.Closure(in)
	asked := e.asked(c, earlier)
	first := len(asked)
	if e.Engine.Looks(c.Dir) {
		if most, err := e.Context(c, MostContext, ExampleName); err == nil {
			all := e.Engine.Closure(e.Input(c, Situation{Modules: map[string]string{}}, most))
			earlier = append(earlier, all...)
			asked = append(asked, e.asked(c, all)...)
		}
	}
	var out []Lookup
	for i, a := range asked {
		if slices.ContainsFunc(out, func(have Lookup) bool { return have.Key == a.Key }) || e.given(c, in, a.Key) {
			continue
		}
		l := Lookup{Key: a.Key, home: in.Namespace, entries: i >= first}
		if !in.State.Holds(a.Key) {
			if l.Found, l.Own = madeBy(earlier, a.Key), true; l.Found == nil {
				l.Found, l.Own = e.others(a.Key), false
			}
			if l.Found == nil {
				l.Found = e.least(a, asked)
			}
			if l.Found == nil {
				continue
			}
		}
		out = append(out, l)
	}
	return out
}

// asked is what the releases ask for in this cluster, those left out that are
// judged by themselves.
func (e *Env) asked(c *tree.Chart, all []*render.Release) []render.Asked {
	alone := e.alone()
	var out []render.Asked
	for _, r := range all {
		if r.Result != nil && !r.Elsewhere() && (r.Input.Chart == c.Dir || !alone[r.Input.Chart]) {
			out = append(out, r.Lookups...)
		}
	}
	return out
}

func (e *Env) findAlone() map[string]bool {
	out := map[string]bool{}
	for _, c := range e.Renderable() {
		out[c.Dir] = true
	}
	return out
}

// given tells whether what a key names is there whenever the chart is installed:
// its namespace, what the platform injects, and what the profile says that the
// platform runs on.
func (e *Env) given(c *tree.Chart, in render.Input, k render.Key) bool {
	p := e.Tree.Profile
	switch {
	case k.Group == "" && k.Kind == "Namespace":
		return k.Name == in.Namespace || k.Name == p.Tenant.Root || k.Name == p.Artifact.Namespace
	case k.Group == "" && k.Kind == "Secret" && c.Application && k.Name == p.Injected.Secret:
		return true
	case k.Group == "" && k.Kind == "ConfigMap" && slices.Contains(p.Injected.ConfigMaps, k.Name):
		return true
	}
	return slices.ContainsFunc(slices.Concat(p.PlatformObjects, p.Seeds.Objects), func(o map[string]any) bool {
		return placed(&unstructured.Unstructured{Object: o}, k, "") != nil
	})
}

// madeBy are the objects of a key that releases made, as they are stored.
func madeBy(all []*render.Release, k render.Key) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, r := range all {
		if r.Result == nil || r.Elsewhere() {
			continue
		}
		for _, o := range render.Applied(r.Result) {
			if o = placed(o, k, r.Input.Namespace); o != nil && !slices.ContainsFunc(out, func(have *unstructured.Unstructured) bool {
				return have.GetName() == o.GetName()
			}) {
				out = append(out, o)
			}
		}
	}
	return out
}

// placed returns an object as a key finds it, nil where the key does not: one
// without a namespace is in that of its release where the key has one.
func placed(o *unstructured.Unstructured, k render.Key, namespace string) *unstructured.Unstructured {
	have := render.KeyOf(o)
	if have.Group != k.Group || have.Kind != k.Kind || k.Name != "" && have.Name != k.Name {
		return nil
	}
	if have.Namespace == "" && k.Namespace != "" {
		if namespace != k.Namespace {
			return nil
		}
		o = o.DeepCopy()
		o.SetNamespace(namespace)
		return o
	}
	if k.Namespace != "" && have.Namespace != k.Namespace {
		return nil
	}
	return o
}

// others are the objects of a key that charts of the tree make, each as it comes.
func (e *Env) others(k render.Key) []*unstructured.Unstructured {
	var all []*render.Release
	for _, r := range e.defaults() {
		all = append(all, &render.Release{Result: r})
	}
	return madeBy(all, k)
}

// findDefaults renders every chart that is released by itself.
func (e *Env) findDefaults() []*render.Result {
	var out []*render.Result
	for _, c := range e.Renderable() {
		if c.Err == nil {
			out = append(out, e.Engine.Render(e.SweepInput(c, nil)))
		}
	}
	return out
}

// example names what is made up.
const example = "demo"

// least is an object of the kind that is asked for: one of Kubernetes' own kinds
// with what the kind demands, one that the tree defines with what its definition
// declares; nil where nothing can be said of it.
func (e *Env) least(a render.Asked, asked []render.Asked) []*unstructured.Unstructured {
	name := a.Name
	if name == "" {
		name = example
	}
	apiVersion := a.Version
	if a.Group != "" {
		apiVersion = a.Group + "/" + a.Version
	}
	o, ok := render.Minimal(apiVersion, a.Kind, a.Namespace, name)
	if !ok {
		return e.declaredObject(apiVersion, a, name)
	}
	if a.Group == "" && (a.Kind == "Secret" || a.Kind == "ConfigMap") {
		if slices.ContainsFunc(asked, func(b render.Asked) bool { return b.Key == a.Key && e.readsKey(b.Template) }) {
			return nil
		}
		// No template cares how the keys are called.
		o.Object["data"] = map[string]any{example: "ZGVtbw=="}
	}
	return []*unstructured.Unstructured{o}
}

// declaredObject is an object of a kind that a file of the tree defines, with every
// field that the definition declares below its spec: nothing says which of the
// fields that it does not require a controller fills in, and to read one is no
// fault of a chart. Lists are empty.
func (e *Env) declaredObject(apiVersion string, a render.Asked, name string) []*unstructured.Unstructured {
	s := e.definitions().plain(schema.GroupVersionKind{Group: a.Group, Version: a.Version, Kind: a.Kind})
	if s == nil {
		return nil
	}
	meta := map[string]any{"name": name}
	if a.Namespace != "" {
		meta["namespace"] = a.Namespace
	}
	o := map[string]any{"apiVersion": apiVersion, "kind": a.Kind, "metadata": meta}
	if spec := Map(s, "properties", "spec"); spec != nil {
		o["spec"] = declared(spec, "spec")
	}
	n, err := render.Normalize(o)
	if err != nil {
		return nil // a definition is YAML that is JSON
	}
	return []*unstructured.Unstructured{{Object: n}}
}

// declared is a value with every field that a schema declares.
func declared(s map[string]any, key string) any {
	switch s["type"] {
	case "object":
		out := map[string]any{}
		props := Map(s, "properties")
		for _, name := range SortedKeys(props) {
			if sub, ok := props[name].(map[string]any); ok {
				out[name] = declared(sub, name)
			}
		}
		return out
	case "array":
		return []any{}
	}
	return Example(s, key, example)
}

var (
	// dataKey is a key of a Secret or a ConfigMap that a template names.
	dataKey    = regexp.MustCompile(`\.(?:data|stringData)\.[A-Za-z_]|index\s+[^}|]*\.(?:data|stringData)\b|(?:hasKey|get|dig|pluck)\s+[^}]*(?:\.data\b|"data")|\.(?:data|stringData)\)*\s+"`)
	secretCall = regexp.MustCompile(`lookup\s+"v1"\s+"(?:Secret|ConfigMap)"`)
)

// readsKey tells whether a template that looks a Secret or a ConfigMap up, or a
// helper that it may call to do so, reads keys of it by their names.
func (e *Env) readsKey(template string) bool {
	data, err := e.Tree.Files.ReadFile(template)
	if err != nil {
		return true
	}
	if secretCall.Match(data) {
		return dataKey.Match(data)
	}
	// A helper looks it up, and whoever calls the helper may read the keys.
	return true
}

// EntriesAxis is the axis of a sweep that puts examples into lists and mappings
// that are empty, on charts that look up more then.
const EntriesAxis = "entries"

// filled are the values that a sweep starts from: with entries, all that the
// chart takes as an example.
func (e *Env) filled(c *tree.Chart, p matrix.Point) map[string]any {
	if p.Get(EntriesAxis) == Some {
		if most, err := e.Context(c, MostContext, ExampleName); err == nil {
			return most
		}
	}
	return e.Fill(c)
}

// lookupAxes are the axes of the lookups of a chart.
func (e *Env) lookupAxes(c *tree.Chart) []matrix.Axis {
	var out []matrix.Axis
	entries := false
	for _, l := range e.Lookups(c) {
		out = append(out, l.Axis())
		entries = entries || l.entries
	}
	if entries {
		out = append(out, matrix.Axis{Name: EntriesAxis, Values: []string{Empty, Some}})
	}
	return out
}

// contradicts tells whether a point of a sweep has objects of custom kinds on a
// cluster that serves none of them.
func (e *Env) contradicts(c *tree.Chart, p matrix.Point) bool {
	if p.Get(APIsAxis) != noAPIs {
		return false
	}
	return slices.ContainsFunc(e.Lookups(c), func(l Lookup) bool {
		return l.custom() && p.Get(l.Axis().Name) == Present && l.Found != nil
	})
}

// looked changes an input to what the lookups of a point of its sweep find. A
// release that finds what it made itself is an upgrade.
func (e *Env) looked(c *tree.Chart, in render.Input, p matrix.Point) render.Input {
	if !slices.ContainsFunc(p, func(s matrix.Setting) bool { return strings.HasPrefix(s.Axis, lookupAxis) }) {
		return in
	}
	for _, l := range e.Lookups(c) {
		switch value := p.Get(l.Axis().Name); {
		case value == Present && l.Found != nil:
			in.State = in.State.With(l.Found...)
			in.Upgrade = in.Upgrade || l.Own
		case value == Absent && l.Found == nil:
			in.State = in.State.Without(l.Key)
		}
	}
	return in
}
