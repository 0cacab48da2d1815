package reports

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
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
	Should       int              `json:"should"`       // cases that fail in nothing that must hold
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
	Should  int             `json:"should"`           // cases that fail in nothing that must hold
	// Breaks says whether a case fails in what must hold. Where none does, a
	// requirement whose verdict is fail has findings that are only should.
	Breaks bool `json:"breaks"`
	// Findings, one for each cause, must before should and those that most cases
	// show first; the cases that show it are folded.
	Findings []*Cause `json:"findings,omitempty"`
	// Unjudged are the reasons of cases that ended in error, blocked or
	// skipped, each with the number of its cases.
	Unjudged []Reason `json:"unjudged,omitempty"`
	Cases    []Case   `json:"cases"` // in the order of the plan
}

// Reason is why cases were not judged.
type Reason struct {
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
	Cases   int     `json:"cases"`
	Example string  `json:"example"`      // name of the first case
	ID      string  `json:"id,omitempty"` // of the first case
}

// Cause is a finding and the cases that show it.
type Cause struct {
	Finding
	// When is Situation as one line.
	When      string    `json:"when"`
	Situation Situation `json:"situation"`
	Cases     []string  `json:"cases"` // names, in the order of the plan
	IDs       []string  `json:"ids"`   // of these cases
	// Command judges the first of them again, as a POSIX shell reads it.
	Command string `json:"command"`
}

// when is the situation with the number of cases that show the cause.
func (c *Cause) when(value func(string) string) string {
	text := c.Situation.text(value)
	if c.Situation.counts() {
		return text
	}
	return text + " (" + plural(len(c.Cases), "case") + ")"
}

// join adds what another case says of the same cause. The worst is what is told.
func (c *Cause) join(f Finding) {
	if f.Severity == must && c.Severity != must {
		f.Also = slices.Clone(f.Also)
		c.Finding, f = f, c.Finding
	}
	c.Weight = max(c.Weight, f.Weight)
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
		r.Should += q.Should
		judged += len(q.Cases)
		planned += max(q.Planned, len(q.Cases))
	}
	slices.SortFunc(r.Requirements, func(a, b *RequirementOf) int { return cmp.Compare(a.ID, b.ID) })
	switch {
	case end == nil:
		r.Incomplete = "the run was killed: " + judgedText(judged, planned)
	case end.Interrupted:
		r.Incomplete = "the run was interrupted: " + judgedText(judged, planned)
	case judged < planned:
		r.Incomplete = judgedText(judged, planned)
	}
	if end != nil {
		r.Timing.Finished = end.Finished
	}
	r.judge()
	return r, nil
}

func judgedText(judged, planned int) string {
	if planned == 1 {
		return fmt.Sprintf("%d of 1 case was judged", judged)
	}
	return fmt.Sprintf("%d of %d cases were judged", judged, planned)
}

// sum orders the cases of a requirement and derives its verdict and causes.
func (q *RequirementOf) sum(command string) {
	slices.SortStableFunc(q.Cases, func(a, b Case) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
	})
	type group struct {
		cause *Cause
		shows []bool // by case that was judged
	}
	groups := map[string]*group{}
	var keys []string
	reasons := map[Reason]*Reason{}
	ids := map[string]int{}
	var points [][]Setting // of the cases that were judged or show something
	var verdicts []Verdict
	for _, c := range q.Cases {
		ids[c.ID]++
	}
	for _, c := range q.Cases {
		q.Counts[c.Verdict]++
		verdicts = append(verdicts, c.Verdict)
		if c.Breaks(q.Severity) {
			q.Breaks = true
		} else if c.Verdict.fails() {
			q.Should++
		}
		unjudged := c.Verdict == Error || c.Verdict == Blocked || c.Verdict == Skipped
		if unjudged {
			k := Reason{Verdict: c.Verdict, Reason: c.Reason}
			if reasons[k] == nil {
				reasons[k] = &Reason{Verdict: c.Verdict, Reason: c.Reason, Example: c.Name, ID: c.ID}
			}
			reasons[k].Cases++
		}
		if !unjudged || len(c.Findings) > 0 {
			points = append(points, c.Settings)
		}
		for _, f := range c.Findings {
			f.Severity = cmp.Or(f.Severity, q.Severity)
			g := groups[f.Fingerprint]
			if g == nil {
				g = &group{cause: &Cause{Finding: f}, shows: make([]bool, len(q.Cases))}
				g.cause.Also = slices.Clone(f.Also)
				// A name is as good as an id that is missing or not the only one.
				name := c.ID
				if name == "" || ids[name] > 1 {
					name = c.Name
				}
				g.cause.Command = command + " --case " + Quote(name)
				groups[f.Fingerprint] = g
				keys = append(keys, f.Fingerprint)
			} else {
				g.cause.join(f)
			}
			if at := len(points) - 1; !g.shows[at] {
				g.shows[at] = true
				g.cause.Cases = append(g.cause.Cases, c.Name)
				g.cause.IDs = append(g.cause.IDs, c.ID)
			}
		}
	}
	q.Verdict = Worst(verdicts...)
	t := tabulate(points)
	for _, k := range keys {
		g := groups[k]
		g.cause.Situation = t.fold(g.shows)
		g.cause.When = g.cause.Situation.String()
		q.Findings = append(q.Findings, g.cause)
	}
	slices.SortStableFunc(q.Findings, func(a, b *Cause) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), // must before should
			cmp.Compare(len(b.Cases), len(a.Cases)), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Chart, b.Chart), cmp.Compare(a.Place, b.Place))
	})
	for _, x := range reasons {
		q.Unjudged = append(q.Unjudged, *x)
	}
	slices.SortFunc(q.Unjudged, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Verdict), slices.Index(order, b.Verdict)),
			cmp.Compare(b.Cases, a.Cases), cmp.Compare(a.Reason, b.Reason))
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
		failed = failed || q.Breaks
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
