package grd

import (
	"context"
	"fmt"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// GRD01: a module lives under its own name.
var GRD01 = &requirement.Requirement{
	ID:        "GRD-01",
	Statement: "Every tenant module refuses a release name it cannot live under",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "review of the ComputePlane module: names of Secrets, labels and references follow from the module's one release name, and nothing refused another",
	Axes:      "every module chart that a definition publishes × its own name, a foreign one, and ones that contain its own",
	How:       "a module is a chart whose definition has the module flag, or that a toggle of the tenant chart is named after; one without a definition is released by the tenant chart alone, under a name that nobody chooses, and is not judged unless the tree has no definitions at all. Renders the module under each name: its own must render, any other must end in a message",
	Fix:       "fail in a template when the release is not named as the chart",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		named := func(c *tree.Chart) bool {
			return c.Module && (len(e.Tree.Definitions) == 0 || e.Tree.ChartDefinition(c) != nil)
		}
		return e.Subjects(named, func(*tree.Chart) matrix.Matrix {
			return matrix.Matrix{Axes: []matrix.Axis{{Name: "name", Values: []string{own, "foreign", "prefix", "suffix"}}}}
		}, "the tree has no tenant module that a user can name"), nil
	},
	Judge: judgeGRD01,
}

const own = "own"

func judgeGRD01(_ context.Context, c *requirement.Check) {
	m := c.Subject.Chart
	// A module that lives in the root tenant only is judged there: elsewhere it
	// refuses every name.
	in := c.SweepInput(m, nil)
	in.Release = m.Name
	if f := c.Engine.Render(in).Failure; f != nil && f.Kind == render.FailFailure {
		in = c.Input(m, requirement.Situation{Namespace: c.Tree.Profile.Tenant.Root}, c.Fill(m))
	}
	in.Release = map[string]string{own: m.Name, "foreign": "demo", "prefix": m.Name + "-demo", "suffix": "demo-" + m.Name}[c.Get("name")]
	r := c.Engine.Render(in)
	if c.Get("name") == own {
		c.Assert(r.Failure == nil, func() requirement.Finding {
			return requirement.Finding{
				Result: r, Place: r.Failure.Place(), Cause: own,
				Message: fmt.Sprintf("module %s does not render under its own name: %s", m.Name, r.Failure.Message), Want: "a render",
			}
		})
		return
	}
	c.Assert(r.Failure != nil && r.Failure.Kind == render.FailFailure, func() requirement.Finding {
		return requirement.Finding{
			Result: r, Place: m.Dir, Cause: "unguarded",
			Message: fmt.Sprintf("module %s is accepted under the release name %q: whatever looks for the module finds it by its own name, and a second one shares its objects", m.Name, in.Release),
			Want:    fmt.Sprintf("a failure that says the release must be named %s", m.Name),
		}
	})
}
