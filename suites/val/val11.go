package val

import (
	"context"
	"fmt"
	"strings"

	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// VAL11: strings stay the strings that they are.
var VAL11 = &requirement.Requirement{
	ID:        "VAL-11",
	Statement: "A string that schema and API accept arrives as the same string: nothing unquoted turns into a boolean, number, null, date or YAML syntax on its way through templates, nested values and scripts",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "TODO",
	Axes:      "TODO",
	How:       "TODO",
	Fix:       "TODO",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool { return c.Application && len(chartTexts(e, c)) > 0 }, func(c *tree.Chart) matrix.Matrix {
			var groups []string
			seen := map[string]bool{}
			for _, l := range chartTexts(e, c) {
				if g := l.group(); !seen[g] {
					seen[g] = true
					groups = append(groups, g)
				}
			}
			return matrix.Matrix{Axes: []matrix.Axis{{Name: "string", Values: groups}}}
		}, "no application chart is given a string"), nil
	},
	Judge: judgeVAL11,
}

func judgeVAL11(_ context.Context, c *requirement.Check) {
	t := textsOf(c.Env, c.Subject.Chart)
	for i, l := range t.leaves {
		if l.group() != c.Get("string") {
			continue
		}
		c.Assertions += t.judged[i]
		for _, x := range t.lost {
			if x.leaf == i {
				c.Fail(requirement.Finding{Result: x.result, Object: x.object, Path: x.path, Place: x.place, Cause: l.name() + strings.Join(x.path, ".") + x.text.text,
					Message: fmt.Sprintf("%s: %q %s at %s", l.title(), x.text.text, x.what, strings.Join(x.path, "."))})
			}
		}
	}
	if c.Assertions == 0 {
		c.Skip("nothing that is rendered holds it as it is")
	}
}
