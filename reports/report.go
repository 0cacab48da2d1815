package reports

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report is what a run found. Its JSON form is report.json, in the version that
// Format says. Tool to Components are those of Run.
type Report struct {
	Format int `json:"format"`
	// Verdict of the whole run: fail (a must requirement does not hold), error
	// (no must requirement failed, but something could not be judged, or nothing
	// was) or pass.
	Verdict Verdict `json:"verdict"`
	// Incomplete says why not every planned case was judged, empty otherwise.
	Incomplete   string           `json:"incomplete,omitempty"`
	Tool         string           `json:"tool"`
	Subject      Subject          `json:"subject"`
	Platform     string           `json:"platform"`
	Seed         int64            `json:"seed"`
	Tiers        []string         `json:"tiers"`
	Filters      []string         `json:"filters,omitempty"`
	Components   []Component      `json:"components"`
	Counts       map[Verdict]int  `json:"counts"`       // cases by verdict
	Requirements []*RequirementOf `json:"requirements"` // by ID
	Timing       Timing           `json:"timing"`
}

// Timing holds all that differs between two runs on equal inputs.
type Timing struct {
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"` // zero for a run that was killed
	// Requirements is the time spent in cases, by requirement, in nanoseconds.
	Requirements map[string]int64 `json:"requirements"`
}

// RequirementOf is a requirement with what was found about it.
type RequirementOf struct {
	Requirement
	Verdict Verdict         `json:"verdict"`          // the worst of its cases
	Reason  string          `json:"reason,omitempty"` // of Verdict, where there is only one
	Counts  map[Verdict]int `json:"counts"`           // cases by verdict
	// Findings, one for each cause; the cases that show it are folded.
	Findings []*Cause `json:"findings,omitempty"`
	// Unjudged are the reasons of cases that ended in error, blocked or
	// skipped, each with the number of its cases.
	Unjudged []Reason `json:"unjudged,omitempty"`
	Cases    []Case   `json:"cases"` // in the order of the plan
}

// failed says whether a case shows that the requirement does not hold.
func (q *RequirementOf) failed() bool {
	return q.Counts[Fail]+q.Counts[Fixed]+q.Counts[Expired] > 0
}

// breaks says whether a case shows that the requirement does not hold, in what
// must hold.
func (q *RequirementOf) breaks() bool {
	return slices.ContainsFunc(q.Cases, func(c Case) bool { return c.breaks(q.Severity) })
}

// breaks says whether a case fails in what must hold. severity is that of its
// requirement, which a finding has that states none.
func (c Case) breaks(severity string) bool {
	switch c.Verdict {
	case Fail, Fixed, Expired:
	default:
		return false
	}
	return len(c.Findings) == 0 && severity == must ||
		slices.ContainsFunc(c.Findings, func(f Finding) bool { return cmp.Or(f.Severity, severity) == must })
}

// must is the severity of what breaks conformance.
const must = "must"

// Reason is why cases were not judged.
type Reason struct {
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
	Cases   int     `json:"cases"`
	Example string  `json:"example"` // name of the first case
}

// Cause is a finding and the cases that show it.
type Cause struct {
	Finding
	// When describes the cases by the axis values they share, see Fold.
	When  string   `json:"when"`
	Cases []string `json:"cases"` // names, in the order of the plan
	// Command judges the first of them again, as a POSIX shell reads it.
	Command string `json:"command"`
}

// join adds what another case says of the same cause.
func (c *Cause) join(f Finding) {
	if f.Severity == must {
		c.Severity = must
	}
	for _, more := range append([]Instance{f.Instance()}, f.Also...) {
		c.Add(more)
	}
}

// Build makes the report of a stream: one run first, each requirement once and
// before its cases. The order of cases does not matter.
func Build(events []Event) (*Report, error) {
	if len(events) == 0 || events[0].Run == nil {
		return nil, errors.New("the stream does not begin with a run")
	}
	run := events[0].Run
	if run.Format != Format {
		return nil, fmt.Errorf("the stream has format %d, this program reads format %d", run.Format, Format)
	}
	r := &Report{
		Format: Format, Tool: run.Tool, Subject: run.Subject, Platform: run.Platform, Seed: run.Seed,
		Tiers: run.Tiers, Filters: run.Filters, Components: run.Components,
		Counts: map[Verdict]int{}, Requirements: []*RequirementOf{},
		Timing: Timing{Started: run.Started, Requirements: map[string]int64{}},
	}
	byID := map[string]*RequirementOf{}
	var end *End
	for _, e := range events[1:] {
		switch {
		case e.Run != nil:
			return nil, errors.New("the stream holds more than one run")
		case e.Requirement != nil:
			q := &RequirementOf{Requirement: *e.Requirement, Counts: map[Verdict]int{}, Cases: []Case{}}
			if byID[q.ID] != nil {
				return nil, fmt.Errorf("the stream announces requirement %s twice", q.ID)
			}
			byID[q.ID] = q
			r.Requirements = append(r.Requirements, q)
		case e.Case != nil:
			q := byID[e.Case.Requirement]
			if q == nil {
				return nil, fmt.Errorf("case %s belongs to no requirement of the stream", e.Case.Name)
			}
			c := *e.Case
			if !slices.Contains(order, c.Verdict) {
				return nil, fmt.Errorf("case %s has an unknown verdict %q", c.Name, c.Verdict)
			}
			r.Timing.Requirements[q.ID] += c.Nanoseconds
			c.Nanoseconds = 0
			q.Cases = append(q.Cases, c)
		case e.End != nil:
			end = e.End
		}
	}
	judged, planned := 0, 0
	for _, q := range r.Requirements {
		q.sum(run.Command)
		for v, n := range q.Counts {
			r.Counts[v] += n
		}
		judged += len(q.Cases)
		planned += max(q.Planned, len(q.Cases))
	}
	slices.SortFunc(r.Requirements, func(a, b *RequirementOf) int { return cmp.Compare(a.ID, b.ID) })
	switch {
	case end == nil:
		r.Incomplete = fmt.Sprintf("the run was killed: %d of %d cases were judged", judged, planned)
	case end.Interrupted:
		r.Incomplete = fmt.Sprintf("the run was interrupted: %d of %d cases were judged", judged, planned)
	case judged < planned:
		r.Incomplete = fmt.Sprintf("%d of %d cases were judged", judged, planned)
	}
	if end != nil {
		r.Timing.Finished = end.Finished
	}
	r.judge()
	return r, nil
}

// sum orders the cases of a requirement and derives its verdict and causes.
func (q *RequirementOf) sum(command string) {
	slices.SortStableFunc(q.Cases, func(a, b Case) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
	})
	type group struct {
		cause  *Cause
		points [][]Setting
	}
	groups := map[string]*group{}
	var keys []string
	reasons := map[Reason]*Reason{}
	var all [][]Setting
	var verdicts []Verdict
	for _, c := range q.Cases {
		all = append(all, c.Settings)
		q.Counts[c.Verdict]++
		verdicts = append(verdicts, c.Verdict)
		switch c.Verdict {
		case Error, Blocked, Skipped:
			k := Reason{Verdict: c.Verdict, Reason: c.Reason}
			if reasons[k] == nil {
				reasons[k] = &Reason{Verdict: c.Verdict, Reason: c.Reason, Example: c.Name}
			}
			reasons[k].Cases++
		}
		for _, f := range c.Findings {
			f.Severity = cmp.Or(f.Severity, q.Severity)
			g := groups[f.Fingerprint]
			if g == nil {
				g = &group{cause: &Cause{Finding: f}}
				g.cause.Also = slices.Clone(f.Also)
				groups[f.Fingerprint] = g
				keys = append(keys, f.Fingerprint)
			} else {
				g.cause.join(f)
			}
			if n := len(g.cause.Cases); n > 0 && g.cause.Cases[n-1] == c.Name {
				continue
			}
			g.cause.Cases = append(g.cause.Cases, c.Name)
			g.points = append(g.points, c.Settings)
		}
	}
	q.Verdict = Worst(verdicts...)
	for _, k := range keys {
		g := groups[k]
		g.cause.When = Fold(g.points, all)
		g.cause.Command = command + " --case " + Quote(g.cause.Cases[0])
		q.Findings = append(q.Findings, g.cause)
	}
	slices.SortStableFunc(q.Findings, func(a, b *Cause) int {
		return cmp.Or(cmp.Compare(a.Chart, b.Chart), cmp.Compare(a.Place, b.Place))
	})
	for _, x := range reasons {
		q.Unjudged = append(q.Unjudged, *x)
	}
	slices.SortFunc(q.Unjudged, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Verdict), slices.Index(order, b.Verdict)), cmp.Compare(a.Reason, b.Reason))
	})
	if len(q.Unjudged) == 1 && q.Verdict == q.Unjudged[0].Verdict {
		q.Reason = q.Unjudged[0].Reason
	}
}

// judge derives the verdict of the whole run.
func (r *Report) judge() {
	r.Verdict = Pass
	failed, judged := false, false
	undecided := r.Incomplete != "" || len(r.Subject.Problems) > 0 || r.Counts[Error]+r.Counts[Blocked] > 0
	for _, q := range r.Requirements {
		failed = failed || q.breaks()
		judged = judged || len(q.Cases) > q.Counts[Skipped]
	}
	switch {
	case failed:
		r.Verdict = Fail
	case undecided || !judged:
		r.Verdict = Error
	}
}

// ExitCode is 0 for a conformant subject, 1 for one that is not, 3 where
// nothing failed that must hold, but not all could be judged.
func (r *Report) ExitCode() int {
	switch r.Verdict {
	case Pass:
		return 0
	case Fail:
		return 1
	}
	return 3
}

// Quote makes a word safe for a POSIX shell.
func Quote(s string) string {
	safe := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("@%+=:,./_-", c)
	}
	if s != "" && strings.IndexFunc(s, func(c rune) bool { return !safe(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Fold describes a subset of points by the axis values they share. It lists, for
// each axis, the values that occur in the subset, unless these are all that the
// axis has: for the chart among all points, for another axis among the points of
// the subset's charts. The text ends in how many of the points that fit the list
// are in the subset, where that is not each of them.
func Fold(subset, all [][]Setting) string {
	if len(subset) == len(all) {
		return "always"
	}
	charts := valuesOf(subset, chartAxis)
	var own [][]Setting
	for _, p := range all {
		if charts[at(p, chartAxis)] {
			own = append(own, p)
		}
	}
	var parts []string
	fit, free := own, false
	for _, axis := range axesOf(all) {
		among := own
		if axis == chartAxis {
			among = all
		}
		some, every := valuesOf(subset, axis), valuesOf(among, axis)
		if len(some) == len(every) {
			free = free || len(every) > 1
			continue
		}
		fit = slices.DeleteFunc(slices.Clone(fit), func(p []Setting) bool { return !some[at(p, axis)] })
		parts = append(parts, axis+"="+list(some))
	}
	switch {
	case len(subset) < len(fit):
		parts = append(parts, fmt.Sprintf("%d of %d combinations", len(subset), len(fit)))
	case free:
		parts = append(parts, "whatever the rest")
	}
	return strings.Join(parts, ", ")
}

const chartAxis = "chart"

// list joins values in order; of many it shows the first ones.
func list(values map[string]bool) string {
	vs := slices.Sorted(maps.Keys(values))
	if vs[0] == "" {
		vs[0] = "(none)" // a chart that has no such axis
	}
	if len(vs) > 4 {
		vs = append(vs[:3], fmt.Sprintf("%d more", len(vs)-3))
	}
	return strings.Join(vs, "|")
}

// at returns the value of a point at an axis, "" where it has no such axis.
func at(p []Setting, axis string) string {
	for _, s := range p {
		if s.Axis == axis {
			return s.Value
		}
	}
	return ""
}

// valuesOf returns the values that points have at an axis.
func valuesOf(points [][]Setting, axis string) map[string]bool {
	m := map[string]bool{}
	for _, p := range points {
		m[at(p, axis)] = true
	}
	return m
}

// axesOf returns the axes of points in the order in which they occur.
func axesOf(points [][]Setting) []string {
	var axes []string
	for _, p := range points {
		for _, s := range p {
			if !slices.Contains(axes, s.Axis) {
				axes = append(axes, s.Axis)
			}
		}
	}
	return axes
}
