package val

import (
	"context"
	"path"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// VAL02: charts render or refuse, and never break.
var VAL02 = &requirement.Requirement{
	ID:        "VAL-02",
	Statement: "Schema-valid values render, or fail with a message that names the value: no template panic, no nil walk",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "field bugs: charts that broke in the middle of a template when a value, or what the platform injects, was not there",
	Axes:      "every chart, pairwise over its gates and situations, with the values that the platform injects and without",
	How:       "renders the chart, and with its values those that it installs; each must give objects or end in a message of its own. A template that breaks, one that does not parse, and a chart that cannot be read fail",
	Fix:       "give a default for what may be absent, or refuse it with fail or required",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		var p requirement.Plan
		for _, c := range e.Renderable() {
			var m matrix.Matrix
			if c.Err == nil {
				m = e.Sweep(c)
				if c.Application {
					m.Axes = append(m.Axes, matrix.Axis{Name: "injected", Values: []string{"all", requirement.None}})
				}
			}
			p.Subjects = append(p.Subjects, requirement.Subject{Chart: c, Matrix: m})
		}
		if len(p.Subjects) == 0 {
			p.Skip = "the tree has no chart that can be rendered"
		}
		return p, nil
	},
	Judge: judgeVAL02,
}

func judgeVAL02(_ context.Context, c *requirement.Check) {
	chart := c.Subject.Chart
	if chart.Err != nil {
		place, msg, ok := strings.Cut(chart.Err.Error(), ": ")
		if !ok {
			place, msg = chart.Dir, chart.Err.Error()
		}
		c.Fail(requirement.Finding{Place: place, Cause: "unreadable", Message: "the chart cannot be read: " + msg, Want: "a chart that loads"})
		return
	}
	in := c.SweepInput(chart, c.Point)
	if c.Get("injected") == requirement.None {
		in = c.BareInput(chart, c.Point)
	}
	all := c.Engine.Closure(in)
	f := all[0].Failure
	if f != nil && f.Kind == render.SchemaFailure {
		c.Skip("the schema refuses the values: %s", f.Message)
		return
	}
	judgeRenders(c, chart.Dir, f, "")
	if c.Get("injected") == requirement.None {
		return // asked of each chart by itself
	}
	for _, r := range all[1:] {
		// What a release takes from objects that come at run time is not there yet.
		if r.Result != nil && len(r.Missing) == 0 && (r.Failure == nil || r.Failure.Kind != render.SchemaFailure) {
			judgeRenders(c, r.Input.Chart, r.Failure, " ("+r.Chain()+")")
		}
	}
}

// judgeRenders asserts that a chart rendered, or refused its values in words.
func judgeRenders(c *requirement.Check, dir string, f *render.Failure, where string) {
	c.Assert(f == nil || f.Kind == render.FailFailure && strings.TrimSpace(f.Message) != "", func() requirement.Finding {
		if f.Kind == render.FailFailure {
			return requirement.Finding{Chart: dir, Place: f.Place(), Cause: "no message", Message: "the chart refuses the values without a message", Want: "a message that names the value"}
		}
		return requirement.Finding{
			Chart: dir, Place: f.Place(), Cause: "breaks " + path.Base(f.File) + " " + f.Message,
			Message: "the chart breaks instead of rendering or refusing" + where + ": " + f.Message,
			Want:    "a render, or a message that names the value",
		}
	})
}
