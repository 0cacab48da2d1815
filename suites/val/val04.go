package val

import (
	"context"
	"fmt"
	"path"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// StampedVersion is a chart version as a build stamps it; the sources have
// none that holds a plus.
const StampedVersion = "0.0.0+sha256.0123456789ab"

// VAL04: what is rendered is valid.
var VAL04 = &requirement.Requirement{
	ID:        "VAL-04",
	Statement: "What is rendered is valid: strict YAML, no null leaves, legal names and labels also with a stamped version",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "field bugs: a key given twice that only some clusters saw, a version with a plus in a label that no test had",
	Axes:      "every chart, pairwise over its gates, situations, what it looks up absent or present, and {version of the sources, version as a build stamps it}",
	How:       "renders the chart and those that it installs; documents must be YAML without duplicate keys, objects without null leaves, and names, namespaces and labels legal",
	Fix:       "quote, truncate or sanitise the value where it is written; give a default for what may be absent",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(*tree.Chart) bool { return true }, func(c *tree.Chart) matrix.Matrix {
			m := e.Sweep(c)
			m.Axes = append(m.Axes, matrix.Axis{Name: "stamp", Values: []string{"source", "stamped"}})
			return m
		}, "the tree has no chart that can be rendered"), nil
	},
	Judge: judgeVAL04,
}

func judgeVAL04(_ context.Context, c *requirement.Check) {
	in := c.SweepInput(c.Subject.Chart, c.Point)
	if c.Get("stamp") == "stamped" {
		in.Version = StampedVersion
	}
	all, ok := c.Closure(in)
	if !ok {
		return
	}
	for _, rel := range all {
		if rel.Result != nil {
			judgeValid(c, rel.Result)
		}
	}
	if c.Assertions == 0 {
		c.Skip("the chart renders nothing here")
	}
}

func judgeValid(c *requirement.Check, r *render.Result) {
	for _, f := range r.YAML {
		c.Fail(requirement.Finding{Result: r, Place: f.Place(), Cause: "yaml " + path.Base(f.File) + f.Message, Message: "not strict YAML: " + f.Message, Want: "one value for each key, in well-formed YAML"})
	}
	for _, o := range r.Objects {
		var nulls [][]string
		requirement.Walk(o.Object, func(p []string, v any) {
			if v == nil && len(p) > 0 && !nullable(o, p) {
				nulls = append(nulls, p)
			}
		})
		c.Assert(len(nulls) == 0, func() requirement.Finding {
			return requirement.Finding{
				Result: r, Object: o, Path: nulls[0], Cause: "null",
				Message: fmt.Sprintf("%s is null in %s", strings.Join(nulls[0], "."), o.Key()),
				Want:    "a value, or no key",
			}
		})
		problems := requirement.Illegal(o.Unstructured)
		c.Assert(len(problems) == 0, func() requirement.Finding {
			p := problems[0]
			return requirement.Finding{Result: r, Object: o, Path: p.Path, Cause: "illegal " + o.GetKind() + " " + strings.Join(p.Path, "."), Message: o.Key().String() + ": " + p.Message, Want: "a legal name or label"}
		})
	}
}

// nullable tells whether a null at a path is harmless: of a field that the
// server fills itself, or within data that only the chart's own program reads.
func nullable(o *render.Object, p []string) bool {
	if o.GetKind() == "CustomResourceDefinition" {
		return true // defaults and examples may be null; status is the server's
	}
	return p[len(p)-1] == "creationTimestamp" || p[0] == "status"
}
