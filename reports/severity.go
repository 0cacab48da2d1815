package reports

import (
	"cmp"
	"slices"
)

// label is the verdict as people read it: a requirement that fails in nothing
// that must hold is "should".
func (q *RequirementOf) label() Verdict { return Label(q.Verdict, q.Breaks) }

// Label is a verdict as people read it: a failure that breaks nothing that must
// hold is "should", which is no verdict of a report.
func Label(v Verdict, breaks bool) Verdict {
	if v.fails() && !breaks {
		return should
	}
	return v
}

// fails says whether a verdict is that of a requirement that does not hold.
func (v Verdict) fails() bool { return v == Fail || v == Fixed || v == Expired }

// Breaks says whether a case fails in what must hold. severity is that of its
// requirement, which a finding has that states none.
func (c Case) Breaks(severity string) bool {
	if !c.Verdict.fails() {
		return false
	}
	return len(c.Findings) == 0 && severity == must ||
		slices.ContainsFunc(c.Findings, func(f Finding) bool { return cmp.Or(f.Severity, severity) == must })
}

// The severities: must is that of what breaks conformance.
const (
	must   = "must"
	should = "should"
)
