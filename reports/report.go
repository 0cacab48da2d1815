package reports

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// Report is what a run found. Its JSON form is report.json; every field is
// documented here, Format says which version of it.
type Report struct {
	Format int `json:"format"`
	// Verdict of the whole run: pass, fail (a must requirement does not hold) or
	// error (something could not be judged and nothing that was failed).
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
	Counts       map[Verdict]int  `json:"counts"` // cases by verdict
	Requirements []*RequirementOf `json:"requirements"`
	Timing       Timing           `json:"timing"`

	command string
}

// Timing holds all that differs between two runs on equal inputs.
type Timing struct {
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
	// Requirements is the time spent in cases, by requirement, in nanoseconds.
	Requirements map[string]int64 `json:"requirements"`
}

// RequirementOf is a requirement with what was found about it.
type RequirementOf struct {
	Requirement
	Verdict Verdict         `json:"verdict"`
	Reason  string          `json:"reason,omitempty"`
	Counts  map[Verdict]int `json:"counts"`
	// Findings, one for each cause; the cases that show it are folded.
	Findings []*Cause `json:"findings,omitempty"`
	// Unjudged are the reasons of cases that ended in error, blocked or
	// skipped, each with the number of its cases.
	Unjudged []Reason `json:"unjudged,omitempty"`
	Cases    []Case   `json:"cases"`
}

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
	// When describes the cases by the axis values they share.
	When  string   `json:"when"`
	Cases []string `json:"cases"` // names, the smallest situation first
	// Command shows the first of them again.
	Command string `json:"command"`
}

// Build makes the report of a stream.
func Build(events []Event) (*Report, error) {
	r := &Report{Format: Format, Counts: map[Verdict]int{}, Timing: Timing{Requirements: map[string]int64{}}}
	byID := map[string]*RequirementOf{}
	var run *Run
	var end *End
	for _, e := range events {
		switch {
		case e.Run != nil:
			run = e.Run
		case e.Requirement != nil:
			q := &RequirementOf{Requirement: *e.Requirement, Counts: map[Verdict]int{}}
			byID[q.ID] = q
			r.Requirements = append(r.Requirements, q)
		case e.Case != nil:
			q := byID[e.Case.Requirement]
			if q == nil {
				return nil, fmt.Errorf("case %s belongs to no requirement of the stream", e.Case.Name)
			}
			c := *e.Case
			r.Timing.Requirements[q.ID] += c.Nanoseconds
			c.Nanoseconds = 0
			q.Cases = append(q.Cases, c)
		case e.End != nil:
			end = e.End
		}
	}
	if run == nil {
		return nil, fmt.Errorf("the stream does not begin with a run")
	}
	if run.Format != Format {
		return nil, fmt.Errorf("the stream has format %d, this program reads format %d", run.Format, Format)
	}
	r.Tool, r.Subject, r.Platform, r.Seed = run.Tool, run.Subject, run.Platform, run.Seed
	r.Tiers, r.Filters, r.Components, r.command = run.Tiers, run.Filters, run.Components, run.Command
	r.Timing.Started = run.Started
	judged, planned := 0, 0
	for _, q := range r.Requirements {
		q.sum(r.command)
		for v, n := range q.Counts {
			r.Counts[v] += n
		}
		judged += len(q.Cases)
		planned += max(q.Planned, len(q.Cases))
	}
	sort.SliceStable(r.Requirements, func(i, j int) bool { return r.Requirements[i].ID < r.Requirements[j].ID })
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
	sort.SliceStable(q.Cases, func(i, j int) bool { return q.Cases[i].Index < q.Cases[j].Index })
	type group struct {
		cause  *Cause
		points [][]Setting
	}
	groups := map[string]*group{}
	var keys []string
	reasons := map[string]*Reason{}
	var all [][]Setting
	var verdicts []Verdict
	for _, c := range q.Cases {
		all = append(all, c.Settings)
		q.Counts[c.Verdict]++
		verdicts = append(verdicts, c.Verdict)
		if c.Reason != "" {
			k := string(c.Verdict) + c.Reason
			if reasons[k] == nil {
				reasons[k] = &Reason{Verdict: c.Verdict, Reason: c.Reason, Example: c.Name}
			}
			reasons[k].Cases++
		}
		for _, f := range c.Findings {
			g := groups[f.Fingerprint]
			if g == nil {
				g = &group{cause: &Cause{Finding: f}}
				groups[f.Fingerprint] = g
				keys = append(keys, f.Fingerprint)
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
		g.cause.Command = command + " --case " + quote(g.cause.Cases[0])
		q.Findings = append(q.Findings, g.cause)
	}
	sort.SliceStable(q.Findings, func(i, j int) bool {
		a, b := q.Findings[i], q.Findings[j]
		if a.Chart != b.Chart {
			return a.Chart < b.Chart
		}
		return a.Place < b.Place
	})
	for _, x := range reasons {
		q.Unjudged = append(q.Unjudged, *x)
	}
	sort.Slice(q.Unjudged, func(i, j int) bool { return q.Unjudged[i].Reason < q.Unjudged[j].Reason })
	if len(q.Unjudged) == 1 && q.Verdict == q.Unjudged[0].Verdict {
		q.Reason = q.Unjudged[0].Reason
	}
}

func (r *Report) judge() {
	r.Verdict = Pass
	failed, undecided, passed := false, r.Incomplete != "" || len(r.Subject.Problems) > 0, false
	for _, q := range r.Requirements {
		for _, v := range []Verdict{Fail, Fixed, Expired} {
			if q.Severity == "must" && q.Counts[v] > 0 {
				failed = true
			}
		}
		if q.Counts[Error] > 0 || q.Counts[Blocked] > 0 {
			undecided = true
		}
		if q.Counts[Pass] > 0 || q.Counts[Fail] > 0 {
			passed = true
		}
	}
	switch {
	case failed:
		r.Verdict = Fail
	case undecided || !passed:
		r.Verdict = Error
	}
}

// ExitCode is 0 for a conformant subject, 1 for one that is not, 3 where it
// could not be judged.
func (r *Report) ExitCode() int {
	switch r.Verdict {
	case Pass:
		return 0
	case Fail:
		return 1
	}
	return 3
}

// quote makes a word safe for a POSIX shell.
func quote(s string) string {
	if !strings.ContainsAny(s, " \t\n'\"\\$`&|;<>()*?[]{}!#~") && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Fold describes a subset of points by the axis values they share: for each
// axis the values that occur, left out where all occur that the axis has for
// the charts of the subset.
func Fold(subset, all [][]Setting) string {
	if len(subset) == len(all) {
		return "always"
	}
	const rest = ", whatever the rest"
	charts := map[string]bool{}
	for _, p := range subset {
		charts[at(p, "chart")] = true
	}
	var own [][]Setting
	for _, p := range all {
		if charts[at(p, "chart")] {
			own = append(own, p)
		}
	}
	some, axes := valuesOf(subset)
	every, _ := valuesOf(own)
	var parts []string
	free := false
	for _, axis := range axes {
		if axis != "chart" {
			if len(some[axis]) == len(every[axis]) {
				free = free || len(every[axis]) > 1
				continue
			}
			if len(subset) == len(own) {
				continue
			}
		}
		vs := make([]string, 0, len(some[axis]))
		for v := range some[axis] {
			vs = append(vs, v)
		}
		sort.Strings(vs)
		if len(vs) > 4 {
			vs = append(vs[:3], fmt.Sprintf("%d more", len(vs)-3))
		}
		parts = append(parts, axis+"="+strings.Join(vs, "|"))
	}
	text := strings.Join(parts, ", ")
	switch {
	case len(parts) == 0:
		return fmt.Sprintf("%d of %d combinations", len(subset), len(all))
	case len(subset) != len(own) && len(parts) == 1 && !charts[""]:
		return fmt.Sprintf("%s, %d of %d combinations", text, len(subset), len(own))
	case free:
		return text + rest
	}
	return text
}

// at returns the value of a point at an axis.
func at(p []Setting, axis string) string {
	for _, s := range p {
		if s.Axis == axis {
			return s.Value
		}
	}
	return ""
}

func valuesOf(points [][]Setting) (map[string]map[string]bool, []string) {
	m := map[string]map[string]bool{}
	var axes []string
	for _, p := range points {
		for _, s := range p {
			if m[s.Axis] == nil {
				m[s.Axis] = map[string]bool{}
				axes = append(axes, s.Axis)
			}
			m[s.Axis][s.Value] = true
		}
	}
	return m, axes
}
