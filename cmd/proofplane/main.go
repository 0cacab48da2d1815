// Command proofplane judges a Kubernetes platform's source tree.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"

	"proofplane/suites/runner"
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

func main() {
	runner.TuneMemory()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program: it returns the exit code. The first signal ends the work
// that goes on in good order, the second one kills.
func run(args []string, stdout, stderr io.Writer) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	defer func() {
		if r := recover(); r != nil {
			tell(stderr, fmt.Errorf("this is a defect of proofplane: %v", r))
			code = exitNotJudged
		}
	}()
	root := command()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return exitConformant
	case errors.As(err, &exit):
		if exit.err != nil {
			tell(stderr, exit.err)
		}
		return exit.code
	}
	// What cobra itself refuses: unknown commands, flags and arguments.
	tell(stderr, fmt.Errorf("%w: see `proofplane --help`", err))
	return exitUsage
}

var breaks = regexp.MustCompile(`\s*\n\s*`)

// tell writes an error as one line, without control characters.
func tell(w io.Writer, err error) {
	text := breaks.ReplaceAllString(strings.TrimSpace(err.Error()), " ")
	fmt.Fprintln(w, "proofplane:", strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return unicode.ReplacementChar
		}
		return c
	}, text))
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
	root.AddCommand(runCommand(), listCommand(), explainCommand(), proveCommand(), assetsCommand(), doctorCommand(), versionCommand())
	return root
}
