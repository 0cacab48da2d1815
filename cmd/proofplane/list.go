package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

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
	Cases     []string             `json:"cases,omitempty"` // names
	IDs       []string             `json:"ids,omitempty"`   // of these cases
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
						l.IDs = append(l.IDs, c.ID())
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
				for i, c := range l.Cases {
					fmt.Fprintf(tw, "\t\t\t\t%s %s\n", l.IDs[i], c)
				}
			}
			what := "requirements"
			if len(all) == 1 {
				what = "requirement"
			}
			fmt.Fprintf(tw, "%d %s\t\t\t%d\t%s\n", len(all), what, total, env.Tree.Source.Name)
			return tw.Flush()
		},
	}
	tf.add(cmd)
	sf.add(cmd)
	cmd.Flags().BoolVar(&cases, "cases", false, "name every case, by id and full name")
	cmd.Flags().StringVar(&output, "output", "table", "table or json")
	return cmd
}
