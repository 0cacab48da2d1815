package reports

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

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

// Quote makes a word safe for a POSIX shell, to which # is a comment only at the
// beginning of a word.
func Quote(s string) string {
	safe := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("@%+=:,./_-#", c)
	}
	if s != "" && s[0] != '#' && strings.IndexFunc(s, func(c rune) bool { return !safe(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
