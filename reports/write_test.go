package reports_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"proofplane/reports"
)

type suite struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
	Cases    []struct {
		Failure *string `xml:"failure"`
		Error   *string `xml:"error"`
		Skipped *string `xml:"skipped"`
	} `xml:"testcase"`
}

// junit reads a report back to its end and checks that its counts agree.
func junit(t *testing.T, r *reports.Report) string {
	t.Helper()
	g := NewWithT(t)
	data, err := r.JUnit()
	g.Expect(err).NotTo(HaveOccurred())
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, data)
		}
	}
	var all struct {
		suite
		Suites []suite `xml:"testsuite"`
	}
	g.Expect(xml.Unmarshal(data, &all)).To(Succeed())
	var total suite
	for _, s := range all.Suites {
		var n suite
		for _, c := range s.Cases {
			n.Tests++
			if c.Failure != nil {
				n.Failures++
			}
			if c.Error != nil {
				n.Errors++
			}
			if c.Skipped != nil {
				n.Skipped++
			}
		}
		g.Expect([]int{s.Tests, s.Failures, s.Errors, s.Skipped}).To(Equal([]int{n.Tests, n.Failures, n.Errors, n.Skipped}))
		total.Tests += n.Tests
		total.Failures += n.Failures
		total.Errors += n.Errors
		total.Skipped += n.Skipped
	}
	g.Expect([]int{all.Tests, all.Failures, all.Errors, all.Skipped}).To(Equal([]int{total.Tests, total.Failures, total.Errors, total.Skipped}))
	return string(data)
}

func TestJUnitIsValid(t *testing.T) {
	g := NewWithT(t)
	junit(t, build(t, rich()))
	junit(t, build(t, rich()[:5]))
	every := junit(t, build(t, small(map[string][]reports.Verdict{"must": reports.Verdicts()})))
	g.Expect(every).To(ContainSubstring(`tests="8" failures="3" errors="2" skipped="2"`))

	odd := "a \x1b[31m \x00 \xff \ufffe ]]> <&\"' b"
	events := single(odd, reports.Finding{Fingerprint: "f", Chart: odd, Object: odd, Place: odd, Message: odd, Want: odd})
	events[0].Run.Tool = odd
	events[0].Run.Subject.Problems = []reports.Problem{{Place: odd, Message: odd}}
	events[1].Requirement.Statement = odd
	text := junit(t, build(t, events))
	g.Expect(text).NotTo(ContainSubstring("\x1b"))
	g.Expect(text).NotTo(ContainSubstring("\x00"))
}

func TestFindingsOfACaseThatEndedInErrorAreShown(t *testing.T) {
	events := single("SVC-01/chart=a", reports.Finding{Fingerprint: "f", Message: "found before"})
	c := events[2].Case
	c.Verdict, c.Reason = reports.Error, "broke after"
	for name, text := range files(t, build(t, events)) {
		NewWithT(t).Expect(string(text)).To(And(ContainSubstring("found before"), ContainSubstring("broke after")), name)
	}
}

func TestMarkdownCells(t *testing.T) {
	g := NewWithT(t)
	odd := "a | b\nc <i> `d` *e*"
	events := single("SVC-01/chart=`a`", reports.Finding{Fingerprint: "f", Place: "x`y", Message: odd, Want: odd})
	run := events[0].Run
	run.Tiers, run.Filters = []string{odd}, []string{"--axis", "etcd=<a>|`b`"}
	run.Subject = reports.Subject{Tree: odd, Problems: []reports.Problem{{Place: "p", Message: odd}}}
	run.Components = []reports.Component{{Name: odd, Version: odd, Note: odd}}
	events[1].Requirement.Statement = odd
	data, err := build(t, events).Markdown()
	g.Expect(err).NotTo(HaveOccurred())
	text := string(data)
	columns := map[string]int{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") {
			g.Expect(line).To(HaveSuffix("|\n"))
			n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			g.Expect(n).To(Or(Equal(3), Equal(7)), line)
			columns[line] = n
		}
		g.Expect(line).NotTo(HavePrefix("c "), "a text goes on in a line of its own")
	}
	g.Expect(columns).To(HaveKeyWithValue("| SVC-01 | must | fail | 1 | 1 | a \\| b c &lt;i> `d` \\*e\\* |\n", 7))
	g.Expect(text).To(ContainSubstring("| Filters | `` --axis etcd=<a>\\|`b` `` |\n"))
	g.Expect(text).To(ContainSubstring("- Place: `` x`y ``\n"))
	g.Expect(text).To(ContainSubstring("- Again: `` proofplane run --case 'SVC-01/chart=`a`' ``\n"))
	g.Expect(text).To(ContainSubstring("- Wanted: a | b c &lt;i> `d` \\*e\\*\n"))
}

func TestTerminal(t *testing.T) {
	g := NewWithT(t)
	r := build(t, rich())
	colored := string(terminal(t, r, reports.View{Color: true, All: true}))
	g.Expect(colored).To(ContainSubstring("\x1b[1;31mFAIL\x1b[0m SVC-02"))
	g.Expect(colored).To(ContainSubstring("\x1b[1;36mSKIPPED\x1b[0m RBC-01"))
	g.Expect(colored).To(ContainSubstring("\x1b[1;33mSHOULD\x1b[0m PKG-01"))
	g.Expect(colored).To(ContainSubstring("\x1b[1;33mshould:\x1b[0m appVersion is empty"))
	plain := colored
	for _, code := range []string{"1;31", "1;32", "1;33", "1;36", "0"} {
		plain = strings.ReplaceAll(plain, "\x1b["+code+"m", "")
	}
	g.Expect(plain).To(Equal(string(terminal(t, r, reports.View{All: true}))))

	odd := "a\x1b]0;title\a\u009bb"
	events := single(odd, reports.Finding{Fingerprint: "f", Chart: odd, Object: odd, Place: odd, Message: odd, Want: odd})
	events[0].Run.Subject = reports.Subject{Tree: odd, Problems: []reports.Problem{{Place: odd, Message: odd}}}
	events[1].Requirement.Statement = odd
	g.Expect(string(terminal(t, build(t, events), reports.View{All: true}))).NotTo(MatchRegexp(`[\x00-\x08\x0b-\x1f\x{7f}-\x{9f}]`))

	// A finding about neither a place nor a chart has no line for them.
	g.Expect(string(terminal(t, build(t, single("c", reports.Finding{Fingerprint: "f", Message: "m"})), reports.View{All: true}))).NotTo(MatchRegexp(`(?m)^ +$`))
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	out := []string{}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteAndClear(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	for _, name := range []string{reports.EventsFile, "mine.txt"} {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte("kept"), 0o644)).To(Succeed())
	}
	g.Expect(reports.Clear(dir)).To(Succeed(), "there is nothing to remove")
	g.Expect(build(t, small(nil)).Write(dir)).To(Succeed())
	r := build(t, rich())
	g.Expect(r.Write(dir)).To(Succeed(), "over an earlier report")
	g.Expect(names(t, dir)).To(ConsistOf("report.json", "junit.xml", "report.md", reports.EventsFile, "mine.txt"))
	for name, want := range files(t, r) {
		if name == "terminal.txt" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(data)).To(Equal(string(want)))
	}
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(json.Valid(data)).To(BeTrue())

	g.Expect(reports.Clear(dir)).To(Succeed())
	g.Expect(names(t, dir)).To(ConsistOf(reports.EventsFile, "mine.txt"))
	g.Expect(reports.Clear(filepath.Join(dir, "missing"))).To(Succeed())
}

func TestWriteThatFailsLeavesNothing(t *testing.T) {
	g := NewWithT(t)
	r := build(t, rich())
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	g.Expect(os.WriteFile(file, []byte("kept"), 0o644)).To(Succeed())
	g.Expect(r.Write(file)).NotTo(Succeed())
	g.Expect(r.Write(filepath.Join(dir, "missing"))).NotTo(Succeed())
	g.Expect(names(t, dir)).To(ConsistOf("file"))
	g.Expect(os.ReadFile(file)).To(Equal([]byte("kept")))

	// The report is whole, but cannot take its name.
	taken := filepath.Join(dir, "report.json", "inside")
	g.Expect(os.MkdirAll(taken, 0o755)).To(Succeed())
	g.Expect(r.Write(dir)).NotTo(Succeed())
	g.Expect(names(t, dir)).To(ConsistOf("file", "report.json"))

	shut := t.TempDir()
	g.Expect(os.Chmod(shut, 0o555)).To(Succeed())
	if f, err := os.CreateTemp(shut, "probe-*"); err == nil {
		f.Close()
		t.Skip("this user can write into a folder without the permission")
	}
	g.Expect(r.Write(shut)).NotTo(Succeed())
	g.Expect(names(t, shut)).To(BeEmpty())
}
