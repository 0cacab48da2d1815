package prover

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// summary is what a row says in one line.
func (r *Row) summary() string {
	if r.Err != "" {
		return "error: " + r.Err
	}
	var parts []string
	for _, o := range []Outcome{Caught, Missed, Stray, Unjudged} {
		if ids := r.of(o); len(ids) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", o, strings.Join(ids, " ")))
		}
	}
	if len(parts) == 0 && r.Twin != "" {
		parts = []string{"harmless twin of " + r.Twin + ": nothing is red, as it should be"}
	} else if len(parts) == 0 {
		parts = []string{"nothing that was asked for is red, as it should be"}
	}
	return fmt.Sprintf("%s (%s)", strings.Join(parts, "; "), round(time.Duration(r.Nanoseconds)))
}

// JSON writes the grid as one JSON object.
func (g *Grid) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	enc.SetEscapeHTML(false)
	return enc.Encode(g)
}

// Table writes the grid for people: a line for each fault, what is wrong, and a
// line for each requirement.
func (g *Grid) Table(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "FAULT\tNAMES\tCAUGHT BY\tSTRAY\tVERDICT")
	proven := 0
	for _, r := range g.Rows {
		if r.Verdict == Proven {
			proven++
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", r.Fault, r.names(), ids(r.of(Caught)), ids(r.of(Stray)), r.Verdict)
	}
	fmt.Fprintln(tw)
	fmt.Fprintln(tw, "REQUIREMENT\tTURNED RED BY")
	for _, c := range g.Requirements {
		fmt.Fprintf(tw, "%s\t%s\n", c.Requirement, ids(c.Faults))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	for _, r := range g.Rows {
		if r.Verdict == Proven {
			continue
		}
		fmt.Fprintf(&b, "\n%s: %s\n", r.Fault, r.Name)
		if r.Err != "" {
			fmt.Fprintf(&b, "  error: %s\n", r.Err)
		}
		for _, c := range r.Cells {
			switch c.Outcome {
			case Missed:
				fmt.Fprintf(&b, "  missed by %s: %s\n", c.Requirement, c.Reason)
			case Unjudged:
				fmt.Fprintf(&b, "  %s could not judge: %s\n", c.Requirement, c.Reason)
			case Stray:
				for _, f := range c.Findings {
					fmt.Fprintf(&b, "  stray %s: %s: %s\n", c.Requirement, f.Place, f.Message)
				}
			}
		}
	}
	for _, id := range g.Unproven {
		fmt.Fprintf(&b, "\n%s: no fault turns it red\n", id)
	}
	red := 0
	for _, c := range g.Requirements {
		if len(c.Faults) > 0 {
			red++
		}
	}
	fmt.Fprintf(&b, "\n%s: %d of %d faults, %d of %d requirements\n", strings.ToUpper(string(g.Verdict)), proven, len(g.Rows), red, len(g.Requirements))
	_, err := io.WriteString(w, b.String())
	return err
}

// names are the requirements that a fault names, with the severity where it is
// should, or what it is a twin of.
func (r *Row) names() string {
	if r.Twin != "" {
		return "(twin of " + r.Twin + ")"
	}
	var out []string
	for _, n := range r.Names {
		if slices.Contains(r.Should, n) {
			n += "(should)"
		}
		out = append(out, n)
	}
	return ids(out)
}

func ids(list []string) string {
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, " ")
}
