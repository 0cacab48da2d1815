// Package requirement holds what families are made of: a Requirement as a plain
// value, the environment that its cases get, and the check through which a case
// asserts. Families import it and nothing of each other.
package requirement

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/reports"
	"proofplane/suites/matrix"
)

// Severity says what a finding means: Must breaks conformance, Should is
// reported. A requirement has the one that its findings have unless its How text
// states a rule.
type Severity string

// The severities.
const (
	Must   Severity = "must"
	Should Severity = "should"
)

// Tier is where a requirement can be judged.
type Tier string

// The tiers: no cluster, a real control plane, a kind cluster.
const (
	Render Tier = "render"
	Plane  Tier = "plane"
	Kind   Tier = "kind"
)

// Requirement is one normative sentence and how it is judged.
type Requirement struct {
	ID        string // as SVC-02
	Statement string
	Severity  Severity
	Tiers     []Tier
	Origin    string
	// Axes describes the matrix, How the judgement, Fix what to do about a
	// failure: texts for people.
	Axes, How, Fix string
	// Plan finds the subjects in a tree. Nothing to judge is a reason, not an
	// empty plan.
	Plan func(*Env) (Plan, error)
	// Judge judges one case. It asserts through the check; a case that asserts
	// nothing is an error.
	Judge func(context.Context, *Check)
}

// Family is the part of the ID before the dash, in lower case.
func (r *Requirement) Family() string {
	f, _, _ := strings.Cut(r.ID, "-")
	return strings.ToLower(f)
}

// Plan is what a requirement judges in one tree.
type Plan struct {
	Subjects []Subject
	// Skip says why there is nothing to judge; Subjects is empty then.
	Skip string
}

// Subject is one chart, or the platform as a whole, with the matrix of its
// situations.
type Subject struct {
	// Chart is nil where the platform as a whole is judged.
	Chart *tree.Chart
	Name  string // of the platform-wide subject, as "presets"
	// Matrix may be without axes: one case then.
	Matrix matrix.Matrix
}

// Label is the value of the chart axis: the last two elements of the chart's
// folder, as apps/redis, or the subject's name.
func (s Subject) Label() string {
	if s.Chart == nil {
		return s.Name
	}
	return path.Join(path.Base(path.Dir(s.Chart.Dir)), path.Base(s.Chart.Dir))
}

// Case is one requirement at one point.
type Case struct {
	Requirement *Requirement
	Subject     Subject
	Point       matrix.Point
	Index       int // within the requirement's plan
	Tier        Tier
}

// Settings are the point with the chart in front.
func (c *Case) Settings() []reports.Setting {
	out := []reports.Setting{{Axis: "chart", Value: c.Subject.Label()}}
	for _, s := range c.Point {
		out = append(out, reports.Setting{Axis: s.Axis, Value: s.Value})
	}
	return out
}

// Name is stable and readable: SVC-02/chart=apps/kubernetes,etcd=none.
func (c *Case) Name() string {
	var parts []string
	for _, s := range c.Settings() {
		parts = append(parts, s.Axis+"="+s.Value)
	}
	return c.Requirement.ID + "/" + strings.Join(parts, ",")
}

// IDDigits is how many digits follow the # in an ID.
const IDDigits = 8

// ID is a short name of the case, SVC-02#3f9a1c7e, made of the requirement and
// the point: it is the same in every run and revision that has the point,
// whatever order the axes have.
func (c *Case) ID() string {
	var parts []string
	for _, s := range c.Settings() {
		parts = append(parts, s.Axis+"\x00"+s.Value)
	}
	slices.Sort(parts)
	sum := sha256.Sum256([]byte(c.Requirement.ID + "\x00" + strings.Join(parts, "\x00")))
	return c.Requirement.ID + "#" + hex.EncodeToString(sum[:])[:IDDigits]
}

// Check is what a Judge gets: its case, the environment, and where to say what
// it found.
type Check struct {
	*Env
	*Case

	Assertions int
	Findings   []reports.Finding
	Err        error  // could not judge
	Skipped    string // nothing to judge here
	Blocked    string // a thing it needs failed
}

// Get returns the value of the case at an axis.
func (c *Check) Get(axis string) string { return c.Point.Get(axis) }

// Assert counts an assertion and, where it does not hold, takes the finding.
// It returns ok. f is only called for what does not hold.
func (c *Check) Assert(ok bool, f func() Finding) bool {
	c.Assertions++
	if !ok {
		c.report(f())
	}
	return ok
}

// Fail counts an assertion that does not hold.
func (c *Check) Fail(f Finding) { c.Assert(false, func() Finding { return f }) }

// Skip ends the case without a verdict; it is a reason, not a pass.
func (c *Check) Skip(format string, args ...any) { c.Skipped = fmt.Sprintf(format, args...) }

// Block says that something the case needs failed, so that it judges nothing.
func (c *Check) Block(format string, args ...any) { c.Blocked = fmt.Sprintf(format, args...) }

// Finding is what a check reports.
type Finding struct {
	Result *render.Result // the render that shows it; gives chart and place
	Object *render.Object
	Path   []string // of the field in Object
	// Chart and Place override what Result and Object give.
	Chart, Place string
	// Subject replaces the object's name in the report.
	Subject string
	Message string
	Want    string
	// Severity of this finding; the requirement's where it is empty.
	Severity Severity
	// Weight orders findings that as many cases show, the greater first.
	Weight int
	// Cause tells findings apart that are about the same object; findings of
	// one requirement, chart, template and cause are one, in whatever situation
	// they show.
	Cause string
	// Root, where it is set, stands for chart, template and cause: all findings
	// of the requirement with the same root are one, with a list of the objects
	// and charts that show it.
	Root string
	// AtCaller takes a field that a shared helper emits to the line that calls
	// the helper: what is wrong is what it was given.
	AtCaller bool
}

func (c *Check) report(f Finding) {
	r := reports.Finding{Chart: f.Chart, Place: f.Place, Object: f.Subject, Message: f.Message, Want: f.Want, Severity: string(f.Severity), Weight: f.Weight}
	if r.Severity == "" {
		r.Severity = string(c.Requirement.Severity)
	}
	template := ""
	if f.Object != nil {
		template = f.Object.Template
		if r.Object == "" {
			r.Object = f.Object.Key().String()
		}
		if r.Place == "" && f.Result != nil {
			r.Place = c.Engine.Locate(f.Result, f.Object, f.Path...)
			if f.AtCaller {
				r.Place, r.Through = c.Engine.LocateCall(f.Result, f.Object, f.Path...)
			}
		}
	}
	if r.Chart == "" {
		switch {
		case f.Result != nil:
			r.Chart = f.Result.Input.Chart
		case c.Case.Subject.Chart != nil:
			r.Chart = c.Case.Subject.Chart.Dir
		}
	}
	id := []string{c.Requirement.ID, r.Chart, template, f.Cause}
	if f.Root != "" {
		id = []string{c.Requirement.ID, f.Root}
	}
	sum := sha256.Sum256([]byte(strings.Join(id, "\x00")))
	r.Fingerprint = hex.EncodeToString(sum[:8])
	for i := range c.Findings {
		if have := &c.Findings[i]; have.Fingerprint == r.Fingerprint {
			if f.Root != "" {
				have.Add(r.Instance())
			}
			if r.Severity == string(Must) {
				have.Severity = r.Severity
			}
			return
		}
	}
	c.Findings = append(c.Findings, r)
}

// Verdict is how the case ended. No assertion, and nothing that says why, is
// an error.
func (c *Check) Verdict() (reports.Verdict, string) {
	switch {
	case c.Err != nil:
		return reports.Error, c.Err.Error()
	case len(c.Findings) > 0:
		return reports.Fail, ""
	case c.Blocked != "":
		return reports.Blocked, c.Blocked
	case c.Skipped != "":
		return reports.Skipped, c.Skipped
	case c.Assertions == 0:
		return reports.Error, "the case asserted nothing"
	}
	return reports.Pass, ""
}
