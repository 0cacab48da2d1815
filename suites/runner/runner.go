// Package runner decides which cases run, runs them on bounded workers, and
// tells of each as an event.
package runner

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"proofplane/reports"
	"proofplane/suites/requirement"
)

// Filter selects cases. Each field narrows; an empty one lets all through.
type Filter struct {
	Requirements []string            // ids
	Families     []string            // lower or upper case
	Charts       []string            // folder, label (apps/redis) or last element
	Axes         map[string][]string // axis -> values
	Cases        []string            // names, or ids of which the last digits may lack
}

// Planned is a requirement with the cases that were selected.
type Planned struct {
	*requirement.Requirement
	Cases []*requirement.Case
	// Skip says why there is nothing to judge in this tree.
	Skip string
	// Err says why no plan could be made.
	Err error
}

// UsageError is a filter that names what does not exist, or selects nothing.
type UsageError struct{ Message string }

func (e *UsageError) Error() string { return e.Message }

// Plan makes the cases of the requirements that a filter selects. A name that
// does not exist is a *UsageError; so is a filter that leaves nothing.
func Plan(env *requirement.Env, all []*requirement.Requirement, f Filter) ([]*Planned, error) {
	reqs, err := selectRequirements(all, f)
	if err != nil {
		return nil, err
	}
	if err := checkCharts(env, f.Charts); err != nil {
		return nil, err
	}
	plan := make([]*Planned, len(reqs))
	var wg sync.WaitGroup
	for i, r := range reqs {
		plan[i] = &Planned{Requirement: r}
		wg.Add(1)
		go func(p *Planned) {
			defer wg.Done()
			p.plan(env)
		}(plan[i])
	}
	wg.Wait()
	axes, values := map[string]bool{}, map[string]bool{}
	for _, p := range plan {
		for _, c := range p.Cases {
			for _, s := range c.Settings() {
				axes[s.Axis] = true
				values[s.Axis+"="+s.Value] = true
			}
		}
	}
	for a, vs := range f.Axes {
		if !axes[a] {
			return nil, &UsageError{fmt.Sprintf("no case has an axis %q: `proofplane list --cases` shows those there are", a)}
		}
		for _, v := range vs {
			if !values[a+"="+v] {
				return nil, &UsageError{fmt.Sprintf("axis %s has no value %q in any case: `proofplane list --cases` shows those there are", a, v)}
			}
		}
	}
	cases, err := named(plan, f.Cases)
	if err != nil {
		return nil, err
	}
	narrow := len(f.Charts)+len(f.Axes)+len(f.Cases) > 0
	var out []*Planned
	left := 0
	for _, p := range plan {
		p.Cases = slices.DeleteFunc(p.Cases, func(c *requirement.Case) bool {
			return len(f.Cases) > 0 && !cases[c] || !f.matches(c)
		})
		left += len(p.Cases)
		// What could not be planned may have had a case that the filters leave.
		if !narrow || len(p.Cases) > 0 || p.Err != nil {
			out = append(out, p)
		}
	}
	if narrow && len(out) == 0 {
		return nil, &UsageError{"the filters leave no case"}
	}
	if left < len(cases) {
		return nil, &UsageError{"the other filters leave out a case that --case names: give it without them"}
	}
	return out, nil
}

func (p *Planned) plan(env *requirement.Env) {
	defer func() {
		if r := recover(); r != nil {
			p.Err = fmt.Errorf("planning broke: %v", r)
		}
	}()
	made, err := p.Plan(env)
	switch {
	case err != nil:
		p.Err = err
		return
	case len(made.Subjects) == 0 && made.Skip == "":
		p.Err = errors.New("the plan has no subject and no reason for that")
		return
	case len(made.Subjects) == 0:
		p.Skip = made.Skip
		return
	}
	for _, s := range made.Subjects {
		points, err := s.Matrix.Points()
		if err != nil {
			p.Err = fmt.Errorf("%s: %w", s.Label(), err)
			return
		}
		for _, pt := range points {
			p.Cases = append(p.Cases, &requirement.Case{Requirement: p.Requirement, Subject: s, Point: pt, Index: len(p.Cases), Tier: requirement.Render})
		}
	}
}

func selectRequirements(all []*requirement.Requirement, f Filter) ([]*requirement.Requirement, error) {
	known, families := map[string]bool{}, map[string]bool{}
	for _, r := range all {
		known[r.ID] = true
		families[r.Family()] = true
	}
	ids := slices.Clone(f.Requirements)
	for _, c := range f.Cases {
		ids = append(ids, requirementOf(c))
	}
	for _, id := range ids {
		if !known[strings.ToUpper(id)] {
			return nil, &UsageError{fmt.Sprintf("there is no requirement %q: `proofplane list` shows those there are", id)}
		}
	}
	for _, fam := range f.Families {
		if !families[strings.ToLower(fam)] {
			names := make([]string, 0, len(families))
			for n := range families {
				names = append(names, n)
			}
			sort.Strings(names)
			return nil, &UsageError{fmt.Sprintf("there is no family %q: use one of %s", fam, strings.Join(names, ", "))}
		}
	}
	var out []*requirement.Requirement
	for _, r := range all {
		if len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return strings.EqualFold(id, r.ID) }) {
			continue
		}
		if len(f.Families) > 0 && !slices.ContainsFunc(f.Families, func(n string) bool { return strings.EqualFold(n, r.Family()) }) {
			continue
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, &UsageError{"the filters leave no requirement"}
	}
	return out, nil
}

func checkCharts(env *requirement.Env, names []string) error {
	for _, n := range names {
		ok := false
		for _, c := range env.Tree.Charts {
			ok = ok || chartMatches(n, c.Dir)
		}
		if !ok {
			return &UsageError{fmt.Sprintf("there is no chart %q in the tree: name its folder (packages/apps/redis) or the end of it (apps/redis, redis)", n)}
		}
	}
	return nil
}

func chartMatches(name, dir string) bool {
	name = path.Clean(name)
	return name == dir || strings.HasSuffix(dir, "/"+name)
}

func (f Filter) matches(c *requirement.Case) bool {
	if len(f.Charts) > 0 {
		if c.Subject.Chart == nil || !slices.ContainsFunc(f.Charts, func(n string) bool { return chartMatches(n, c.Subject.Chart.Dir) }) {
			return false
		}
	}
	for axis, values := range f.Axes {
		ok := false
		for _, s := range c.Settings() {
			ok = ok || s.Axis == axis && slices.Contains(values, s.Value)
		}
		if !ok {
			return false
		}
	}
	return true
}

// Run judges the planned cases on the given number of workers and emits an
// event for each requirement and each case. When ctx ends, cases that have not
// begun are left out, those that run are given up after a short grace, and the
// context's error is returned; emit is not called any more then.
func Run(ctx context.Context, env *requirement.Env, plan []*Planned, workers int, emit func(reports.Event)) error {
	var jobs []*requirement.Case
	for _, p := range plan {
		r := reports.Requirement{ID: p.ID, Family: p.Family(), Statement: p.Statement, Severity: string(p.Severity), Origin: p.Origin, Fix: p.Fix, Planned: len(p.Cases)}
		for _, t := range p.Tiers {
			r.Tiers = append(r.Tiers, string(t))
		}
		r.Planned = max(r.Planned, 1)
		emit(reports.Event{Requirement: &r})
		if c := p.unjudged(); c != nil {
			emit(reports.Event{Case: c})
		}
		jobs = append(jobs, p.Cases...)
	}
	next := make(chan *requirement.Case)
	var wg sync.WaitGroup
	for range max(workers, 1) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for c := range next {
				e := Judge(ctx, env, c)
				if ctx.Err() == nil {
					emit(reports.Event{Case: e})
				}
			}
		}()
	}
	for _, c := range jobs {
		if ctx.Err() != nil {
			break
		}
		select {
		case next <- c:
		case <-ctx.Done():
		}
	}
	close(next)
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		// The cases that are running may end; one that hangs must not hold the
		// user who asked for the end.
		select {
		case <-done:
		case <-time.After(grace):
		}
	}
	return ctx.Err()
}

// grace is how long running cases may take to end after an interrupt.
const grace = 2 * time.Second

// unjudged is the event of a requirement without cases.
func (p *Planned) unjudged() *reports.Case {
	c := &reports.Case{Requirement: p.ID, Name: p.ID, Tier: string(requirement.Render)}
	switch {
	case p.Err != nil:
		c.Verdict, c.Reason = reports.Error, p.Err.Error()
	case len(p.Cases) == 0:
		c.Verdict, c.Reason = reports.Skipped, p.Skip
	default:
		return nil
	}
	return c
}

// Judge judges one case. A check that panics could not judge.
func Judge(ctx context.Context, env *requirement.Env, c *requirement.Case) *reports.Case {
	start := time.Now()
	check := &requirement.Check{Env: env, Case: c}
	func() {
		defer func() {
			if r := recover(); r != nil {
				check.Err = fmt.Errorf("the check itself broke: %v", r)
			}
		}()
		c.Requirement.Judge(ctx, check)
	}()
	out := &reports.Case{
		Requirement: c.Requirement.ID, Index: c.Index, Name: c.Name(), ID: c.ID(), Tier: string(c.Tier), Settings: c.Settings(),
		Assertions: check.Assertions, Findings: check.Findings, Nanoseconds: time.Since(start).Nanoseconds(),
	}
	out.Verdict, out.Reason = check.Verdict()
	return out
}
