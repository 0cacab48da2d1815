package reports_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"proofplane/reports"
)

// event is a case of SVC-01 in chart=a,n=<index>.
func event(index int, v reports.Verdict, reason string, fs ...reports.Finding) reports.Event {
	point := fmt.Sprintf("chart=a,n=%d", index)
	return reports.Event{Case: &reports.Case{
		Requirement: "SVC-01", Index: index, Name: "SVC-01/" + point, ID: fmt.Sprintf("SVC-01#%08x", index),
		Settings: settings(point), Verdict: v, Reason: reason, Assertions: 1, Findings: fs,
	}}
}

func stream(cases ...reports.Event) []reports.Event {
	events := []reports.Event{opened(), {Requirement: &reports.Requirement{ID: "SVC-01", Family: "svc", Statement: "it holds", Severity: "must", Planned: len(cases)}}}
	return append(append(events, cases...), ended())
}

func finding(id, severity string) reports.Finding {
	return reports.Finding{Fingerprint: id, Severity: severity, Message: "message " + id, Chart: "packages/" + id}
}

func TestFindingsAreSorted(t *testing.T) {
	g := NewWithT(t)
	heavy := finding("g", "should")
	heavy.Weight = 3
	r := build(t, stream(
		event(0, reports.Fail, "", finding("a", "should"), heavy, finding("b", "should"), finding("c", ""), finding("e", "must")),
		event(1, reports.Fail, "", finding("b", "should"), finding("c", ""), finding("d", "should")),
		event(2, reports.Fail, "", finding("d", "must"), finding("b", "should")),
	))
	var got []string
	for _, f := range r.Requirements[0].Findings {
		got = append(got, fmt.Sprintf("%s %s %d", f.Fingerprint, f.Severity, len(f.Cases)))
	}
	g.Expect(got).To(Equal([]string{"c must 2", "d must 2", "e must 1", "b should 3", "g should 1", "a should 1"}))
}

// The worst case of a cause is the one that is told.
func TestWorstOfACauseIsTold(t *testing.T) {
	g := NewWithT(t)
	mild, bad := finding("f", "should"), finding("f", "must")
	mild.Place, bad.Place, bad.Message = "a:1", "b:2", "worse"
	f := build(t, stream(event(0, reports.Fail, "", mild), event(1, reports.Fail, "", bad))).Requirements[0].Findings[0]
	g.Expect([]string{f.Severity, f.Place, f.Message}).To(Equal([]string{"must", "b:2", "worse"}))
	g.Expect(f.Also).To(Equal([]reports.Instance{{Chart: "packages/f", Place: "a:1"}}))
}

func TestOnlyShouldIsNoFailure(t *testing.T) {
	g := NewWithT(t)
	mild := build(t, stream(event(0, reports.Fail, "", finding("a", "should")), event(1, reports.Pass, "")))
	g.Expect(mild.ExitCode()).To(Equal(0))
	q := mild.Requirements[0]
	g.Expect(q.Verdict).To(Equal(reports.Fail))
	g.Expect(q.Breaks).To(BeFalse())
	g.Expect([]int{q.Should, mild.Should}).To(Equal([]int{1, 1}))
	text := string(terminal(t, mild, reports.View{Color: true}))
	g.Expect(text).To(ContainSubstring("\x1b[1;33mSHOULD\x1b[0m SVC-01  it holds\n"))
	g.Expect(text).To(ContainSubstring("Conformant: none of 1 requirement fails, 1 has findings that are only should"))
	g.Expect(text).To(HaveSuffix("findings: 1 should\ncases: 1 should, 1 pass\n"))
	g.Expect(text).NotTo(ContainSubstring("\x1b[1;31m"))
	data := junit(t, mild)
	g.Expect(data).To(ContainSubstring(`failures="0"`))
	g.Expect(data).To(ContainSubstring("<system-out>should: message a"))
	md, err := mild.Markdown()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(md)).To(ContainSubstring("| SVC-01 | must | should | 2 | 1 |"))

	both := build(t, stream(event(0, reports.Fail, "", finding("a", "should"), finding("b", "must")), event(1, reports.Fail, "", finding("a", "should"))))
	g.Expect(both.ExitCode()).To(Equal(1))
	g.Expect(both.Requirements[0].Breaks).To(BeTrue())
	g.Expect(both.Should).To(Equal(1))
	g.Expect(string(terminal(t, both, reports.View{}))).To(And(
		ContainSubstring("FAIL SVC-01"),
		ContainSubstring("should: message a"),
		ContainSubstring("    message b\n"),
		ContainSubstring("Not conformant: 1 of 1 requirement fails\n"),
		ContainSubstring("cases: 1 fail, 1 should\n"),
	))
	g.Expect(junit(t, both)).To(And(ContainSubstring(`failures="1"`), ContainSubstring(`<failure message="message b"`)))
}

func TestTerminalIsShort(t *testing.T) {
	g := NewWithT(t)
	var cases []reports.Event
	for i := range 12 {
		cases = append(cases, event(i, reports.Fail, "", finding(fmt.Sprintf("f%02d", i), "")))
	}
	for i := 12; i < 20; i++ {
		cases = append(cases, event(i, reports.Skipped, fmt.Sprintf("reason %d", i)))
	}
	cases = append(cases, event(20, reports.Blocked, "blocked"))
	r := build(t, stream(cases...))
	text := string(terminal(t, r, reports.View{File: "out/report.md"}))
	g.Expect(text).To(ContainSubstring("\n  … and 2 more findings: see out/report.md, or --all\n"))
	g.Expect(text).To(ContainSubstring("\n  1 case blocked, 8 cases skipped: see out/report.md, or --all\n"))
	g.Expect(text).NotTo(Or(ContainSubstring("reason"), ContainSubstring("f10")))
	g.Expect(string(terminal(t, r, reports.View{}))).To(ContainSubstring("2 more findings: see --all, or report.md of --out\n"))
	whole := string(terminal(t, r, reports.View{All: true}))
	g.Expect(whole).To(And(ContainSubstring("f11"), ContainSubstring("skipped, 1 case: reason 19"), Not(ContainSubstring("see "))))

	// Where nothing failed the reasons are what there is to say, and what could
	// not be judged is shown in any case.
	text = string(terminal(t, build(t, stream(cases[12:]...)), reports.View{}))
	g.Expect(text).To(And(ContainSubstring("reason 12"), ContainSubstring("… and 4 more reasons: see --all"), Not(ContainSubstring("reason 16"))))
	broken := append([]reports.Event{event(21, reports.Error, "broke")}, cases...)
	g.Expect(string(terminal(t, build(t, stream(broken...)), reports.View{}))).To(ContainSubstring("  error, 1 case: broke\n    first   SVC-01#00000015\n"))
}

func TestInstancesOnATerminal(t *testing.T) {
	g := NewWithT(t)
	f := finding("f", "must")
	for i := range 5 {
		f.Also = append(f.Also, reports.Instance{Object: "Secret a", Place: fmt.Sprintf("p:%d", i)})
	}
	f.Through = "lib.tpl:7"
	text := string(terminal(t, build(t, stream(event(0, reports.Fail, "", f))), reports.View{All: true}))
	g.Expect(text).To(ContainSubstring("    through lib.tpl:7\n    also    5 more: p:0 (Secret a), p:1 (Secret a), p:2 (Secret a) and 2 more\n"))
	f.Also = []reports.Instance{{Chart: "a"}, {Object: "Secret b"}}
	text = string(terminal(t, build(t, stream(event(0, reports.Fail, "", f))), reports.View{}))
	g.Expect(text).To(ContainSubstring("    also    2 more: a, Secret b\n"))
}

func TestNoLineIsTooLong(t *testing.T) {
	g := NewWithT(t)
	long := strings.Repeat("wörd ", 100) + strings.Repeat("é", 500) + strings.Repeat(" end", 60)
	f := reports.Finding{Fingerprint: "f", Chart: long, Object: long, Place: long, Through: long, Message: long, Want: long, Severity: "should"}
	for range 4 {
		f.Also = append(f.Also, reports.Instance{Object: long, Place: fmt.Sprint(len(f.Also), long)})
	}
	events := stream(event(0, reports.Fail, "", f), event(1, reports.Error, long), event(2, reports.Skipped, long), event(3, reports.Pass, ""))
	events[2].Case.Settings[0].Value = long
	events[0].Run.Subject = reports.Subject{Tree: long, Problems: []reports.Problem{{Place: long, Message: long}}}
	events[1].Requirement.Statement = long
	words := []string{"proofplane", "run"}
	for i := range 30 {
		words = append(words, "--tree", reports.Quote(fmt.Sprintf("a  b's \\ %d", i)))
	}
	events[0].Run.Command = strings.Join(words, " ")
	r := build(t, events)
	for _, v := range []reports.View{{}, {All: true}, {Color: true, File: long}} {
		text := string(terminal(t, r, v))
		for line := range strings.Lines(text) {
			if v.Color {
				line = strings.NewReplacer("\x1b[1;31m", "", "\x1b[1;33m", "", "\x1b[0m", "").Replace(line)
			}
			g.Expect(utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))).To(BeNumerically("<=", 200), line)
			g.Expect(line).NotTo(MatchRegexp(` \n$`))
		}
		if v.Color {
			continue
		}
		_, again, _ := strings.Cut(text, "again   ")
		again, _, _ = strings.Cut(again, "\n  error")
		sh, err := exec.LookPath("sh")
		if err != nil {
			continue
		}
		split, err := exec.Command(sh, "-c", "printf '%s\\n' "+again).Output()
		g.Expect(err).NotTo(HaveOccurred())
		whole, err := exec.Command(sh, "-c", "printf '%s\\n' "+r.Requirements[0].Findings[0].Command).Output()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(split)).To(Equal(string(whole)))
		g.Expect(again).To(ContainSubstring(" \\\n            "))
	}
}
