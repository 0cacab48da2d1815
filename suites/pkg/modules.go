package pkg

import (
	"sort"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/requirement"
)

// bothWays says how a tenant chart satisfies PKG-01 and PKG-04 at once.
const bothWays = "Both hold where a message takes the place of the module's release: with the package absent the template renders a small ConfigMap whose data names the package, the bundle and the value to set, and nothing else changes; with no package API to ask it renders the release. The reference platform does so in " + exampleFile + ", define " + exampleDefine + ", for every module"

const (
	exampleFile   = "fixtures/platform/tree/packages/apps/tenant/templates/_helpers.tpl"
	exampleDefine = "tenant.module"
)

// tenantInput returns how the tenant chart is rendered on an installation of
// the platform, with one module switched on, or none.
func tenantInput(e *requirement.Env, packages *requirement.Packages, offline bool, toggle string) render.Input {
	values := map[string]any{}
	for _, t := range e.Tree.Toggles {
		values[t] = t == toggle
	}
	tc := e.Tree.TenantChart()
	return e.Input(tc, requirement.Situation{
		Namespace: e.Tree.Profile.Tenant.Root, Offline: offline, State: e.ClusterState(packages.Objects),
	}, e.Fill(tc), values)
}

// added are the objects of on that off does not have.
func added(on, off *render.Result) []*render.Object {
	have := map[render.Key]bool{}
	for _, o := range off.Objects {
		have[o.Key()] = true
	}
	var out []*render.Object
	for _, o := range on.Objects {
		if !have[o.Key()] {
			out = append(out, o)
		}
	}
	return out
}

// modulePackages are the package sources whose artifacts the module behind a
// toggle uses: found by rendering the tenant chart with and without it, offline,
// where nothing asks what is installed.
func modulePackages(e *requirement.Env, toggle string) []*tree.PackageSource {
	all := &requirement.Packages{}
	on, off := e.Engine.Render(tenantInput(e, all, true, toggle)), e.Engine.Render(tenantInput(e, all, true, ""))
	seen := map[*tree.PackageSource]bool{}
	for _, o := range added(on, off) {
		if !render.IsHelmRelease(o.Unstructured) {
			continue
		}
		if a := e.Tree.Artifact(requirement.Nested(o.Unstructured, "spec", "chartRef", "name")); a != nil {
			seen[a.Package] = true
		}
	}
	var out []*tree.PackageSource
	for p := range seen {
		out = append(out, p)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// tenantInstalls are the installations whose packages produce the tenant chart.
func tenantInstalls(e *requirement.Env) []string {
	var out []string
	for _, s := range e.Installs() {
		p, err := e.Packages(s)
		if err != nil {
			continue
		}
		for _, a := range p.Artifacts(e) {
			if a.Chart == e.Tree.TenantChart() {
				out = append(out, s.Name())
				break
			}
		}
	}
	return out
}

// modulePlan is the plan of the requirements about toggles and packages.
func modulePlan(e *requirement.Env) (installs, toggles []string, skip string) {
	switch {
	case e.Tree.TenantChart() == nil || e.Tree.TenantChart().Err != nil:
		return nil, nil, "the tree has no tenant chart"
	case len(e.Tree.Packages) == 0:
		return nil, nil, "the tree has no package sources"
	case len(e.Tree.Toggles) == 0:
		return nil, nil, "the tenant chart has no module toggles"
	}
	installs = tenantInstalls(e)
	if len(installs) == 0 {
		return nil, nil, "no preset installs the tenant chart"
	}
	return installs, e.Tree.Toggles, ""
}
