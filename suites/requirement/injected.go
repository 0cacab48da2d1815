package requirement

import (
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"proofplane/fixtures/tree"
)

// The values of an axis that says whether the platform injects its values.
const (
	InjectedAxis = "injected"
	injectedAll  = "all"
)

// InjectedValues are the ways in which the platform installs a chart: with the
// values that it injects, without them (None), or one as well as the other. The
// API and the operator inject; a package source can say that it wants none.
func (e *Env) InjectedValues(c *tree.Chart) []string {
	with, without := c.Application, len(e.Uninjected(c)) > 0
	for _, a := range e.Tree.Artifacts() {
		with = with || a.Chart == c && a.Component.Install != nil && !e.skipsInjected(a)
	}
	switch {
	case with && without:
		return []string{injectedAll, None}
	case without:
		return []string{None}
	}
	return []string{injectedAll}
}

// Uninjected are the artifacts by which packages install a chart without the
// values that the platform injects.
func (e *Env) Uninjected(c *tree.Chart) []*tree.Artifact {
	var out []*tree.Artifact
	for _, a := range e.Tree.Artifacts() {
		if a.Chart == c && a.Component.Install != nil && e.skipsInjected(a) {
			out = append(out, a)
		}
	}
	return out
}

func (e *Env) skipsInjected(a *tree.Artifact) bool {
	skip := e.Tree.Profile.Injected.Skip
	return skip != "" && a.Package.Annotations[skip] == "true"
}

// Emitted tells whether a preset of the platform installs a package, with every
// optional one switched on.
func (e *Env) Emitted(name string) bool {
	for _, preset := range e.PresetNames() {
		for _, enabled := range []string{"", AllPackages} {
			if p, err := e.Packages(PlatformSituation{Preset: preset, Enabled: enabled}); err == nil && p.Get(name) != nil {
				return true
			}
		}
	}
	return false
}

// TakesInjected tells whether a HelmRelease takes the values that the platform
// injects from the Secret that holds them.
func (e *Env) TakesInjected(hr *unstructured.Unstructured) bool {
	inj := e.Tree.Profile.Injected
	for _, v := range List(hr.Object, "spec", "valuesFrom") {
		ref, _ := v.(map[string]any)
		key, _ := ref["valuesKey"].(string)
		if key == "" {
			key = "values.yaml" // what Flux reads then
		}
		if ref["kind"] == "Secret" && ref["name"] == inj.Secret && key == inj.Key && (ref["targetPath"] == nil || ref["targetPath"] == "") {
			return true
		}
	}
	return false
}

// InjectsBySecret tells whether releases take injected values from a Secret in
// this tree at all; in older ones charts look them up.
func (e *Env) InjectsBySecret() bool { return e.injects() }

func (e *Env) findInjects() bool {
	for _, c := range e.Tree.Charts {
		if e.Mentions(c, e.Tree.Profile.Injected.Secret) {
			return true
		}
	}
	return false
}

// ReadsInjected tells whether a template of a chart names the values that the
// platform injects.
func (e *Env) ReadsInjected(c *tree.Chart) bool {
	inj := e.Tree.Profile.Injected
	for _, name := range []string{inj.Cluster, inj.Namespace} {
		if e.Mentions(c, "."+name) || e.Mentions(c, strconv.Quote(name)) {
			return true
		}
	}
	return false
}
