package rel

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/requirement"
)

// REL03: releases of served kinds are representable.
var REL03 = &requirement.Requirement{
	ID:        "REL-03",
	Statement: "Every HelmRelease that a chart renders for a kind served by the API sets only fields which the API can represent",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "review of the ComputePlane module: spec.releaseName is lost on the first write through the API, and the release is installed a second time under another name",
	Axes:      "every chart that renders HelmReleases, pairwise over its gates, the source of its modules, and the APIs of the cluster",
	How:       "renders the chart and looks at each HelmRelease that carries the label of a published kind, or installs the chart of one; its spec may only hold fields that the aggregated API writes itself. Flux detects no drift there, since the API writes no driftDetection: what a write drops is back at the earliest when the release that renders the object is upgraded the next time, because its chart or its values change. Should where the field only says when and in which order Flux works (dependsOn, interval, timeout, driftDetection, healthCheckExprs, waitStrategy, test, rollback, maxHistory); must where it says what is installed, where and under which name (releaseName, storageNamespace, targetNamespace and all others). HelmReleases of one chart that set the same fields are one finding",
	Fix:       "leave the field out and let Flux derive it (the release name is the name of the object), or teach the API to keep it",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		if len(e.Tree.Definitions) == 0 {
			return requirement.Plan{Skip: "the tree publishes no application kind"}, nil
		}
		return e.Subjects(func(c *tree.Chart) bool { return c.Application && e.Mentions(c, "HelmRelease") }, e.Sweep,
			"no application chart renders a HelmRelease"), nil
	},
	Judge: judgeREL03,
}

// passing are fields that say when and in which order Flux works. Without them a
// release stays the one that it is.
var passing = []string{"dependsOn", "interval", "timeout", "driftDetection", "healthCheckExprs", "waitStrategy", "test", "rollback", "maxHistory"}

func judgeREL03(_ context.Context, c *requirement.Check) {
	r, ok := c.Result(c.SweepInput(c.Subject.Chart, c.Point))
	if !ok {
		return
	}
	served := 0
	for _, o := range r.Objects {
		if d := c.Served(o.Unstructured); d != nil {
			served++
			judgeFields(c, r, o, d)
		}
	}
	if served == 0 {
		c.Skip("no HelmRelease of a published kind is rendered here")
	}
}

// judgeFields asserts that a HelmRelease sets no field that the API drops.
func judgeFields(c *requirement.Check, r *render.Result, o *render.Object, d *tree.Definition) {
	var lasting, brief []string
	for _, field := range requirement.SortedKeys(requirement.Map(o.Object, "spec")) {
		switch {
		case slices.Contains(c.Tree.Profile.Release.Fields, field):
		case slices.Contains(passing, field):
			brief = append(brief, field)
		default:
			lasting = append(lasting, field)
		}
	}
	finding := func(fields []string, then string) requirement.Finding {
		return requirement.Finding{
			Result: r, Object: o, Path: []string{"spec", fields[0]}, Root: r.Input.Chart + " " + strings.Join(fields, ","),
			Message: fmt.Sprintf("HelmRelease %s of kind %s sets spec.%s, which the first write through the API drops: %s", o.GetName(), d.Kind, strings.Join(fields, ", spec."), then),
			Want:    "only " + strings.Join(c.Tree.Profile.Release.Fields, ", "),
		}
	}
	c.Assert(len(lasting) == 0, func() requirement.Finding {
		then := "what is installed, or where, changes then"
		if slices.ContainsFunc(lasting, func(f string) bool { return slices.Contains(identity, f) }) {
			then = "Helm may take it for another release then, and install it a second time"
		}
		return finding(lasting, then)
	})
	c.Assert(len(brief) == 0, func() requirement.Finding {
		f := finding(brief, "the next upgrade of the "+path.Base(r.Input.Chart)+" release at the earliest brings it back")
		f.Severity = requirement.Should
		return f
	})
}

// identity are the fields by which Helm tells releases apart.
var identity = []string{"releaseName", "storageNamespace", "targetNamespace"}
