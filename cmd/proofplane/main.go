// Command proofplane judges a Kubernetes platform's source tree.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitConformant    = 0
	exitNotConformant = 1
	exitUsage         = 2
	exitNotJudged     = 3
)

// exitError ends the program with a code; a message has been shown already
// when err is nil.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage marks bad input.
func usage(err error) error { return &exitError{exitUsage, err} }

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return exitConformant
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(os.Stderr, "proofplane:", exit.err)
		}
		return exit.code
	}
	// What cobra itself refuses: unknown commands, flags and arguments.
	fmt.Fprintf(os.Stderr, "proofplane: %v: see `proofplane --help`\n", err)
	return exitUsage
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "proofplane",
		Short: "Judge a Kubernetes platform's source tree",
		Long: `proofplane judges a Kubernetes platform before it ships. It reads the platform's
source tree, renders its real charts the way Flux does through a matrix of
situations, and says which requirements hold, which do not, in which situation,
and at which line of which chart. It needs no cluster, no registry and no
network.

Without --tree it judges the reference platform that is built into it.`,
		Example: `  # The reference platform, all requirements
  proofplane run

  # A checkout, and a revision of it without touching its work tree
  proofplane run --tree ~/src/cozystack
  proofplane run --tree ~/src/cozystack --rev v1.3.0 --out report/

  # One requirement on one chart
  proofplane run --tree ~/src/cozystack --requirement SVC-02 --chart kubernetes

  # What a requirement means and what to do about a failure
  proofplane explain SVC-02`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(runCommand(), listCommand(), explainCommand(), versionCommand())
	return root
}
