package rel

import (
	"context"
	"fmt"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// REL04: one owner for each Helm storage record.
var REL04 = &requirement.Requirement{
	ID:        "REL-04",
	Statement: "No two HelmReleases own the same Helm storage record (storage namespace, effective release name), through every level of nesting",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "review of the ComputePlane module: the module and the cluster that it wraps shared one release name in one namespace",
	Axes:      "every chart that renders HelmReleases, pairwise over its gates and situations; the packages of every preset",
	How:       "follows every HelmRelease to the chart that it installs, to any depth, and compares target cluster, storage namespace and effective release name; for a preset, those of all components that its packages install",
	Fix:       "give one of the two another name",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		p := e.Subjects(func(c *tree.Chart) bool { return c.Application && e.Mentions(c, "HelmRelease") }, e.Sweep, "no chart renders a HelmRelease")
		if presets := e.PresetNames(); len(presets) > 0 {
			p.Skip = ""
			p.Subjects = append(p.Subjects, requirement.Subject{Name: "platform", Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "preset", Values: presets}}}})
		}
		return p, nil
	},
	Judge: judgeREL04,
}

type record struct{ cluster, namespace, name string }

func (r record) String() string {
	if r.cluster != "" {
		return fmt.Sprintf("%s in %s of cluster %s", r.name, r.namespace, r.cluster)
	}
	return r.name + " in " + r.namespace
}

func judgeREL04(_ context.Context, c *requirement.Check) {
	if c.Subject.Chart == nil {
		judgeInstalls(c)
		return
	}
	all, ok := c.Closure(c.SweepInput(c.Subject.Chart, c.Point))
	if !ok {
		return
	}
	owners := map[record]string{}
	// The release that is rendered owns a record as well.
	root := all[0]
	owners[record{namespace: root.Input.Namespace, name: root.Input.Release}] = root.Chain()
	found := 0
	for _, r := range all[1:] {
		found++
		hr := r.Via
		rec := record{namespace: render.StorageNamespace(hr.Unstructured, r.Parent.Input.Namespace), name: render.ReleaseName(hr.Unstructured)}
		if requirement.Field(hr.Object, "spec", "kubeConfig") != nil {
			rec.cluster = requirement.Nested(hr.Unstructured, "spec", "kubeConfig", "secretRef", "name")
		}
		first, taken := owners[rec]
		c.Assert(!taken, func() requirement.Finding {
			return requirement.Finding{
				Result: r.Parent.Result, Object: hr, Path: []string{"metadata", "name"}, Cause: hr.GetName(),
				Message: fmt.Sprintf("two releases own the Helm record %s: %s, and %s", rec, first, r.Chain()),
				Want:    "a release name of its own in each storage namespace",
			}
		})
		owners[rec] = r.Chain()
	}
	if found == 0 {
		c.Skip("no HelmRelease is rendered here")
	}
}

func judgeInstalls(c *requirement.Check) {
	pk, err := c.Packages(requirement.PlatformSituation{Preset: c.Get("preset"), Enabled: requirement.AllPackages})
	if err != nil {
		c.Block("the platform chart does not render: %v", err)
		return
	}
	owners := map[record]*tree.Artifact{}
	for _, a := range pk.Installed(c.Env) {
		i := a.Component.Install
		rec := record{namespace: i.Namespace, name: i.ReleaseName}
		if rec.name == "" {
			rec.name = a.Component.Name
		}
		if rec.namespace == "" {
			rec.namespace = c.Tree.Profile.Artifact.Namespace
		}
		first, taken := owners[rec]
		c.Assert(!taken, func() requirement.Finding {
			return requirement.Finding{
				Chart: c.Tree.Profile.PlatformChart, Place: fmt.Sprintf("%s:%d", a.Package.File, a.Component.Line), Cause: rec.String(),
				Subject: c.Tree.Profile.Sources.Kind + " " + a.Package.Name,
				Message: fmt.Sprintf("components %s and %s both install the release %s", first.Name, a.Name, rec),
				Want:    "a release name of its own in each namespace",
			}
		})
		owners[rec] = a
	}
	if len(owners) == 0 {
		c.Skip("the packages of this preset install nothing")
	}
}
