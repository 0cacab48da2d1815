package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// JSON returns report.json.
func (r *Report) JSON() ([]byte, error) {
	var flat, out bytes.Buffer
	enc := json.NewEncoder(&flat)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	out.Grow(2 * flat.Len()) // a report can be large, and grows by copies otherwise
	err := json.Indent(&out, flat.Bytes(), "", " ")
	return out.Bytes(), err
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr,omitempty"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string     `xml:"name,attr"`
	ClassName string     `xml:"classname,attr"`
	Time      string     `xml:"time,attr"`
	Failure   *junitText `xml:"failure,omitempty"`
	Error     *junitText `xml:"error,omitempty"`
	Skipped   *junitText `xml:"skipped,omitempty"`
	Out       string     `xml:"system-out,omitempty"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit returns junit.xml: a requirement is a suite, a case a test case. A case
// that fails in nothing that must hold passes, and its output says what it shows.
// A run that is not complete has one more case that says so as an error.
func (r *Report) JUnit() ([]byte, error) {
	all := junitSuites{Name: r.Tool}
	var total int64
	for _, q := range r.Requirements {
		s := junitSuite{Name: q.ID + " " + q.Statement, Tests: len(q.Cases), Time: seconds(r.Timing.Requirements[q.ID])}
		if !r.Timing.Started.IsZero() {
			s.Timestamp = r.Timing.Started.UTC().Format("2006-01-02T15:04:05")
		}
		total += r.Timing.Requirements[q.ID]
		for _, c := range q.Cases {
			jc := junitCase{Name: c.Name, ClassName: q.Family + "." + q.ID, Time: "0"}
			switch c.Verdict {
			case Fail, Fixed, Expired:
				text := caseText(c, q.Severity)
				if !c.Breaks(q.Severity) {
					jc.Out = text
					break
				}
				s.Failures++
				jc.Failure = &junitText{Type: string(c.Verdict), Message: firstMessage(c, q.Severity), Text: text}
			case Error, Blocked:
				s.Errors++
				jc.Error = &junitText{Type: string(c.Verdict), Message: c.Reason, Text: caseText(c, q.Severity)}
			case Skipped, Known:
				s.Skipped++
				jc.Skipped = &junitText{Message: c.Reason}
			}
			s.Cases = append(s.Cases, jc)
		}
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Skipped += s.Skipped
		all.Suites = append(all.Suites, s)
	}
	var extra []junitCase
	for _, p := range r.Subject.Problems {
		extra = append(extra, junitCase{Name: p.Place, ClassName: "tree", Time: "0", Error: &junitText{Message: p.Message, Text: p.Place + ": " + p.Message}})
	}
	if r.Incomplete != "" {
		extra = append(extra, junitCase{Name: "complete", ClassName: "run", Time: "0", Error: &junitText{Message: r.Incomplete, Text: r.Incomplete}})
	}
	if len(extra) > 0 {
		all.Suites = append(all.Suites, junitSuite{Name: "the run itself", Tests: len(extra), Errors: len(extra), Time: "0", Cases: extra})
		all.Tests += len(extra)
		all.Errors += len(extra)
	}
	all.Time = seconds(total)
	data, err := xml.MarshalIndent(all, "", " ")
	return append([]byte(xml.Header), append(data, '\n')...), err
}

func seconds(ns int64) string { return fmt.Sprintf("%.3f", time.Duration(ns).Seconds()) }

// firstMessage is what a case that fails says first: of what breaks
// conformance, where something does.
func firstMessage(c Case, severity string) string {
	if len(c.Findings) == 0 {
		return c.Reason
	}
	i := slices.IndexFunc(c.Findings, func(f Finding) bool { return cmp.Or(f.Severity, severity) == must })
	return c.Findings[max(i, 0)].Message
}

// caseText is all that a case shows.
func caseText(c Case, severity string) string {
	var b strings.Builder
	if c.Reason != "" {
		fmt.Fprintf(&b, "%s\n", c.Reason)
	}
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "%s: %s\n", cmp.Or(f.Severity, severity), f.Message)
		for _, l := range []struct{ k, v string }{{"at", f.Place}, {"through", f.Through}, {"object", f.Object}, {"chart", f.Chart}, {"want", f.Want}} {
			if l.v != "" {
				fmt.Fprintf(&b, "  %s: %s\n", l.k, l.v)
			}
		}
		for _, also := range f.Also {
			fmt.Fprintf(&b, "  also: %s\n", also)
		}
	}
	if c.ID != "" {
		fmt.Fprintf(&b, "case %s\n", c.ID)
	}
	return b.String()
}

// Markdown returns report.md.
func (r *Report) Markdown() ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", r.headline())
	fmt.Fprintf(&b, "| | |\n|---|---|\n")
	fmt.Fprintf(&b, "| Tree | %s |\n", mdCell(r.Subject.String()))
	fmt.Fprintf(&b, "| Digest | %s |\n| Charts | %d |\n| Tiers | %s |\n| Seed | %d |\n", mdCode(r.Subject.Digest), r.Subject.Charts, mdCell(strings.Join(r.Tiers, ", ")), r.Seed)
	if len(r.Filters) > 0 {
		fmt.Fprintf(&b, "| Filters | %s |\n", strings.ReplaceAll(mdCode(strings.Join(r.Filters, " ")), "|", `\|`))
	}
	for _, c := range r.Components {
		fmt.Fprintf(&b, "| %s | %s |\n", mdCell(c.Name), mdCell(c.String()))
	}
	fmt.Fprintf(&b, "| Cases | %s |\n", r.countText())
	if text := r.findingText(); text != "" {
		fmt.Fprintf(&b, "| Findings | %s |\n", text)
	}
	if r.Incomplete != "" {
		fmt.Fprintf(&b, "\n**Incomplete**: %s.\n", r.Incomplete)
	}
	if len(r.Subject.Problems) > 0 {
		fmt.Fprintf(&b, "\n## Not readable\n\n")
		for _, p := range r.Subject.Problems {
			fmt.Fprintf(&b, "- %s: %s\n", mdCode(p.Place), mdText(p.Message))
		}
	}
	fmt.Fprintf(&b, "\n## Requirements\n\n| id | severity | verdict | cases | findings | statement |\n|---|---|---|---:|---:|---|\n")
	for _, q := range r.Requirements {
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %s |\n", mdCell(q.ID), mdCell(q.Severity), q.label(), len(q.Cases), len(q.Findings), mdCell(q.Statement))
	}
	for _, q := range r.Requirements {
		if len(q.Findings) == 0 && len(q.Unjudged) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s: %s\n\n%s\n", q.ID, q.label(), mdText(q.Statement))
		for _, f := range q.Findings {
			fmt.Fprintf(&b, "\n### %s\n\n", mdText(f.Message))
			fmt.Fprintf(&b, "- Severity: %s\n", mdText(f.Severity))
			for _, l := range []struct{ k, v string }{{"Place", f.Place}, {"Through", f.Through}, {"Object", f.Object}, {"Chart", f.Chart}} {
				if l.v != "" {
					fmt.Fprintf(&b, "- %s: %s\n", l.k, mdCode(l.v))
				}
			}
			if len(f.Also) > 0 {
				fmt.Fprintf(&b, "- Also, %d more:\n", len(f.Also))
			}
			for _, also := range f.Also {
				fmt.Fprintf(&b, "  - %s\n", mdInstance(also))
			}
			fmt.Fprintf(&b, "- When: %s\n", mdText(f.when(whole)))
			if f.Want != "" {
				fmt.Fprintf(&b, "- Wanted: %s\n", mdText(f.Want))
			}
			fmt.Fprintf(&b, "- Again: %s\n- Fingerprint: %s\n", mdCode(f.Command), mdCode(f.Fingerprint))
		}
		for _, u := range q.Unjudged {
			fmt.Fprintf(&b, "\n- %s, %s: %s\n", u.Verdict, plural(u.Cases, "case"), mdText(u.Reason))
		}
	}
	return []byte(b.String()), nil
}

// mdInstance is an instance within an item.
func mdInstance(i Instance) string {
	var parts []string
	for _, v := range []string{i.head(), i.Object} {
		if v != "" {
			parts = append(parts, mdCode(v))
		}
	}
	return strings.Join(parts, ", ")
}

// mdText is text within a paragraph, a heading or an item.
func mdText(s string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(oneLine(s))
}

// mdCell is text within a cell of a table.
func mdCell(s string) string { return strings.ReplaceAll(mdText(s), "|", `\|`) }

// mdCode is a code span, fenced by more backticks than s has in a row.
func mdCode(s string) string {
	s = strings.ReplaceAll(clean(s), "\n", " ")
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		s = " " + s + " "
	}
	return fence + s + fence
}

// oneLine joins the words of a text by single spaces.
func oneLine(s string) string { return clean(strings.Join(strings.Fields(s), " ")) }

// clean replaces what is not text, control characters and bytes that are not
// UTF-8, by U+FFFD.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return unicode.ReplacementChar
		}
		return c
	}, s)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// String names the subject as users know it.
func (s Subject) String() string {
	if s.Revision == "" {
		return s.Tree
	}
	if s.Asked != "" && s.Asked != s.Revision {
		return fmt.Sprintf("%s at %s (%.12s)", s.Tree, s.Asked, s.Revision)
	}
	return fmt.Sprintf("%s at %.12s", s.Tree, s.Revision)
}

// String says whether the component was real.
func (c Component) String() string {
	kind := "simulated"
	if c.Real {
		kind = "real"
	}
	parts := []string{kind}
	for _, p := range []string{c.Version, c.Note} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ", ")
}

// headline is the verdict of the whole run as a sentence.
func (r *Report) headline() string {
	total, fail, mild := len(r.Requirements), 0, 0
	for _, q := range r.Requirements {
		switch {
		case q.Breaks:
			fail++
		case q.Should > 0:
			mild++
		}
	}
	only := "has findings that are only should"
	if mild != 1 {
		only = "have findings that are only should"
	}
	switch r.Verdict {
	case Pass:
		if mild > 0 {
			return fmt.Sprintf("Conformant: none of %s fails, %d %s", plural(total, "requirement"), mild, only)
		}
		return fmt.Sprintf("Conformant: %s held or had nothing to judge", plural(total, "requirement"))
	case Fail:
		verb := "fail"
		if fail == 1 {
			verb = "fails"
		}
		text := fmt.Sprintf("Not conformant: %d of %s %s", fail, plural(total, "requirement"), verb)
		if mild > 0 {
			text += fmt.Sprintf(", %d more %s", mild, only)
		}
		return text
	}
	return "Could not judge"
}

// countText counts cases by verdict as people read it.
func (r *Report) countText() string {
	counts := map[Verdict]int{}
	for _, q := range r.Requirements {
		for _, c := range q.Cases {
			counts[Label(c.Verdict, c.Breaks(q.Severity))]++
		}
	}
	var parts []string
	for _, v := range slices.Insert(Verdicts(), slices.Index(order, Blocked), should) {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// findingText counts findings by severity, "" for none.
func (r *Report) findingText() string {
	counts := map[string]int{}
	for _, q := range r.Requirements {
		for _, f := range q.Findings {
			counts[f.Severity]++
		}
	}
	var parts []string
	for _, severity := range []string{must, should} {
		if n := counts[severity]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, severity))
		}
	}
	return strings.Join(parts, ", ")
}

// writers are the files that Write makes; the event stream is written while the
// run goes on.
var writers = []struct {
	name  string
	write func(*Report) ([]byte, error)
}{
	{"report.json", (*Report).JSON},
	{"junit.xml", (*Report).JUnit},
	{"report.md", (*Report).Markdown},
}

// EventsFile is the name of the event stream in an output folder.
const EventsFile = "events.jsonl"

// Clear removes the reports of an earlier run from a folder, so that a run that
// is killed leaves none that looks like its own.
func Clear(dir string) error {
	for _, w := range writers {
		if err := os.Remove(filepath.Join(dir, w.name)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// Write writes every format into a folder. Each file appears whole or not at
// all.
func (r *Report) Write(dir string) error {
	for _, w := range writers {
		data, err := w.write(r)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		if err := writeWhole(filepath.Join(dir, w.name), data); err != nil {
			return err
		}
	}
	return nil
}

func writeWhole(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".proofplane-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the write's own error is the one to tell
	}
	return err
}
