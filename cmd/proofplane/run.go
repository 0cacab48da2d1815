package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"proofplane/reports"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
)

func runCommand() *cobra.Command {
	var tf treeFlags
	var sf selectFlags
	var out, cpu string
	var workers int
	var tiers []string
	var all, quiet bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Judge a tree and write a report",
		Long: `Judge a tree: every requirement in every situation that applies to it.

A finding is must or should, as its requirement says; only must breaks
conformance. A requirement with findings that are only should is shown as SHOULD.

Exit codes: 0 every must requirement holds; 1 one does not; 2 bad usage or a tree
that cannot be read; 3 something could not be judged, and nothing failed.`,
		Example: `  proofplane run
  proofplane run --tree ~/src/cozystack --out report/
  proofplane run --tree ~/src/cozystack --rev 9cb4f2922 --family svc
  proofplane run --tree ~/src/cozystack --requirement SVC-02 --axis etcd=none
  proofplane run --tree ~/src/cozystack --case SVC-02#3f9a1c7e`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, t := range tiers {
				if t != string(requirement.Render) {
					return usage(fmt.Errorf("--tier %q: this version judges the tier render", t))
				}
			}
			if workers < 1 {
				return usage(fmt.Errorf("--workers %d: use 1 or more", workers))
			}
			if cpu != "" {
				f, err := os.Create(cpu)
				if err != nil {
					return usage(fmt.Errorf("--cpuprofile: %w", err))
				}
				defer f.Close()
				if err := pprof.StartCPUProfile(f); err != nil {
					return err
				}
				defer pprof.StopCPUProfile()
			}
			var events io.Writer
			begun := false
			if out != "" {
				f, err := openOut(out)
				if err != nil {
					return usage(fmt.Errorf("--out: %w; name a folder that can be written", err))
				}
				defer func() {
					f.Close()
					if !begun {
						_ = os.Remove(f.Name()) // empty: what stopped the run is told
					}
				}()
				events = f
			}
			var env *requirement.Env
			var plan []*runner.Planned
			var run *reports.Run
			err := interruptible(cmd.Context(), func() (err error) {
				if env, err = tf.load(); err != nil {
					return err
				}
				if plan, err = sf.plan(env); err != nil {
					return err
				}
				run, err = opening(env, &tf, &sf)
				return err
			})
			if err != nil {
				return err
			}
			begun = true
			stream := reports.NewStream(events)
			stream.Emit(reports.Event{Run: run})
			p := newProgress(cmd.ErrOrStderr(), plan, quiet)
			err = runner.Run(cmd.Context(), env, plan, workers, func(e reports.Event) {
				stream.Emit(e)
				p.event(e)
			})
			p.end()
			stream.Emit(reports.Event{End: &reports.End{Interrupted: err != nil, Finished: time.Now().UTC()}})
			report, berr := reports.Build(stream.Events())
			if berr != nil {
				return &exitError{exitNotJudged, berr}
			}
			var werr error
			if out != "" {
				werr = errors.Join(stream.Err(), report.Write(out))
			}
			w := cmd.OutOrStdout()
			view := reports.View{Color: isTerminal(w), All: all}
			if out != "" {
				view.File = filepath.Join(out, "report.md")
			}
			if terr := report.Terminal(w, view); terr != nil {
				return &exitError{exitNotJudged, terr}
			}
			if werr != nil {
				return &exitError{exitNotJudged, fmt.Errorf("the report could not be written: %w", werr)}
			}
			if out != "" {
				fmt.Fprintf(w, "report: %s\n", view.File)
			}
			if code := report.ExitCode(); code != 0 {
				return &exitError{code: code}
			}
			return nil
		},
	}
	tf.add(cmd)
	sf.add(cmd)
	cmd.Flags().StringVar(&out, "out", "", "folder for report.json, junit.xml, report.md and events.jsonl; made if it is not there")
	cmd.Flags().StringSliceVar(&tiers, "tier", []string{string(requirement.Render)}, "tiers to judge on")
	cmd.Flags().IntVar(&workers, "workers", runtime.GOMAXPROCS(0), "cases judged at a time")
	cmd.Flags().BoolVar(&all, "all", false, "show every finding and every reason at the end, however many")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "no progress")
	cmd.Flags().StringVar(&cpu, "cpuprofile", "", "write a CPU profile to this file")
	return cmd
}

// interruptible runs f. When ctx ends first it returns at once, and f is left to
// the end of the program.
func interruptible(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- &exitError{exitNotJudged, fmt.Errorf("this is a defect of proofplane: %v", r)}
			}
		}()
		done <- f()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return &exitError{exitNotJudged, errors.New("interrupted before the first case: nothing was judged")}
	}
}

// openOut makes the output folder and begins the event stream in it. Reports of
// an earlier run go first.
func openOut(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := reports.Clear(dir); err != nil {
		return nil, err
	}
	return os.Create(filepath.Join(dir, reports.EventsFile))
}

// opening describes the run that begins.
func opening(env *requirement.Env, tf *treeFlags, sf *selectFlags) (*reports.Run, error) {
	t := env.Tree
	digest, err := t.Files.Digest(t.Files.Paths())
	if err != nil {
		return nil, usage(fmt.Errorf("tree %s: %w", t.Source.Name, err))
	}
	r := &reports.Run{
		Format: reports.Format, Tool: "proofplane " + version(), Platform: t.Profile.Name, Seed: tf.seed,
		Tiers: []string{string(requirement.Render)}, Filters: sf.asFlags(), Command: tf.command(), Started: time.Now().UTC(),
		Subject: reports.Subject{Tree: t.Source.Name, Revision: t.Source.Revision, Asked: t.Source.Requested, Digest: digest, Charts: len(t.Charts)},
		Components: []reports.Component{
			{Name: "charts", Real: true, Note: "of the tree"},
			{Name: "Helm", Real: true, Version: moduleVersion("helm.sh/helm/v3"), Note: "reads charts, merges values, switches dependencies"},
			{Name: "template engine", Note: "proofplane's own, held to Helm's byte for byte"},
			{Name: "cluster", Note: "lookups and API versions answered from a simulated state"},
			{Name: "Flux", Note: "values, release names and chart references resolved as helm-controller does"},
		},
	}
	for _, p := range t.Problems {
		r.Subject.Problems = append(r.Subject.Problems, reports.Problem{Place: p.Place, Message: p.Message})
	}
	return r, nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == ""
}

// progress shows how far a run is: a line that is rewritten on a terminal, a
// line for each requirement that is done otherwise.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	tty   bool
	quiet bool
	total int
	done  int
	fails int
	left  map[string]int
	worst map[string]reports.Verdict
	must  map[string]bool   // a case breaks what must hold
	of    map[string]string // severity
	last  time.Time
}

func newProgress(w io.Writer, plan []*runner.Planned, quiet bool) *progress {
	p := &progress{w: w, tty: isTerminal(w), quiet: quiet, left: map[string]int{}, worst: map[string]reports.Verdict{}, must: map[string]bool{}, of: map[string]string{}}
	for _, r := range plan {
		n := max(len(r.Cases), 1)
		p.left[r.ID] = n
		p.of[r.ID] = string(r.Severity)
		p.total += n
	}
	return p
}

func (p *progress) event(e reports.Event) {
	if e.Case == nil || p.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := e.Case
	p.done++
	if c.Verdict == reports.Fail || c.Verdict == reports.Error {
		p.fails++
	}
	p.left[c.Requirement]--
	p.must[c.Requirement] = p.must[c.Requirement] || c.Breaks(p.of[c.Requirement])
	if w, ok := p.worst[c.Requirement]; ok {
		p.worst[c.Requirement] = reports.Worst(w, c.Verdict)
	} else {
		p.worst[c.Requirement] = c.Verdict
	}
	switch {
	case p.tty && time.Since(p.last) > 100*time.Millisecond:
		p.last = time.Now()
		fmt.Fprintf(p.w, "\r\x1b[K%s, %d not passed, %s", p.count(), p.fails, c.Requirement)
	case !p.tty && p.left[c.Requirement] == 0:
		fmt.Fprintf(p.w, "%s %s (%s)\n", c.Requirement, strings.ToUpper(string(reports.Label(p.worst[c.Requirement], p.must[c.Requirement]))), p.count())
	}
}

// count says how many cases are done.
func (p *progress) count() string {
	if p.total == 1 {
		return fmt.Sprintf("%d/1 case", p.done)
	}
	return fmt.Sprintf("%d/%d cases", p.done, p.total)
}

func (p *progress) end() {
	if p.tty && !p.quiet {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
