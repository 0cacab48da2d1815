package val

import (
	"context"
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
	How: "renders the chart and those that it installs; documents must be YAML without duplicate keys, names, namespaces and labels legal, and objects without nulls. What becomes of a null is read from Kubernetes' own types and from the CustomResourceDefinitions that files of the tree hold. " +
		"A null is a must where it changes the meaning: the field is required and has no default, so that the object is refused; it is a key of a map of strings (labels, annotations, data), which is there empty or not at all, an entry of another map of Kubernetes' own types, or an element of a list; or nothing there selects everything: the resourceNames of a rule of a Role or ClusterRole (an empty list too), podSelector, from and to of a NetworkPolicy. " +
		"It is a should where the server drops it or fills in a default, as it does with an optional field of its own types and with one that a definition does not make nullable, and where no type is known. It is nothing where the definition makes the field nullable, and within spec.values of a HelmRelease, where it takes a default of the chart away: where it ends in an object of that chart, it is judged there, and shown at the line that gives it. " +
		"All nulls in what a chart vendors from upstream are one should for the vendored chart, but for those that get an object refused or open a rule of RBAC",
	Fix: "quote, truncate or sanitise the value where it is written; give a default for what may be absent, or leave the key out; put a rule with names behind a condition that there are some",
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
			judgeValid(c, rel)
		}
	}
	if c.Assertions == 0 {
		c.Skip("the chart renders nothing here")
	}
}

func judgeValid(c *requirement.Check, rel *render.Release) {
	r := rel.Result
	for _, f := range r.YAML {
		c.Fail(requirement.Finding{Result: r, Place: f.Place(), Cause: "yaml " + path.Base(f.File) + f.Message, Message: "not strict YAML: " + f.Message, Want: "one value for each key, in well-formed YAML"})
	}
	vendored := map[string]*vendoredNulls{}
	for _, o := range r.Objects {
		judgeNulls(c, rel, o, vendored)
		judgeNamesOfRules(c, r, o)
		problems := requirement.Illegal(o.Unstructured)
		c.Assert(len(problems) == 0, func() requirement.Finding {
			p := problems[0]
			f := requirement.Finding{Result: r, Object: o, Path: p.Path, Cause: "illegal " + o.GetKind() + " " + strings.Join(p.Path, "."), Message: o.Key().String() + ": " + p.Message, Want: "a legal name or label"}
			// What one helper writes into many objects, of many charts, is one
			// mistake, to be mended in the helper.
			if _, through := c.Engine.LocateCall(r, o, p.Path...); through != "" {
				file, line, _ := strings.Cut(through, ":")
				f.Place = c.Tree.Origin(file) + ":" + line
				f.Root = "illegal " + c.Tree.Origin(file) + " " + p.Path[len(p.Path)-1]
			}
			return f
		})
	}
	for _, dir := range requirement.SortedKeys(vendored) {
		vendored[dir].report(c, dir)
	}
}

// fileOf is a place without its line.
func fileOf(place string) string {
	file, _, _ := strings.Cut(place, ":")
	return file
}
