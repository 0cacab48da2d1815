package reports

import (
	"fmt"
	"io"
	"strings"
)

// Terminal writes the summary that a run ends with: what failed and where, then
// one line for the whole. Colour is used when color is set. Long lists end
// after limit findings a requirement; 0 shows all.
func (r *Report) Terminal(w io.Writer, color bool, limit int) error {
	p := &painter{w: w, color: color}
	for _, q := range r.Requirements {
		if q.Verdict == Pass {
			continue
		}
		p.line("")
		p.line("%s %s  %s", p.paint(q.Verdict, strings.ToUpper(string(q.Verdict))), q.ID, q.Statement)
		for i, f := range q.Findings {
			if limit > 0 && i == limit {
				p.line("  … and %s: see report.md of --out, or --all", plural(len(q.Findings)-limit, "more finding"))
				break
			}
			head := f.Place
			if head == "" {
				head = f.Chart
			}
			if head != "" {
				p.line("  %s", head)
			}
			p.line("    %s", oneLine(f.Message))
			if f.Object != "" {
				p.line("    object  %s", f.Object)
			}
			if f.Want != "" {
				p.line("    wanted  %s", oneLine(f.Want))
			}
			p.line("    when    %s (%s)", f.When, plural(len(f.Cases), "case"))
			p.line("    again   %s", f.Command)
		}
		for i, u := range q.Unjudged {
			if limit > 0 && i == limit {
				p.line("  … and %s", plural(len(q.Unjudged)-limit, "more reason"))
				break
			}
			p.line("  %s, %s: %s", u.Verdict, plural(u.Cases, "case"), oneLine(u.Reason))
			if u.Verdict == Error || u.Verdict == Blocked {
				p.line("    first   %s", u.Example)
			}
		}
	}
	p.line("")
	for _, b := range r.Subject.Problems {
		p.line("%s %s: %s", p.paint(Error, "not readable"), b.Place, oneLine(b.Message))
	}
	if r.Incomplete != "" {
		p.line("%s %s", p.paint(Error, "incomplete:"), r.Incomplete)
	}
	p.line("%s  %s", p.paint(r.Verdict, r.headline()), r.Subject.String())
	p.line("cases: %s", r.countText())
	return p.err
}

type painter struct {
	w     io.Writer
	color bool
	err   error
}

// painted is text that may hold escape sequences of our own.
type painted string

// line writes a line. Control characters in strings, as a tree may hold them,
// do not reach the terminal.
func (p *painter) line(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = clean(s)
		}
	}
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *painter) paint(v Verdict, text string) painted {
	if !p.color {
		return painted(text)
	}
	code := "33"
	switch v {
	case Pass:
		code = "32"
	case Fail, Error, Expired, Fixed:
		code = "31"
	case Skipped:
		code = "36"
	}
	return painted("\x1b[1;" + code + "m" + text + "\x1b[0m")
}
