package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"proofplane/reports"
	"proofplane/suites"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
)

// selectFlags say which cases are meant.
type selectFlags struct {
	requirements, families, charts, axes, cases []string
}

func (f *selectFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.requirements, "requirement", nil, "only these requirements, by id")
	cmd.Flags().StringSliceVar(&f.families, "family", nil, "only these families, as svc")
	cmd.Flags().StringSliceVar(&f.charts, "chart", nil, "only these charts: folder, or the end of it (apps/redis, redis)")
	cmd.Flags().StringSliceVar(&f.axes, "axis", nil, "only cases with axis=value; of one axis any of the values, of several all")
	cmd.Flags().StringArrayVar(&f.cases, "case", nil, "only this case, by id (SVC-02#3f9a1c7e, or its first six digits) or full name; can be repeated")
}

func (f *selectFlags) plan(env *requirement.Env) ([]*runner.Planned, error) {
	filter := runner.Filter{Requirements: f.requirements, Families: f.families, Charts: f.charts, Cases: f.cases, Axes: map[string][]string{}}
	for _, a := range f.axes {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" || value == "" {
			return nil, usage(fmt.Errorf("--axis %q: write axis=value", a))
		}
		filter.Axes[name] = append(filter.Axes[name], value)
	}
	plan, err := runner.Plan(env, suites.Catalog(), filter)
	var bad *runner.UsageError
	if errors.As(err, &bad) {
		return nil, usage(bad)
	}
	return plan, err
}

// asFlags is the selection as it was given, as a POSIX shell reads it.
func (f *selectFlags) asFlags() []string {
	var out []string
	for _, g := range []struct {
		name   string
		values []string
	}{{"requirement", f.requirements}, {"family", f.families}, {"chart", f.charts}, {"axis", f.axes}, {"case", f.cases}} {
		for _, v := range g.values {
			out = append(out, "--"+g.name+" "+reports.Quote(v))
		}
	}
	return out
}
