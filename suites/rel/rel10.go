package rel

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// MaxReleaseName is the longest release name that Helm stores, in characters
// (helm.sh/helm/v3/pkg/chartutil, maxReleaseNameLen).
const MaxReleaseName = 53

// REL10: names that are accepted stay legal in all that is derived from them.
var REL10 = &requirement.Requirement{
	ID:        "REL-10",
	Statement: "The API accepts a name if and only if the chart renders it and all derived names and namespaces are legal",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "field bugs: names that the API took and the chart, or a name derived by it, could not bear",
	Axes:      "every chart that users create instances of, length of the name up to what Helm can store",
	How:       "renders the chart under names of growing length; each render either refuses the name with a message or gives objects whose names, namespaces and label values are legal",
	Fix:       "truncate derived names (trunc 63 | trimSuffix \"-\"), or refuse names that are too long where they come in",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool { return c.Application && !c.Module && e.Tree.ChartDefinition(c) != nil }, func(c *tree.Chart) matrix.Matrix {
			longest := MaxReleaseName - len(e.Tree.ChartDefinition(c).Prefix)
			var lengths []string
			for _, n := range []int{1, 16, 24, 32, 40, longest} {
				if n <= longest && (n == longest || n < longest-2) {
					lengths = append(lengths, strconv.Itoa(n))
				}
			}
			return matrix.Matrix{Axes: []matrix.Axis{{Name: "length", Values: lengths}}}
		}, "the tree publishes no application kind with a chart"), nil
	},
	Judge: judgeREL10,
}

func judgeREL10(_ context.Context, c *requirement.Check) {
	n, err := strconv.Atoi(c.Get("length"))
	if err != nil {
		c.Err = err
		return
	}
	in := c.SweepInput(c.Subject.Chart, nil)
	in.Release = c.Tree.ChartDefinition(c.Subject.Chart).Prefix + strings.Repeat("n", n)
	r := c.Engine.Render(in)
	if r.Failure != nil {
		if short := in; n > 1 {
			short.Release = c.ReleaseName(c.Subject.Chart)
			if c.Engine.Render(short).Failure == nil {
				// The chart refuses this name and no other: that is an answer.
				c.Assert(r.Failure.Message != "", func() requirement.Finding { return requirement.Finding{Message: "refused without a message"} })
				return
			}
		}
		c.Result(in)
		return
	}
	for _, o := range r.Objects {
		problems := requirement.Illegal(o.Unstructured)
		c.Assert(len(problems) == 0, func() requirement.Finding {
			p := problems[0]
			return requirement.Finding{
				Result: r, Object: o, Path: p.Path, Cause: o.GetKind() + " " + strings.Join(p.Path, "."),
				Message: fmt.Sprintf("an instance with a name of %d characters renders %s: %s", n, o.GetKind(), p.Message),
				Want:    "a legal name, or a refusal that names the limit",
			}
		})
	}
}
