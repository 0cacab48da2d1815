package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"proofplane/fixtures/faults"
	"proofplane/suites"
	"proofplane/suites/prover"
)

func proveCommand() *cobra.Command {
	var only prover.Selection
	var workers int
	var output string
	cmd := &cobra.Command{
		Use:   "prove",
		Short: "Show that every requirement can fail, and fails for its own reason only",
		Long: `Show that every requirement can fail, and fails for its own reason only.

A check that cannot go red proves nothing. So the product carries seeded faults:
each breaks the built-in reference platform in one way and names the
requirements that must notice. All requirements are judged on the platform as it
is, where all must be green, and then with each fault in it. A requirement that
a fault names must be red there (caught; missed otherwise), and no other may be
(stray). A requirement that no fault turns red is not proven.

The faults are folders below fixtures/faults, see fault.yaml in any of them.
With --requirement only that is judged, on every fault: those that name it must
turn it red, the others must not. With --fault only that fault is tried.

Exit codes: 0 all is proven; 1 something is missed, stray, or has no fault;
2 bad usage; 3 something could not be judged: the platform is not green, a fault
cannot be laid over it, a check broke, or the run was stopped.`,
		Example: `  # All faults, all requirements
  proofplane prove

  # One fault: what finds it, and where
  proofplane prove --fault svc-02-hangs-on-hosts --output json

  # A requirement that was changed
  proofplane prove --requirement SVC-02`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "table" && output != "json" {
				return usage(fmt.Errorf("--output %q: use table or json", output))
			}
			if workers < 1 {
				return usage(fmt.Errorf("--workers %d: use 1 or more", workers))
			}
			all, err := faults.All()
			if err != nil {
				return &exitError{exitNotJudged, oneLine(err)}
			}
			g, err := prover.Prove(cmd.Context(), suites.Catalog(), all, only, workers, func(line string) {
				fmt.Fprintln(cmd.ErrOrStderr(), line)
			})
			var bad *prover.UsageError
			switch {
			case errors.As(err, &bad):
				return usage(err)
			case err != nil && cmd.Context().Err() != nil:
				return &exitError{exitNotJudged, fmt.Errorf("interrupted, so nothing is proven: %w", err)}
			case err != nil:
				return &exitError{exitNotJudged, oneLine(err)}
			}
			write := g.Table
			if output == "json" {
				write = g.JSON
			}
			if err := write(cmd.OutOrStdout()); err != nil {
				return &exitError{exitNotJudged, err}
			}
			switch g.Verdict {
			case prover.Proven:
				return nil
			case prover.Error:
				return &exitError{code: exitNotJudged}
			}
			return &exitError{code: exitNotConformant}
		},
	}
	cmd.Flags().StringSliceVar(&only.Faults, "fault", nil, "only these faults, by id")
	cmd.Flags().StringSliceVar(&only.Requirements, "requirement", nil, "only these requirements, by id")
	cmd.Flags().IntVar(&workers, "workers", runtime.GOMAXPROCS(0), "trees judged at a time")
	cmd.Flags().StringVar(&output, "output", "table", "table or json")
	return cmd
}

// oneLine is an error of many as one line.
func oneLine(err error) error { return errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")) }
