package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"proofplane/reports"
	"proofplane/suites"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
)

func explainCommand() *cobra.Command {
	var tf treeFlags
	cmd := &cobra.Command{
		Use:   "explain ID | CASE",
		Short: "Say what a requirement means, how it is judged, and what to do when it fails",
		Long: `Say what a requirement means, how it is judged, and what to do when it fails.

Of a case, which is named by its id or its full name, it also says the settings
and the command that judges it alone. The tree is that which the case is of.`,
		Example: `  proofplane explain SVC-02
  proofplane explain --tree ~/src/cozystack SVC-02#3f9a1c7e`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			if runner.IsCase(args[0]) {
				return explainCase(w, &tf, args[0])
			}
			for _, r := range suites.Catalog() {
				if strings.EqualFold(r.ID, args[0]) {
					return explain(w, r)
				}
			}
			return usage(fmt.Errorf("there is no requirement %q: `proofplane list` shows those there are", args[0]))
		},
	}
	tf.add(cmd)
	return cmd
}

func explain(w io.Writer, r *requirement.Requirement) error {
	var tiers []string
	for _, t := range r.Tiers {
		tiers = append(tiers, string(t))
	}
	_, err := fmt.Fprintf(w, "%s (%s; tiers %s)\n\n%s\n\nOrigin\n%s\n\nSituations\n%s\n\nHow it is judged\n%s\n\nWhen it fails\n%s\n",
		r.ID, r.Severity, strings.Join(tiers, ", "), wrap(r.Statement), wrap(r.Origin), wrap(r.Axes), wrap(r.How), wrap(r.Fix))
	return err
}

// explainCase finds a case in a tree and says what it judges.
func explainCase(w io.Writer, tf *treeFlags, name string) error {
	env, err := tf.load()
	if err != nil {
		return err
	}
	plan, err := (&selectFlags{cases: []string{name}}).plan(env)
	if err != nil {
		return err
	}
	p := plan[0]
	if p.Err != nil {
		return &exitError{exitNotJudged, fmt.Errorf("%s: %w", p.ID, p.Err)}
	}
	c := p.Cases[0]
	if err := explain(w, c.Requirement); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nCase %s of %s\n", c.ID(), plain(env.Tree.Source.Name))
	for _, s := range c.Settings() {
		fmt.Fprintf(&b, "  %s=%s\n", plain(s.Axis), plain(s.Value))
	}
	fmt.Fprintf(&b, "\nTo judge it alone\n  %s --case %s\n", tf.command(), reports.Quote(c.ID()))
	_, err = io.WriteString(w, b.String())
	return err
}

// plain writes a word of a tree so that it is one line without control
// characters.
func plain(s string) string {
	if strings.IndexFunc(s, unicode.IsControl) >= 0 {
		return strconv.Quote(s)
	}
	return s
}

// wrap breaks a text at 78 columns and indents it.
func wrap(text string) string {
	var b strings.Builder
	col := 0
	for _, w := range strings.Fields(text) {
		switch {
		case col == 0:
			b.WriteString("  ")
			col = 2
		case col+1+len(w) > 78:
			b.WriteString("\n  ")
			col = 2
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(w)
		col += len(w)
	}
	return b.String()
}
