package reports

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"
)

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
