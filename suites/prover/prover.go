// Package prover holds the requirements to account: each must stay green on the
// reference platform, go red on the faults that name it, and on no other.
package prover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"proofplane/fixtures/faults"
	"proofplane/fixtures/platform"
	"proofplane/fixtures/tree"
	"proofplane/reports"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
)

// Outcome is what came of one requirement on the tree of one fault.
type Outcome string

// The outcomes. A requirement that is not named and not red has none: that is
// how it should be.
const (
	Caught   Outcome = "caught"   // named, and red
	Missed   Outcome = "missed"   // named, and not red
	Stray    Outcome = "stray"    // red, and not named
	Unjudged Outcome = "unjudged" // could not be judged
)

// Cell is a requirement on the tree of a fault, where there is something to say
// of it.
type Cell struct {
	Requirement string  `json:"requirement"`
	Outcome     Outcome `json:"outcome"`
	// Reason says why a requirement was missed or could not be judged.
	Reason string `json:"reason,omitempty"`
	// Findings are what it found, one for each cause; Cases are those that failed.
	Findings []reports.Finding `json:"findings,omitempty"`
	Cases    int               `json:"cases,omitempty"`
}

// Verdict on a fault, and on the whole.
type Verdict string

// The verdicts.
const (
	Proven    Verdict = "proven"
	NotProven Verdict = "not proven"
	Error     Verdict = "error" // something could not be judged, and nothing is missed or stray
)

// Row is a fault and what the requirements said of its tree.
type Row struct {
	Fault   string   `json:"fault"`
	Name    string   `json:"name"`
	Names   []string `json:"requirements"`     // those that must go red, as far as they were judged
	Should  []string `json:"should,omitempty"` // those of them that find it as should alone
	Twin    string   `json:"twin,omitempty"`   // the fault that this one only looks like
	Cells   []Cell   `json:"cells"`            // by the order of the catalogue
	Err     string   `json:"error,omitempty"`
	Verdict Verdict  `json:"verdict"`

	Nanoseconds int64 `json:"nanoseconds"`
}

// of returns the requirements with an outcome.
func (r *Row) of(o Outcome) []string {
	var out []string
	for _, c := range r.Cells {
		if c.Outcome == o {
			out = append(out, c.Requirement)
		}
	}
	return out
}

// Column is a requirement and the faults that turn it red as they should.
type Column struct {
	Requirement string   `json:"requirement"`
	Faults      []string `json:"faults"`
	// Alone are those of them that name no other requirement.
	Alone []string `json:"alone"`
}

// Grid is the proof.
type Grid struct {
	Verdict Verdict `json:"verdict"`
	Rows    []*Row  `json:"faults"` // by id
	// Requirements are by the order of the catalogue; where only some faults were
	// asked for, those that these turn red.
	Requirements []*Column `json:"requirements"`
	// Unproven are the requirements that no fault turns red; empty where only
	// some faults were asked for.
	Unproven []string `json:"unproven"`
}

// Selection narrows a proof; an empty field lets all through.
type Selection struct {
	Faults       []string
	Requirements []string
}

// UsageError is a selection that names what does not exist.
type UsageError struct{ Message string }

func (e *UsageError) Error() string { return e.Message }

// Seed of the environments: any will do, since no requirement may depend on it.
const seed = 1

// Prove judges the reference platform, which must be green, and then it with
// each fault in it. As many trees are judged at a time as there are workers.
// progress is told a line for each tree, in the order in which they are done;
// it may be nil. Prove fails where the platform is not green, where a fault
// names a requirement that is not in the catalogue, and when ctx ends.
func Prove(ctx context.Context, catalog []*requirement.Requirement, all []*faults.Fault, only Selection, workers int, progress func(line string)) (*Grid, error) {
	reqs, picked, err := only.pick(catalog, all)
	if err != nil {
		return nil, err
	}
	raw, err := platform.Raw()
	if err != nil {
		return nil, err
	}
	workers = max(workers, 1)
	p := &prover{catalog: reqs, raw: raw}
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		if progress != nil {
			progress(fmt.Sprintf(format, args...))
		}
	}
	start := time.Now()
	cases, err := p.pristine(ctx, workers)
	if err != nil {
		return nil, err
	}
	say("reference platform: green in %d cases (%s)", cases, round(time.Since(start)))

	g := &Grid{Rows: make([]*Row, len(picked))}
	next := make(chan int)
	done := 0
	var wg sync.WaitGroup
	for range min(workers, len(picked)) {
		wg.Go(func() {
			for i := range next {
				row := p.row(ctx, picked[i], max(workers/len(picked), 1))
				if ctx.Err() != nil {
					continue
				}
				g.Rows[i] = row
				mu.Lock()
				done++
				n := done
				mu.Unlock()
				say("%d/%d %s: %s", n, len(picked), row.Fault, row.summary())
			}
		})
	}
	for i := range picked {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("stopped after %d of %d faults: %w", done, len(picked), err)
	}
	g.conclude(reqs, len(only.Faults) > 0)
	return g, nil
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }

// pick applies the selection. Empty is an error, and so is a fault that names
// what is not there.
func (s Selection) pick(catalog []*requirement.Requirement, all []*faults.Fault) ([]*requirement.Requirement, []*faults.Fault, error) {
	known := map[string]bool{}
	for _, r := range catalog {
		known[r.ID] = true
	}
	ids := map[string]bool{}
	var unknown []string
	for _, f := range all {
		ids[f.ID] = true
		for _, r := range slices.Concat(f.Requirements, f.Should) {
			if !known[r] && !slices.Contains(unknown, r) {
				unknown = append(unknown, r)
			}
		}
	}
	if len(unknown) > 0 {
		return nil, nil, fmt.Errorf("faults name requirements that are not in the catalogue: %s", strings.Join(unknown, ", "))
	}
	for _, r := range s.Requirements {
		if !known[strings.ToUpper(r)] {
			return nil, nil, &UsageError{fmt.Sprintf("there is no requirement %q: `proofplane list` shows those there are", r)}
		}
	}
	for _, f := range s.Faults {
		if !ids[f] {
			return nil, nil, &UsageError{fmt.Sprintf("there is no fault %q: `proofplane prove` shows those there are", f)}
		}
	}
	reqs := slices.DeleteFunc(slices.Clone(catalog), func(r *requirement.Requirement) bool {
		return len(s.Requirements) > 0 && !slices.ContainsFunc(s.Requirements, func(id string) bool { return strings.EqualFold(id, r.ID) })
	})
	picked := slices.DeleteFunc(slices.Clone(all), func(f *faults.Fault) bool { return len(s.Faults) > 0 && !slices.Contains(s.Faults, f.ID) })
	switch {
	case len(reqs) == 0:
		return nil, nil, errors.New("there is no requirement to prove")
	case len(picked) == 0:
		return nil, nil, errors.New("there is no fault to prove with")
	}
	return reqs, picked, nil
}

type prover struct {
	catalog []*requirement.Requirement
	raw     fs.FS
	green   *requirement.Env // of the platform without a fault
}

// tally is what the cases of one requirement said.
type tally struct {
	cases, failed, passed int
	severity              requirement.Severity // the highest of the findings
	findings              []reports.Finding
	err, blocked, skipped string // first reason of each
}

// judge runs the whole catalogue on a tree.
func (p *prover) judge(ctx context.Context, fsys fs.FS, name string, workers int) (map[string]*tally, error) {
	files, src, err := tree.OpenFS(fsys, name)
	if err != nil {
		return nil, err
	}
	profile, err := tree.LoadProfile(tree.DefaultProfile)
	if err != nil {
		return nil, err
	}
	t, err := tree.Load(files, src, profile)
	if err != nil {
		return nil, err
	}
	if len(t.Problems) > 0 {
		return nil, fmt.Errorf("part of the tree cannot be read: %s", t.Problems[0])
	}
	env := requirement.NewEnv(t, seed)
	if p.green == nil {
		p.green = env // the first that is judged
	} else {
		// A fault leaves most charts alone, and rendering is most of the work.
		env.Engine.Reuse(p.green.Engine)
	}
	plan, err := runner.Plan(env, p.catalog, runner.Filter{})
	if err != nil {
		return nil, err
	}
	out := map[string]*tally{}
	for _, r := range p.catalog {
		out[r.ID] = &tally{}
	}
	var mu sync.Mutex
	err = runner.Run(ctx, env, plan, workers, func(e reports.Event) {
		if e.Case != nil {
			mu.Lock()
			defer mu.Unlock()
			out[e.Case.Requirement].add(e.Case)
		}
	})
	return out, err
}

func (t *tally) add(c *reports.Case) {
	t.cases++
	first := func(s *string, reason string) {
		if *s == "" {
			*s = c.Name + ": " + reason
		}
	}
	switch c.Verdict {
	case reports.Pass:
		t.passed++
	case reports.Skipped:
		first(&t.skipped, c.Reason)
	case reports.Blocked:
		first(&t.blocked, c.Reason)
	case reports.Fail:
		t.failed++
		for _, f := range c.Findings {
			if t.severity != requirement.Must {
				t.severity = requirement.Severity(f.Severity)
			}
			if !slices.ContainsFunc(t.findings, func(have reports.Finding) bool { return have.Fingerprint == f.Fingerprint }) {
				t.findings = append(t.findings, f)
			}
		}
	default:
		first(&t.err, c.Reason)
	}
}

// pristine judges the platform without a fault and returns the number of cases.
// All must pass, or have nothing to judge.
func (p *prover) pristine(ctx context.Context, workers int) (int, error) {
	fsys, err := platform.Resolve(p.raw)
	if err != nil {
		return 0, err
	}
	tallies, err := p.judge(ctx, fsys, "reference platform", workers)
	if err != nil {
		return 0, fmt.Errorf("reference platform: %w", err)
	}
	cases := 0
	var errs []error
	for _, r := range p.catalog {
		t := tallies[r.ID]
		cases += t.cases
		switch {
		case t.cases == 0:
			errs = append(errs, fmt.Errorf("%s: judged nothing", r.ID))
		case t.failed > 0:
			errs = append(errs, fmt.Errorf("%s is red: %s: %s", r.ID, t.findings[0].Place, t.findings[0].Message))
		case t.err != "":
			errs = append(errs, fmt.Errorf("%s could not judge: %s", r.ID, t.err))
		case t.blocked != "":
			errs = append(errs, fmt.Errorf("%s is blocked: %s", r.ID, t.blocked))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return 0, fmt.Errorf("the reference platform is not green, so no fault proves anything: %w", err)
	}
	return cases, nil
}

// row judges the platform with a fault in it.
func (p *prover) row(ctx context.Context, f *faults.Fault, workers int) *Row {
	start := time.Now()
	row := &Row{Fault: f.ID, Name: f.Name, Twin: f.Twin, Cells: []Cell{}, Names: []string{}}
	defer func() { row.Nanoseconds = time.Since(start).Nanoseconds() }()
	for _, r := range p.catalog {
		switch {
		case slices.Contains(f.Should, r.ID):
			row.Should = append(row.Should, r.ID)
			fallthrough
		case slices.Contains(f.Requirements, r.ID):
			row.Names = append(row.Names, r.ID)
		}
	}
	fsys, err := f.Apply(p.raw)
	var tallies map[string]*tally
	if err == nil {
		tallies, err = p.judge(ctx, fsys, "reference platform with "+f.ID, workers)
	}
	if err != nil {
		row.Err, row.Verdict = err.Error(), Error
		return row
	}
	for _, r := range p.catalog {
		var want requirement.Severity
		switch {
		case slices.Contains(f.Should, r.ID):
			want = requirement.Should
		case slices.Contains(f.Requirements, r.ID):
			want = r.Severity
		}
		row.Cells = append(row.Cells, cells(r.ID, tallies[r.ID], want)...)
	}
	switch {
	case len(row.of(Missed))+len(row.of(Stray)) > 0:
		row.Verdict = NotProven
	case len(row.of(Unjudged)) > 0:
		row.Verdict = Error
	default:
		row.Verdict = Proven
	}
	return row
}

// cells are what is to be said of a requirement: one outcome, and that some
// cases could not be judged. want is the severity with which the fault names it,
// empty where it does not.
func cells(id string, t *tally, want requirement.Severity) []Cell {
	var out []Cell
	named := want != ""
	switch {
	case t.failed > 0 && named && want == requirement.Must && t.severity != want:
		out = append(out, Cell{Requirement: id, Outcome: Missed, Reason: "it finds it as should, and it is a must", Findings: t.findings, Cases: t.failed})
	case t.failed > 0 && named && t.severity != want:
		out = append(out, Cell{Requirement: id, Outcome: Stray, Reason: "it finds it as must, and it is a should", Findings: t.findings, Cases: t.failed})
	case t.failed > 0 && named:
		out = append(out, Cell{Requirement: id, Outcome: Caught, Findings: t.findings, Cases: t.failed})
	case t.failed > 0:
		out = append(out, Cell{Requirement: id, Outcome: Stray, Findings: t.findings, Cases: t.failed})
	case named && t.err == "":
		out = append(out, Cell{Requirement: id, Outcome: Missed, Reason: t.green()})
	}
	if t.err != "" || t.cases == 0 {
		reason := t.err
		if reason == "" {
			reason = "it judged nothing"
		}
		out = append(out, Cell{Requirement: id, Outcome: Unjudged, Reason: reason})
	}
	return out
}

// green says how a requirement that should be red is not.
func (t *tally) green() string {
	if t.blocked != "" {
		return "it is blocked: " + t.blocked
	}
	if t.passed == 0 && t.skipped != "" {
		return "it has nothing to judge: " + t.skipped
	}
	return fmt.Sprintf("all of its %d cases hold", t.cases)
}

// conclude reads the rows by requirement.
func (g *Grid) conclude(catalog []*requirement.Requirement, some bool) {
	g.Verdict, g.Unproven, g.Requirements = Proven, []string{}, []*Column{}
	for _, r := range catalog {
		col := &Column{Requirement: r.ID, Faults: []string{}, Alone: []string{}}
		for _, row := range g.Rows {
			if !slices.Contains(row.of(Caught), r.ID) {
				continue
			}
			col.Faults = append(col.Faults, row.Fault)
			if len(row.Names) == 1 {
				col.Alone = append(col.Alone, row.Fault)
			}
		}
		if some && len(col.Faults) == 0 {
			continue // another fault may
		}
		g.Requirements = append(g.Requirements, col)
		if len(col.Faults) == 0 {
			g.Unproven = append(g.Unproven, r.ID)
		}
	}
	for _, row := range g.Rows {
		switch {
		case row.Verdict == NotProven:
			g.Verdict = NotProven
		case row.Verdict == Error && g.Verdict == Proven:
			g.Verdict = Error
		}
	}
	if len(g.Unproven) > 0 {
		g.Verdict = NotProven
	}
}
