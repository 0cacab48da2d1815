package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"proofplane/suites"
	"proofplane/suites/requirement"
)

type listed struct {
	ID        string               `json:"id"`
	Family    string               `json:"family"`
	Severity  requirement.Severity `json:"severity"`
	Tiers     []requirement.Tier   `json:"tiers"`
	Statement string               `json:"statement"`
	Count     int                  `json:"count"` // cases in this tree
	Skip      string               `json:"skip,omitempty"`
	Cases     []string             `json:"cases,omitempty"`
}

func listCommand() *cobra.Command {
	var tf treeFlags
	var sf selectFlags
	var cases bool
	var output string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List requirements, and the cases that a tree gives them",
		Example: `  proofplane list
  proofplane list --cases --requirement SVC-02
  proofplane list --tree ~/src/cozystack --output json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "table" && output != "json" {
				return usage(fmt.Errorf("--output %q: use table or json", output))
			}
			env, err := tf.load()
			if err != nil {
				return err
			}
			plan, err := sf.plan(env)
			if err != nil {
				return err
			}
			var all []listed
			total := 0
			for _, p := range plan {
				if p.Err != nil {
					return &exitError{exitNotJudged, fmt.Errorf("%s: %w", p.ID, p.Err)}
				}
				l := listed{ID: p.ID, Family: p.Family(), Severity: p.Severity, Tiers: p.Tiers, Statement: p.Statement, Count: len(p.Cases), Skip: p.Skip}
				total += l.Count
				for _, c := range p.Cases {
					if cases {
						l.Cases = append(l.Cases, c.Name())
					}
				}
				all = append(all, l)
			}
			w := cmd.OutOrStdout()
			if output == "json" {
				enc := json.NewEncoder(w)
				enc.SetIndent("", " ")
				return enc.Encode(all)
			}
			tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			fmt.Fprintln(tw, "ID\tSEVERITY\tTIERS\tCASES\tSTATEMENT")
			for _, l := range all {
				var tiers []string
				for _, t := range l.Tiers {
					tiers = append(tiers, string(t))
				}
				statement := l.Statement
				if l.Skip != "" {
					statement += " (nothing to judge: " + l.Skip + ")"
				}
				fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%s\n", l.ID, l.Severity, strings.Join(tiers, " "), l.Count, statement)
				for _, c := range l.Cases {
					fmt.Fprintf(tw, "\t\t\t\t%s\n", c)
				}
			}
			fmt.Fprintf(tw, "%d requirements\t\t\t%d\t%s\n", len(all), total, env.Tree.Source.Name)
			return tw.Flush()
		},
	}
	tf.add(cmd)
	sf.add(cmd)
	cmd.Flags().BoolVar(&cases, "cases", false, "name every case")
	cmd.Flags().StringVar(&output, "output", "table", "table or json")
	return cmd
}

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain ID",
		Short:   "Say what a requirement means, how it is judged, and what to do when it fails",
		Example: "  proofplane explain SVC-02",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, r := range suites.Catalog() {
				if !strings.EqualFold(r.ID, args[0]) {
					continue
				}
				var tiers []string
				for _, t := range r.Tiers {
					tiers = append(tiers, string(t))
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s (%s; tiers %s)\n\n%s\n\nOrigin\n%s\n\nSituations\n%s\n\nHow it is judged\n%s\n\nWhen it fails\n%s\n",
					r.ID, r.Severity, strings.Join(tiers, ", "), wrap(r.Statement), wrap(r.Origin), wrap(r.Axes), wrap(r.How), wrap(r.Fix))
				return err
			}
			return usage(fmt.Errorf("there is no requirement %q: `proofplane list` shows those there are", args[0]))
		},
	}
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
