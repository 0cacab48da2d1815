package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
)

// numbered is a requirement with a case for each number, so many that some ids
// begin the same.
func numbered(id string, n int) *requirement.Requirement {
	r := required(id, pass)
	var values []string
	for i := range n {
		values = append(values, fmt.Sprint(i))
	}
	r.Plan = func(e *requirement.Env) (requirement.Plan, error) {
		return requirement.Plan{Subjects: []requirement.Subject{{Chart: e.Tree.Charts[0], Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "n", Values: values}}}}}}, nil
	}
	return r
}

func TestIDIsOfThePoint(t *testing.T) {
	g := NewWithT(t)
	r := &requirement.Requirement{ID: "SVC-01"}
	c := func(r *requirement.Requirement, name string, p ...matrix.Setting) *requirement.Case {
		return &requirement.Case{Requirement: r, Subject: requirement.Subject{Name: name}, Point: p}
	}
	a, b := matrix.Setting{Axis: "a", Value: "1"}, matrix.Setting{Axis: "b", Value: "2"}
	id := c(r, "presets", a, b).ID()
	g.Expect(id).To(Equal("SVC-01#377e62ce"), "people have it in their notes")
	g.Expect(c(r, "presets", b, a).ID()).To(Equal(id))
	for _, other := range []*requirement.Case{
		c(&requirement.Requirement{ID: "SVC-02"}, "presets", a, b), c(r, "sources", a, b), c(r, "presets", a),
		c(r, "presets", matrix.Setting{Axis: "a", Value: "1,b=2"}), c(r, "presets", matrix.Setting{Axis: "a", Value: "2"}, matrix.Setting{Axis: "b", Value: "1"}),
	} {
		g.Expect(other.ID()[6:]).NotTo(Equal(id[6:]), other.Name())
	}
}

func TestCasesCanBeNamedByID(t *testing.T) {
	e := env(t)
	reqs := []*requirement.Requirement{numbered("SVC-01", 12000), required("VAL-01", pass), numbered("VAL-02", 0)}
	all, err := runner.Plan(e, reqs, runner.Filter{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	val := all[1].Cases[1]
	id := val.ID()
	begins := map[string]*requirement.Case{}
	var one, other *requirement.Case
	for _, c := range all[0].Cases {
		b := c.ID()[:len(c.ID())-2]
		if have := begins[b]; have != nil && have.ID() != c.ID() {
			one, other = have, c
		}
		begins[b] = c
	}
	if one == nil {
		t.Fatal("no two ids begin the same")
	}
	for name, tc := range map[string]struct {
		filter runner.Filter
		want   []string
		err    []string
	}{
		"name":                  {runner.Filter{Cases: []string{val.Name()}}, []string{val.Name()}, nil},
		"id":                    {runner.Filter{Cases: []string{id}}, []string{val.Name()}, nil},
		"lower case":            {runner.Filter{Cases: []string{strings.ToLower(id)}}, []string{val.Name()}, nil},
		"upper case":            {runner.Filter{Cases: []string{strings.ToUpper(id)}}, []string{val.Name()}, nil},
		"seven digits":          {runner.Filter{Cases: []string{id[:len(id)-1]}}, []string{val.Name()}, nil},
		"six digits":            {runner.Filter{Cases: []string{id[:len(id)-2]}}, []string{val.Name()}, nil},
		"the same twice":        {runner.Filter{Cases: []string{id, val.Name()}}, []string{val.Name()}, nil},
		"two":                   {runner.Filter{Cases: []string{id, one.ID()}}, []string{one.Name(), val.Name()}, nil},
		"with another filter":   {runner.Filter{Cases: []string{id}, Axes: map[string][]string{"size": {"m"}}}, []string{val.Name()}, nil},
		"against a filter":      {runner.Filter{Cases: []string{id, one.ID()}, Axes: map[string][]string{"size": {"m"}}}, nil, []string{"other filters leave out"}},
		"five digits":           {runner.Filter{Cases: []string{id[:len(id)-3]}}, nil, []string{id[:len(id)-3], "6 to 8 digits"}},
		"nine digits":           {runner.Filter{Cases: []string{id + "0"}}, nil, []string{"6 to 8 digits"}},
		"no digits":             {runner.Filter{Cases: []string{"VAL-01#"}}, nil, []string{"6 to 8 digits"}},
		"other letters":         {runner.Filter{Cases: []string{"VAL-01#ghijkl"}}, nil, []string{"6 to 8 digits"}},
		"unknown":               {runner.Filter{Cases: []string{"VAL-01#00000000"}}, nil, []string{"VAL-01#00000000", "list --cases"}},
		"ambiguous":             {runner.Filter{Cases: []string{one.ID()[:len(one.ID())-2]}}, nil, []string{"2 cases", one.ID(), other.ID()}},
		"unknown requirement":   {runner.Filter{Cases: []string{"XYZ-01#00000000"}}, nil, []string{`"XYZ-01"`}},
		"of another":            {runner.Filter{Cases: []string{"SVC-01" + id[6:]}}, nil, []string{"list --cases"}},
		"name that goes on":     {runner.Filter{Cases: []string{val.Name() + "#" + id[7:]}}, nil, []string{"there is no case"}},
		"of what has no cases":  {runner.Filter{Cases: []string{"VAL-02#00000000"}}, []string{}, nil},
		"with a name left over": {runner.Filter{Cases: []string{id, "VAL-01/x"}}, nil, []string{`"VAL-01/x"`}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			plan, err := runner.Plan(e, reqs, tc.filter)
			if tc.err != nil {
				var usage *runner.UsageError
				g.Expect(errors.As(err, &usage)).To(BeTrue(), "%v", err)
				for _, part := range tc.err {
					g.Expect(usage.Message).To(ContainSubstring(part))
				}
				g.Expect(usage.Message).NotTo(ContainSubstring("\n"))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			got := []string{}
			for _, p := range plan {
				for _, c := range p.Cases {
					got = append(got, c.Name())
				}
			}
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

// A requirement that could not be planned is not left out by a filter: what it
// would have judged is not known.
func TestWhatCannotBePlannedIsShown(t *testing.T) {
	g := NewWithT(t)
	e := env(t)
	broken := required("VAL-01", pass)
	broken.Plan = func(*requirement.Env) (requirement.Plan, error) { return requirement.Plan{}, errors.New("no way") }
	reqs := []*requirement.Requirement{required("SVC-01", func(context.Context, *requirement.Check) {}), broken}
	for _, f := range []runner.Filter{{Charts: []string{"web"}}, {Cases: []string{"VAL-01#00000000"}}, {Cases: []string{"VAL-01/chart=apps/web"}}} {
		plan, err := runner.Plan(e, reqs, f)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(plan[len(plan)-1].Err).To(MatchError("no way"))
	}
}
