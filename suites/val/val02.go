package val

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// VAL02: charts render or refuse, and never break.
var VAL02 = &requirement.Requirement{
	ID:        "VAL-02",
	Statement: "Schema-valid values render, or fail with a message that names the value: no template panic, no nil walk; and every release of a published kind takes the values that the platform injects",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "field bugs: charts that broke in the middle of a template when a value, or what the platform injects, was not there",
	Axes:      "every chart, pairwise over its gates and situations; with the values that the platform injects, without them where something installs it that way, or both",
	How:       "renders the chart, and with its values those that it installs; each must give objects or end in a message of its own. A template that breaks, one that does not parse, and a chart that cannot be read fail. The API and the operator inject values into what they install; without them are judged the components of a package source that asks for none (must where a preset installs the package, should where none does), and what a HelmRelease without valuesFrom installs. A HelmRelease of a published kind without the platform's valuesFrom: must where the chart that it installs reads injected values, should where that chart reads none today",
	Fix:       "give a default for what may be absent, or refuse it with fail or required; give a HelmRelease of a published kind the valuesFrom that the API writes",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		var p requirement.Plan
		for _, c := range e.Renderable() {
			var m matrix.Matrix
			if c.Err == nil {
				m = e.Sweep(c)
				if v := e.InjectedValues(c); slices.Contains(v, requirement.None) {
					m.Axes = append(m.Axes, matrix.Axis{Name: requirement.InjectedAxis, Values: v})
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
	if c.Get(requirement.InjectedAxis) == requirement.None {
		in = c.BareInput(chart, c.Point)
	}
	all := c.Engine.Closure(in)
	f := all[0].Failure
	if f != nil && f.Kind == render.SchemaFailure {
		c.Skip("the schema refuses the values: %s", f.Message)
		return
	}
	if c.Get(requirement.InjectedAxis) == requirement.None {
		judgeBare(c, f)
	} else {
		judgeRenders(c, chart.Dir, f, "")
	}
	installed := map[*render.Object]*render.Release{}
	for _, r := range all[1:] {
		installed[r.Via] = r
		switch {
		case c.InjectsBySecret() && c.Served(r.Via.Unstructured) != nil && !c.TakesInjected(r.Via.Unstructured):
			continue // its HelmRelease is what is wrong
		// What a release takes from objects that come at run time is not there yet.
		case r.Result != nil && len(r.Missing) == 0 && (r.Failure == nil || r.Failure.Kind != render.SchemaFailure):
			judgeRenders(c, r.Input.Chart, r.Failure, " ("+r.Chain()+")")
		}
	}
	if c.InjectsBySecret() {
		for _, r := range all {
			judgeInjected(c, r, installed)
		}
	}
}

// judgeBare asserts that a chart renders without injected values, or refuses, as
// a package source installs it.
func judgeBare(c *requirement.Check, f *render.Failure) {
	if f == nil || f.Kind != render.PanicFailure {
		judgeRenders(c, c.Subject.Chart.Dir, f, "")
		return
	}
	by := c.Uninjected(c.Subject.Chart)
	finding := requirement.Finding{
		Place: f.Place(), Cause: "breaks without injected values",
		Message: fmt.Sprintf("the package %s installs the chart without the platform's values, and it breaks then: %s", by[0].Package.Name, nilWalk(f.Message)),
		Want:    fmt.Sprintf("a chart that does without, or no annotation %s in %s", c.Tree.Profile.Injected.Skip, by[0].Package.File),
	}
	if !slices.ContainsFunc(by, func(a *tree.Artifact) bool { return c.Emitted(a.Package.Name) }) {
		finding.Severity = requirement.Should
		finding.Message += "; no preset installs it"
	}
	c.Fail(finding)
}

// judgeInjected asserts that the HelmReleases of published kinds that a release
// renders take the values that the platform injects. installed is what each
// HelmRelease installs.
func judgeInjected(c *requirement.Check, r *render.Release, installed map[*render.Object]*render.Release) {
	if r.Result == nil {
		return
	}
	for _, o := range r.Objects {
		d := c.Served(o.Unstructured)
		if d == nil {
			continue
		}
		c.Assert(c.TakesInjected(o.Unstructured), func() requirement.Finding {
			inj := c.Tree.Profile.Injected
			f := requirement.Finding{
				Result: r.Result, Object: o, Path: []string{"spec"},
				Cause: "no injected values",
				Want:  fmt.Sprintf("spec.valuesFrom with the Secret %s, as the API writes it", inj.Secret),
			}
			then := "and whatever its chart comes to read of them is missing"
			if child, chart := installed[o], c.Tree.DefinitionChart(d); child != nil && child.Result != nil && child.Failure != nil && child.Failure.Kind == render.PanicFailure {
				then = "so that its chart breaks when it is installed: " + nilWalk(child.Failure.Message)
			} else if chart != nil && c.ReadsInjected(chart) {
				then = "so that its chart is installed without its domain and modules"
			} else {
				f.Severity = requirement.Should
			}
			f.Root = "no injected values " + r.Input.Chart + string(f.Severity)
			f.Message = fmt.Sprintf("HelmRelease %s of kind %s does not take the platform's values (%s), %s", o.GetName(), d.Kind, inj.Secret, then)
			return f
		})
	}
}

// nilWalk is what a template engine says went wrong, without the template.
func nilWalk(message string) string {
	if i := strings.LastIndex(message, ">: "); i >= 0 {
		return message[i+len(">: "):]
	}
	return message
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
