package runner_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"

	"proofplane/fixtures/tree"
	"proofplane/reports"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
)

func env(t *testing.T) *requirement.Env {
	t.Helper()
	files, src, err := tree.OpenFS(fstest.MapFS{"packages/apps/web/Chart.yaml": {Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")}}, "test")
	if err != nil {
		t.Fatal(err)
	}
	p, err := tree.LoadProfile(tree.DefaultProfile)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := tree.Load(files, src, p)
	if err != nil {
		t.Fatal(err)
	}
	return requirement.NewEnv(tr, 1)
}

// required is a requirement with three cases on the chart web.
func required(id string, judge func(context.Context, *requirement.Check)) *requirement.Requirement {
	return &requirement.Requirement{
		ID: id, Severity: requirement.Must, Judge: judge,
		Plan: func(e *requirement.Env) (requirement.Plan, error) {
			return requirement.Plan{Subjects: []requirement.Subject{{Chart: e.Tree.Charts[0], Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "size", Values: []string{"s", "m", "l"}}}}}}}, nil
		},
	}
}

func pass(_ context.Context, c *requirement.Check) { c.Assert(true, nil) }

// judged plans and runs and returns the report.
func judged(t *testing.T, reqs ...*requirement.Requirement) *reports.Report {
	t.Helper()
	g := NewWithT(t)
	e := env(t)
	plan, err := runner.Plan(e, reqs, runner.Filter{})
	g.Expect(err).NotTo(HaveOccurred())
	s := reports.NewStream(nil)
	s.Emit(reports.Event{Run: &reports.Run{Format: reports.Format}})
	g.Expect(runner.Run(context.Background(), e, plan, 4, s.Emit)).To(Succeed())
	s.Emit(reports.Event{End: &reports.End{}})
	r, err := reports.Build(s.Events())
	g.Expect(err).NotTo(HaveOccurred())
	return r
}

func TestEmptyIsRed(t *testing.T) {
	for name, tc := range map[string]struct {
		req    *requirement.Requirement
		reason string
	}{
		"no assertion": {required("SVC-01", func(context.Context, *requirement.Check) {}), "the case asserted nothing"},
		"no subject":   {&requirement.Requirement{ID: "SVC-01", Plan: func(*requirement.Env) (requirement.Plan, error) { return requirement.Plan{}, nil }}, "no subject and no reason"},
		"no point": {&requirement.Requirement{ID: "SVC-01", Plan: func(e *requirement.Env) (requirement.Plan, error) {
			return requirement.Plan{Subjects: []requirement.Subject{{Name: "x", Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "a"}}}}}}, nil
		}}, "axis a has no values"},
		"plan fails": {&requirement.Requirement{ID: "SVC-01", Plan: func(*requirement.Env) (requirement.Plan, error) {
			return requirement.Plan{}, errors.New("no way")
		}}, "no way"},
		"plan breaks": {&requirement.Requirement{ID: "SVC-01", Plan: func(*requirement.Env) (requirement.Plan, error) { panic("broken") }}, "planning broke: broken"},
		"check breaks": {required("SVC-01", func(context.Context, *requirement.Check) {
			panic("the check divides by nothing")
		}), "the check itself broke"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := judged(t, tc.req)
			g.Expect(r.Verdict).To(Equal(reports.Error))
			g.Expect(r.ExitCode()).To(Equal(3))
			g.Expect(r.Requirements[0].Unjudged[0].Reason).To(ContainSubstring(tc.reason))
		})
	}
}

func TestSkippedNeedsAReasonAndIsNoPass(t *testing.T) {
	g := NewWithT(t)
	r := judged(t, &requirement.Requirement{ID: "SVC-01", Plan: func(*requirement.Env) (requirement.Plan, error) {
		return requirement.Plan{Skip: "nothing of that kind"}, nil
	}})
	g.Expect(r.Requirements[0].Verdict).To(Equal(reports.Skipped))
	g.Expect(r.Requirements[0].Reason).To(Equal("nothing of that kind"))
	g.Expect(r.ExitCode()).To(Equal(3), "nothing was judged")
}

func TestFindingsAreFoldedByCause(t *testing.T) {
	g := NewWithT(t)
	r := judged(t, required("SVC-01", func(_ context.Context, c *requirement.Check) {
		c.Assert(c.Get("size") == "s", func() requirement.Finding {
			return requirement.Finding{Message: "too big: " + c.Get("size"), Cause: "big"}
		})
	}), required("VAL-01", pass))
	g.Expect(r.ExitCode()).To(Equal(1))
	g.Expect(r.Requirements[0].Findings).To(HaveLen(1))
	f := r.Requirements[0].Findings[0]
	g.Expect(f.Chart).To(Equal("packages/apps/web"))
	g.Expect(f.Cases).To(Equal([]string{"SVC-01/chart=apps/web,size=m", "SVC-01/chart=apps/web,size=l"}))
	g.Expect(f.When).To(ContainSubstring("size=l|m"))
}

func TestFiltersNameWhatExists(t *testing.T) {
	e := env(t)
	reqs := []*requirement.Requirement{required("SVC-01", pass), required("VAL-01", pass)}
	count := func(f runner.Filter) (int, error) {
		plan, err := runner.Plan(e, reqs, f)
		n := 0
		for _, p := range plan {
			n += len(p.Cases)
		}
		return n, err
	}
	for name, tc := range map[string]struct {
		filter runner.Filter
		cases  int
	}{
		"all":         {runner.Filter{}, 6},
		"requirement": {runner.Filter{Requirements: []string{"svc-01"}}, 3},
		"family":      {runner.Filter{Families: []string{"VAL"}}, 3},
		"chart":       {runner.Filter{Charts: []string{"web"}}, 6},
		"label":       {runner.Filter{Charts: []string{"apps/web"}}, 6},
		"axis":        {runner.Filter{Axes: map[string][]string{"size": {"s", "l"}}}, 4},
		"case":        {runner.Filter{Cases: []string{"VAL-01/chart=apps/web,size=m"}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			n, err := count(tc.filter)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(n).To(Equal(tc.cases))
		})
	}
	for name, f := range map[string]runner.Filter{
		"requirement": {Requirements: []string{"SVC-77"}},
		"family":      {Families: []string{"xyz"}},
		"chart":       {Charts: []string{"eb"}},
		"axis":        {Axes: map[string][]string{"weight": {"s"}}},
		"value":       {Axes: map[string][]string{"size": {"xl"}}},
		"case":        {Cases: []string{"VAL-01/chart=apps/web,size=xl"}},
	} {
		t.Run("unknown "+name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := count(f)
			var usage *runner.UsageError
			g.Expect(errors.As(err, &usage)).To(BeTrue(), "%v", err)
		})
	}
}

func TestInterruptEndsTheRun(t *testing.T) {
	g := NewWithT(t)
	e := env(t)
	ctx, cancel := context.WithCancel(context.Background())
	hang := make(chan struct{})
	defer close(hang)
	var once sync.Once
	plan, err := runner.Plan(e, []*requirement.Requirement{required("SVC-01", func(_ context.Context, c *requirement.Check) {
		once.Do(cancel)
		<-hang // a case that does not look at its context
	})}, runner.Filter{})
	g.Expect(err).NotTo(HaveOccurred())
	cases := 0
	err = runner.Run(ctx, e, plan, 1, func(ev reports.Event) {
		if ev.Case != nil {
			cases++
		}
	})
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(cases).To(BeZero())
}
