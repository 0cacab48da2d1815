package reports

import (
	"fmt"
	"strings"
)

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
