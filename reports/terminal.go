package reports

import (
	"fmt"
	"io"
	"strings"
)

// View says how a report is shown on a terminal.
type View struct {
	Color bool
	// All shows every finding and reason; otherwise a requirement shows the first
	// ones, and where the rest is.
	All bool
	// File is the report.md that was written, empty where none was.
	File string
}

// What a requirement shows where not all is asked for.
const (
	maxFindings  = 10
	maxReasons   = 5
	maxInstances = 3
)

// Terminal writes the summary that a run ends with: what failed and where, then
// some lines for the whole.
func (r *Report) Terminal(w io.Writer, v View) error {
	p := &page{w: w, View: v}
	for _, q := range r.Requirements {
		if q.Verdict == Pass {
			continue
		}
		p.line("")
		label := q.label()
		p.text(p.paint(label, strings.ToUpper(string(label)))+painted(" "+oneLine(q.ID)+"  "), "  ", q.Statement)
		p.findings(q)
		p.reasons(q)
	}
	p.line("")
	for _, b := range r.Subject.Problems {
		p.text(p.paint(Error, "not readable")+" ", "  ", b.Place+": "+b.Message)
	}
	if r.Incomplete != "" {
		p.text(p.paint(Error, "incomplete:")+" ", "  ", r.Incomplete)
	}
	p.text(p.paint(r.Verdict, r.headline()), "  ", "")
	p.text("tree: ", "  ", r.Subject.String())
	if text := r.findingText(); text != "" {
		p.line("findings: " + text)
	}
	p.line("cases: " + r.countText())
	return p.err
}

// findings shows what is wrong with a requirement.
func (p *page) findings(q *RequirementOf) {
	for i, f := range q.Findings {
		if !p.All && i == maxFindings {
			p.text("  ", "    ", "… and "+plural(len(q.Findings)-i, "more finding")+": see "+p.rest())
			return
		}
		if head := f.head(); head != "" {
			p.text("  ", "    ", head)
		}
		lead := painted("    ")
		if f.Severity == should {
			lead += p.paint(should, "should:") + " "
		}
		p.text(lead, "    ", f.Message)
		p.entry("object", f.Object)
		p.entry("through", f.Through)
		p.entry("also", alsoText(f.Also))
		p.entry("wanted", f.Want)
		p.entry("when", f.when(short))
		p.command("    again   ", f.Command)
	}
}

// reasons shows why cases of a requirement were not judged. Beside findings only
// what could not be judged is worth more than a number.
func (p *page) reasons(q *RequirementOf) {
	shown, aside := q.Unjudged, map[Verdict]int{}
	if !p.All && len(q.Findings) > 0 {
		shown = nil
		for _, u := range q.Unjudged {
			if u.Verdict == Error {
				shown = append(shown, u)
			} else {
				aside[u.Verdict] += u.Cases
			}
		}
	}
	for i, u := range shown {
		if !p.All && i == maxReasons {
			p.text("  ", "    ", "… and "+plural(len(shown)-i, "more reason")+": see "+p.rest())
			break
		}
		p.text("  ", "    ", fmt.Sprintf("%s, %s: %s", u.Verdict, plural(u.Cases, "case"), u.Reason))
		if u.Verdict != Skipped {
			name := u.ID
			if name == "" {
				name = u.Example
			}
			p.entry("first", name)
		}
	}
	var parts []string
	for _, v := range []Verdict{Blocked, Skipped} {
		if n := aside[v]; n > 0 {
			parts = append(parts, plural(n, "case")+" "+string(v))
		}
	}
	if len(parts) > 0 {
		p.text("  ", "    ", strings.Join(parts, ", ")+": see "+p.rest())
	}
}

// rest says where all of a list is.
func (p *page) rest() string {
	if p.File != "" {
		return p.File + ", or --all"
	}
	return "--all, or report.md of --out"
}

// head is the place of a finding as far as it is known.
func (i Instance) head() string {
	if i.Place != "" {
		return i.Place
	}
	return i.Chart
}

// head is the place of a finding as far as it is known.
func (f Finding) head() string { return f.Instance().head() }

// String is an instance within a line.
func (i Instance) String() string {
	switch head := i.head(); {
	case i.Object == "":
		return head
	case head == "":
		return i.Object
	default:
		return head + " (" + i.Object + ")"
	}
}

// alsoText names the first of further instances.
func alsoText(also []Instance) string {
	if len(also) == 0 {
		return ""
	}
	var names []string
	for _, i := range also[:min(len(also), maxInstances)] {
		names = append(names, i.String())
	}
	text := fmt.Sprintf("%d more: %s", len(also), strings.Join(names, ", "))
	if more := len(also) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// maxValue is the longest value of an axis on a terminal; with quotes it has two
// characters more.
const maxValue = 38

// short cuts a long value.
func short(value string) string {
	if rs := []rune(value); len(rs) > maxValue {
		return string(rs[:maxValue-1]) + "…"
	}
	return value
}
