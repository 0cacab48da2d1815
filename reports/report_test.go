package reports_test

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"proofplane/reports"
)

var update = flag.Bool("update", false, "write the golden files anew")

// written returns the lines of a stream.
func written(t *testing.T, events []reports.Event) []byte {
	t.Helper()
	var b bytes.Buffer
	s := reports.NewStream(&b)
	for _, e := range events {
		s.Emit(e)
	}
	NewWithT(t).Expect(s.Err()).NotTo(HaveOccurred())
	return b.Bytes()
}

func build(t *testing.T, events []reports.Event) *reports.Report {
	t.Helper()
	r, err := reports.Build(events)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return r
}

// files returns a report in every format, by file name.
func files(t *testing.T, r *reports.Report) map[string][]byte {
	t.Helper()
	g := NewWithT(t)
	out := map[string][]byte{"terminal.txt": terminal(t, r, reports.View{All: true})}
	for name, f := range map[string]func() ([]byte, error){"report.json": r.JSON, "junit.xml": r.JUnit, "report.md": r.Markdown} {
		data, err := f()
		g.Expect(err).NotTo(HaveOccurred(), name)
		out[name] = data
	}
	return out
}

func terminal(t *testing.T, r *reports.Report, v reports.View) []byte {
	t.Helper()
	var b bytes.Buffer
	NewWithT(t).Expect(r.Terminal(&b, v)).To(Succeed())
	return b.Bytes()
}

func same(t *testing.T, got, want map[string][]byte) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(got).To(HaveLen(len(want)))
	for name := range want {
		g.Expect(string(got[name])).To(Equal(string(want[name])), name)
	}
}

func TestGolden(t *testing.T) {
	g := NewWithT(t)
	got := files(t, build(t, rich()))
	got[reports.EventsFile] = written(t, rich())
	for name, data := range got {
		path := filepath.Join("testdata", name)
		if *update {
			g.Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
			g.Expect(os.WriteFile(path, data, 0o644)).To(Succeed())
		}
		want, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(data)).To(Equal(string(want)), "%s; go test ./reports -update writes it anew", name)
	}
}

func TestReportOfAStreamReadBackIsTheSame(t *testing.T) {
	g := NewWithT(t)
	odd := reports.Finding{Fingerprint: "f", Chart: "a\x80b", Message: "\x1b[31m \x00 \xff\u2028<&>", Want: "a\r\nb"}
	for name, events := range map[string][]reports.Event{"rich": rich(), "odd": single("SVC-01/chart=\xffa", odd)} {
		var b bytes.Buffer
		s := reports.NewStream(&b)
		for _, e := range events {
			s.Emit(e)
		}
		back, err := reports.ReadEvents(&b)
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(back).To(HaveLen(len(events)), name)
		same(t, files(t, build(t, back)), files(t, build(t, s.Events())))
	}
	back, err := reports.ReadEvents(bytes.NewReader(written(t, rich())))
	g.Expect(err).NotTo(HaveOccurred())
	same(t, files(t, build(t, back)), files(t, build(t, rich())))
}

func TestOrderOfCasesDoesNotMatter(t *testing.T) {
	equal := func() []reports.Event {
		events := rich()
		for _, e := range events {
			if e.Case != nil {
				e.Case.Nanoseconds = 5
			}
		}
		// A case of the same index, as a plan that broke half-way leaves it.
		broken := &reports.Case{Requirement: "SVC-02", Name: "SVC-02", Verdict: reports.Error, Reason: "planning broke"}
		return slices.Insert(events, len(events)-1, reports.Event{Case: broken})
	}
	want := files(t, build(t, equal()))
	for seed := range uint64(20) {
		events := equal()
		isCase := func(e reports.Event) bool { return e.Case != nil }
		var cases []reports.Event
		for _, e := range events {
			if isCase(e) {
				cases = append(cases, e)
			}
		}
		rest := slices.DeleteFunc(events, isCase)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		same(t, files(t, build(t, slices.Insert(rest, len(rest)-1, cases...))), want)
	}
}

func TestReasonsAreInOrder(t *testing.T) {
	g := NewWithT(t)
	for range 20 { // they come from a map
		q := build(t, small(map[string][]reports.Verdict{"must": {reports.Skipped, reports.Blocked, reports.Error, reports.Blocked}})).Requirements[0]
		g.Expect(q.Unjudged).To(Equal([]reports.Reason{
			{Verdict: reports.Error, Reason: "because", Cases: 1, Example: "MUST-01/chart=a,n=2"},
			{Verdict: reports.Blocked, Reason: "because", Cases: 2, Example: "MUST-01/chart=a,n=1"},
			{Verdict: reports.Skipped, Reason: "because", Cases: 1, Example: "MUST-01/chart=a,n=0"},
		}))
		g.Expect(q.Reason).To(BeEmpty())
	}
	g.Expect(build(t, small(map[string][]reports.Verdict{"must": {reports.Skipped, reports.Skipped}})).Requirements[0].Reason).To(Equal("because"))
}

func TestKilledRun(t *testing.T) {
	g := NewWithT(t)
	events := rich()
	data := written(t, events[:len(events)-1])
	for cut, incomplete := range map[int]string{
		0:  "the run was killed: 16 of 16 cases were judged",
		1:  "the run was killed: 16 of 16 cases were judged", // the line is whole but for its end
		20: "the run was killed: 15 of 16 cases were judged",
	} {
		back, err := reports.ReadEvents(bytes.NewReader(data[:len(data)-cut]))
		g.Expect(err).NotTo(HaveOccurred())
		r := build(t, back)
		g.Expect(r.Incomplete).To(Equal(incomplete), "cut %d", cut)
		g.Expect(r.Timing.Finished.IsZero()).To(BeTrue())
		g.Expect(r.Verdict).To(Equal(reports.Fail), "what failed stays failed")
		for name, text := range files(t, r) {
			g.Expect(string(text)).To(ContainSubstring(incomplete), name)
		}
	}
	back, err := reports.ReadEvents(strings.NewReader(""))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(back).To(BeEmpty())
}

func TestIncompleteRun(t *testing.T) {
	g := NewWithT(t)
	events := small(map[string][]reports.Verdict{"must": {reports.Pass, reports.Pass}})
	short := slices.Delete(slices.Clone(events), 3, 4)
	g.Expect(build(t, short).Incomplete).To(Equal("1 of 2 cases were judged"))
	g.Expect(build(t, short).ExitCode()).To(Equal(3))

	short[len(short)-1] = reports.Event{End: &reports.End{Interrupted: true, Finished: started}}
	r := build(t, short)
	g.Expect(r.Incomplete).To(Equal("the run was interrupted: 1 of 2 cases were judged"))
	g.Expect(r.ExitCode()).To(Equal(3))
	g.Expect(r.Timing.Finished).To(Equal(started))

	data, err := build(t, events[:2]).JSON()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(data)).To(ContainSubstring(`"cases": []`))
}

func TestStreamsThatAreRefused(t *testing.T) {
	g := NewWithT(t)
	whole := func() []reports.Event {
		return small(map[string][]reports.Verdict{"must": {reports.Pass}})
	}
	for name, c := range map[string]struct {
		events []reports.Event
		want   string
	}{
		"empty":             {nil, "does not begin with a run"},
		"no run":            {whole()[1:], "does not begin with a run"},
		"another format":    {[]reports.Event{{Run: &reports.Run{Format: 99}}, {Case: &reports.Case{Name: "x"}}}, "format 99, this program reads format 1"},
		"two runs":          {append(whole(), whole()...), "more than one run"},
		"no requirement":    {[]reports.Event{opened(), {Case: &reports.Case{Requirement: "X-01", Name: "X-01/chart=a", Verdict: reports.Pass}}}, "case X-01/chart=a belongs to no requirement"},
		"requirement twice": {slices.Insert(whole(), 1, whole()[1]), "announces requirement MUST-01 twice"},
		"unknown verdict":   {small(map[string][]reports.Verdict{"must": {"perhaps"}}), `unknown verdict "perhaps"`},
	} {
		_, err := reports.Build(c.events)
		g.Expect(err).To(MatchError(ContainSubstring(c.want)), name)
	}
}

func TestLineThatIsNoEvent(t *testing.T) {
	g := NewWithT(t)
	lines := strings.SplitAfter(string(written(t, rich())), "\n")
	for _, garbage := range []string{"garbage\n", "\n", `{"case":{"index":"one"}}` + "\n", lines[2][:30] + "\n"} {
		_, err := reports.ReadEvents(strings.NewReader(strings.Join(slices.Insert(slices.Clone(lines), 3, garbage), "")))
		g.Expect(err).To(MatchError(HavePrefix("line 4: not an event: ")), garbage)
	}
	back, err := reports.ReadEvents(strings.NewReader(lines[0] + `{"news":{"of":"a later version"}}` + "\n"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(build(t, back).Tool).To(Equal("proofplane 1.2.3"))
}

type full struct{ left int }

func (w *full) Write(p []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestStreamKeepsTheFirstWriteError(t *testing.T) {
	g := NewWithT(t)
	s := reports.NewStream(&full{left: 1})
	for range 3 {
		s.Emit(opened())
	}
	g.Expect(s.Err()).To(MatchError("disk full"))
	g.Expect(s.Events()).To(HaveLen(3))

	s = reports.NewStream(nil)
	s.Emit(opened())
	g.Expect(s.Err()).NotTo(HaveOccurred())
	g.Expect(s.Events()).To(HaveLen(1))
	g.Expect(build(t, rich()).Terminal(&full{left: 2}, reports.View{})).To(MatchError("disk full"))
}

func TestExitCodes(t *testing.T) {
	type verdicts = []reports.Verdict
	for name, c := range map[string]struct {
		requirements map[string][]reports.Verdict
		code         int
		headline     string
	}{
		"pass":                 {map[string]verdicts{"must": {reports.Pass, reports.Skipped}}, 0, "Conformant: 1 requirement held or had nothing to judge"},
		"must fail":            {map[string]verdicts{"must": {reports.Pass, reports.Fail}}, 1, "Not conformant: 1 of 1 requirement fails\n"},
		"should fail":          {map[string]verdicts{"must": {reports.Pass}, "should": {reports.Fail}}, 0, "Conformant: none of 2 requirements fails, 1 has findings that are only should"},
		"only should, fail":    {map[string]verdicts{"should": {reports.Fail}}, 0, "Conformant: "},
		"error":                {map[string]verdicts{"must": {reports.Error}}, 3, "Could not judge"},
		"error in a should":    {map[string]verdicts{"must": {reports.Pass}, "should": {reports.Error}}, 3, "Could not judge"},
		"blocked":              {map[string]verdicts{"must": {reports.Pass, reports.Blocked}}, 3, "Could not judge"},
		"everything skipped":   {map[string]verdicts{"must": {reports.Skipped, reports.Skipped}}, 3, "Could not judge"},
		"nothing":              {nil, 3, "Could not judge"},
		"fail and error":       {map[string]verdicts{"must": {reports.Fail, reports.Error}}, 1, "Not conformant: 1 of 1 requirement fails\n"},
		"fail, error a should": {map[string]verdicts{"must": {reports.Fail}, "should": {reports.Error}}, 1, "Not conformant: 1 of 2 requirements fails\n"},
		"fixed":                {map[string]verdicts{"must": {reports.Pass, reports.Fixed}}, 1, "Not conformant: "},
		"expired":              {map[string]verdicts{"must": {reports.Pass, reports.Expired}}, 1, "Not conformant: "},
		"known":                {map[string]verdicts{"must": {reports.Known}}, 0, "Conformant: "},
		"should expired":       {map[string]verdicts{"should": {reports.Expired}}, 0, "Conformant: "},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := build(t, small(c.requirements))
			g.Expect(r.ExitCode()).To(Equal(c.code))
			g.Expect(string(terminal(t, r, reports.View{All: true}))).To(ContainSubstring(c.headline))
		})
	}
	g := NewWithT(t)
	events := small(map[string][]reports.Verdict{"must": {reports.Pass}})
	events[0].Run.Subject.Problems = []reports.Problem{{Place: "a", Message: "b"}}
	g.Expect(build(t, events).ExitCode()).To(Equal(3), "a part of the tree was not judged")
}

func TestWorst(t *testing.T) {
	g := NewWithT(t)
	all := reports.Verdicts()
	g.Expect(all).To(Equal([]reports.Verdict{"error", "fail", "expired", "fixed", "blocked", "known", "pass", "skipped"}))
	for i, worse := range all {
		for _, better := range all[i:] {
			g.Expect(reports.Worst(better, worse)).To(Equal(worse))
			g.Expect(reports.Worst(worse, better, better)).To(Equal(worse))
		}
	}
	g.Expect(reports.Worst()).To(Equal(reports.Skipped))
	all[0] = "mine"
	g.Expect(reports.Verdicts()[0]).To(Equal(reports.Error))
}

func TestCauses(t *testing.T) {
	g := NewWithT(t)
	q := build(t, rich()).Requirements[2]
	g.Expect(q.ID).To(Equal("SVC-02"))
	g.Expect(q.Findings).To(HaveLen(2))
	g.Expect(q.Findings[0].When).To(Equal("etcd=none, whatever the rest"))
	g.Expect(q.Findings[0].Cases).To(Equal([]string{
		"SVC-02/chart=apps/kubernetes,etcd=none,size=s", "SVC-02/chart=apps/kubernetes,etcd=none,size=m",
	}))
	g.Expect(q.Findings[0].IDs).To(Equal([]string{"SVC-02#00000000", "SVC-02#00000001"}))
	g.Expect(q.Findings[0].Command).To(Equal("proofplane run --tree /src/platform --case SVC-02#00000000"))
	g.Expect(q.Findings[1].When).To(Equal("replicas=1|2"))

	// An id of two cases, or of none, names no case.
	for _, id := range []string{"", "SVC-02#00000001"} {
		events := rich()
		for _, e := range events {
			if e.Case != nil && e.Case.Requirement == "SVC-02" && e.Case.Index < 2 {
				e.Case.ID = id
			}
		}
		g.Expect(build(t, events).Requirements[2].Findings[0].Command).To(HaveSuffix(" --case SVC-02/chart=apps/kubernetes,etcd=none,size=s"))
	}

	// A finding that a case shows twice counts once.
	events := single("SVC-01/chart=a", reports.Finding{Fingerprint: "f", Message: "m"})
	c := events[2].Case
	c.Findings = append(c.Findings, c.Findings[0])
	g.Expect(build(t, events).Requirements[0].Findings[0].Cases).To(HaveLen(1))
}

func TestCommandIsQuotedForAShell(t *testing.T) {
	g := NewWithT(t)
	for name, want := range map[string]string{
		"SVC-01/chart=apps/a_b,v=1.2": "SVC-01/chart=apps/a_b,v=1.2",
		"":                            "''",
		"a b":                         "'a b'",
		"it's":                        `'it'\''s'`,
		"$(x) `y` \"z\" \\":           "'$(x) `y` \"z\" \\'",
		"a\nb\rc":                     "'a\nb\rc'",
		"^x":                          "'^x'",
		"é":                           "'é'",
		"SVC-02#3f9a1c7e":             "SVC-02#3f9a1c7e",
		"#3f9a1c7e":                   "'#3f9a1c7e'",
	} {
		command := build(t, single(name, reports.Finding{Fingerprint: "f"})).Requirements[0].Findings[0].Command
		g.Expect(command).To(Equal("proofplane run --case " + want))
		if sh, err := exec.LookPath("sh"); err == nil {
			out, err := exec.Command(sh, "-c", "printf %s "+strings.TrimPrefix(command, "proofplane run --case ")).Output()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(out)).To(Equal(name))
		}
	}
}
