package rel

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	How:       "renders the chart and looks at each HelmRelease that carries the label of a published kind, or installs the chart of one; its spec may only hold fields that the aggregated API writes itself",
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

func judgeREL03(_ context.Context, c *requirement.Check) {
	r, ok := c.Result(c.SweepInput(c.Subject.Chart, c.Point))
	if !ok {
		return
	}
	served := 0
	for _, o := range r.Objects {
		d := c.Served(o.Unstructured)
		if d == nil {
			continue
		}
		served++
		spec := requirement.Map(o.Object, "spec")
		var foreign []string
		for _, field := range requirement.SortedKeys(spec) {
			if !slices.Contains(c.Tree.Profile.Release.Fields, field) {
				foreign = append(foreign, field)
			}
		}
		c.Assert(len(foreign) == 0, func() requirement.Finding {
			return requirement.Finding{
				Result: r, Object: o, Path: []string{"spec", foreign[0]}, Cause: o.GetName() + " " + strings.Join(foreign, ","),
				Message: fmt.Sprintf("HelmRelease %s of kind %s sets spec.%s, which the API cannot represent: the next write through the API drops it", o.GetName(), d.Kind, strings.Join(foreign, ", spec.")),
				Want:    "only " + strings.Join(c.Tree.Profile.Release.Fields, ", "),
			}
		})
	}
	if served == 0 {
		c.Skip("no HelmRelease of a published kind is rendered here")
	}
}
