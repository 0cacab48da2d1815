package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"proofplane/reports"
	"proofplane/suites"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
)

func TestHelpOfEveryCommand(t *testing.T) {
	var visit func(cmd *cobra.Command, path []string)
	visit = func(cmd *cobra.Command, path []string) {
		if cmd.Hidden {
			return
		}
		o := call(append(path, "--help")...)
		if o.code != 0 || o.stderr != "" || !strings.Contains(o.stdout, "Usage:") {
			t.Errorf("%v --help: exit code %d\n%s%s", path, o.code, o.stdout, o.stderr)
		}
		if cmd.Short == "" || !strings.Contains(o.stdout, cmd.Short) && !strings.Contains(o.stdout, cmd.Long) {
			t.Errorf("%v --help does not say what the command does:\n%s", path, o.stdout)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && (f.Usage == "" || !strings.Contains(o.stdout, "--"+f.Name)) {
				t.Errorf("%v --help does not explain --%s", path, f.Name)
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub, append(path[:len(path):len(path)], sub.Name()))
		}
	}
	visit(command(), nil)
	if o := call(); o.code != 0 || !strings.Contains(o.stdout, "Usage:") {
		t.Errorf("without arguments: exit code %d\n%s", o.code, o.stdout)
	}
}

func TestVersion(t *testing.T) {
	o := call("version")
	if o.code != 0 || !strings.HasPrefix(o.stdout, "proofplane ") || !strings.Contains(o.stdout, "\nhelm v3.") {
		t.Errorf("exit code %d\n%s", o.code, o.stdout)
	}
}

func TestExplainEveryRequirement(t *testing.T) {
	for _, r := range suites.Catalog() {
		o := call("explain", strings.ToLower(r.ID))
		if o.code != 0 || !strings.HasPrefix(o.stdout, r.ID+" ") {
			t.Errorf("%s: exit code %d\n%s%s", r.ID, o.code, o.stdout, o.stderr)
		}
		text := strings.Join(strings.Fields(o.stdout), " ")
		for _, part := range []string{r.Statement, r.Origin, r.Axes, r.How, r.Fix} {
			if !strings.Contains(text, strings.Join(strings.Fields(part), " ")) {
				t.Errorf("%s: %q is not said", r.ID, part)
			}
		}
		for _, line := range strings.Split(o.stdout, "\n") {
			if len(line) > 200 {
				t.Errorf("%s: a line of %d bytes", r.ID, len(line))
			}
		}
	}
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	o := call(append([]string{"list", "--output", "json"}, args...)...)
	if o.code != 0 || o.stderr != "" {
		t.Fatalf("list %v: exit code %d\n%s", args, o.code, o.stderr)
	}
	var all []listed
	if err := json.Unmarshal([]byte(o.stdout), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestList(t *testing.T) {
	all := list(t)
	if len(all) != len(suites.Catalog()) {
		t.Errorf("%d requirements, want %d", len(all), len(suites.Catalog()))
	}
	o := call("list")
	for _, l := range all {
		if !strings.Contains(o.stdout, l.ID+" ") || !strings.Contains(o.stdout, l.Statement) {
			t.Errorf("the table has no %s", l.ID)
		}
		if l.Count == 0 && l.Skip == "" || l.Cases != nil {
			t.Errorf("%s: %+v", l.ID, l)
		}
	}
	if !strings.Contains(o.stdout, "reference platform") {
		t.Error("the table does not say which tree it is of")
	}
	if one := list(t, "--family", "svc", "--chart", "redis"); len(one) == 0 || one[0].Family != "svc" {
		t.Errorf("filtered list: %+v", one)
	}
}

// Every name that list shows is a name that --case takes.
func TestListedCasesCanBeNamed(t *testing.T) {
	var args []string
	want := 0
	for _, l := range list(t, "--cases") {
		if len(l.Cases) != l.Count || len(l.IDs) != l.Count {
			t.Errorf("%s: %d names of %d cases", l.ID, len(l.Cases), l.Count)
		}
		for _, c := range l.Cases {
			want++
			args = append(args, "--case", c)
		}
		if len(l.Cases) > 0 {
			last := l.Cases[len(l.Cases)-1]
			for _, name := range []string{last, l.IDs[len(l.IDs)-1]} {
				if one := list(t, "--case", name, "--cases"); len(one) != 1 || one[0].Count != 1 || one[0].Cases[0] != last {
					t.Errorf("--case %s selects %+v", name, one)
				}
			}
		}
	}
	got := 0
	for _, l := range list(t, args...) {
		got += l.Count
	}
	if got != want || want == 0 {
		t.Errorf("%d cases by name, want %d", got, want)
	}
}

// What a requirement shows while a run goes on is what the report says.
func TestProgressTellsShouldFromFail(t *testing.T) {
	var b strings.Builder
	r := &requirement.Requirement{ID: "SVC-01", Severity: requirement.Must}
	p := newProgress(&b, []*runner.Planned{{Requirement: r, Cases: make([]*requirement.Case, 2)}, {Requirement: &requirement.Requirement{ID: "SVC-02", Severity: requirement.Must}}}, false)
	for _, c := range []reports.Case{
		{Requirement: "SVC-01", Verdict: reports.Pass},
		{Requirement: "SVC-01", Verdict: reports.Fail, Findings: []reports.Finding{{Severity: "should"}}},
		{Requirement: "SVC-02", Verdict: reports.Fail, Findings: []reports.Finding{{Severity: "should"}, {}}},
	} {
		p.event(reports.Event{Case: &c})
	}
	if want := "SVC-01 SHOULD (2/3 cases)\nSVC-02 FAIL (3/3 cases)\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
