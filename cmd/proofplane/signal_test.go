package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"proofplane/reports"
)

// slow is a tree with a chart that renders at once, and one that takes long:
// rounds times a thousand template actions.
func slow(t *testing.T, rounds string) string {
	return write(t, t.TempDir(), with(map[string]string{
		"packages/system/slow/Chart.yaml":         "apiVersion: v2\nname: slow\nversion: 1.0.0\n",
		"packages/system/slow/templates/one.yaml": "{{- range until " + rounds + " }}{{ range until 1000 }}{{ $x := add 1 2 }}{{ end }}{{ end }}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: slow\n",
	}))
}

// process is the program as a process of its own.
type process struct {
	*exec.Cmd
	out, temp      string // folders of the report, and for temporary files
	stdout, stderr bytes.Buffer
	ended          chan error
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{out: filepath.Join(t.TempDir(), "report"), temp: t.TempDir(), ended: make(chan error, 1)}
	p.Cmd = exec.Command(self, append(args, "--out", p.out)...)
	p.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+p.temp)
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.Wait() }()
	t.Cleanup(func() { _ = p.Process.Kill() }) // it has ended, or the test failed
	return p
}

// reachedSlow waits until only cases of the slow chart are left.
func (p *process) reachedSlow(t *testing.T, tree string) {
	t.Helper()
	quick := 0
	for _, l := range list(t, "--tree", tree, "--requirement", "VAL-02", "--cases") {
		for _, c := range l.Cases {
			if !strings.Contains(c, "chart=system/slow") {
				quick++
			}
		}
	}
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		data, err := os.ReadFile(filepath.Join(p.out, reports.EventsFile))
		if err == nil && bytes.Count(data, []byte(`{"case":`)) >= quick {
			return
		}
		select {
		case <-tick.C:
		case err := <-p.ended:
			t.Fatalf("the program ended before it was interrupted: %v\n%s%s", err, &p.stdout, &p.stderr)
		case <-deadline:
			t.Fatalf("less than %d cases were judged in a minute: events %q, %v\n%s", quick, data, err, &p.stderr)
		}
	}
}

func (p *process) wait(t *testing.T) syscall.WaitStatus {
	t.Helper()
	select {
	case err := <-p.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return p.ProcessState.Sys().(syscall.WaitStatus)
	case <-time.After(2 * time.Minute):
		t.Fatalf("the program has not ended two minutes after it was interrupted:\n%s%s", &p.stdout, &p.stderr)
	}
	panic("not reached")
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func TestInterruptedRunReportsWhatItKnows(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			tree := slow(t, "1000")
			p := start(t, "run", "--tree", tree, "--requirement", "VAL-02", "--workers", "1")
			p.reachedSlow(t, tree)
			if err := p.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if st := p.wait(t); !st.Exited() || st.ExitStatus() != exitNotJudged {
				t.Errorf("status %v, want exit code %d\n%s", st, exitNotJudged, &p.stderr)
			}
			want := regexp.MustCompile(`incomplete: the run was interrupted: \d+ of \d+ cases were judged`)
			if !want.Match(p.stdout.Bytes()) || !strings.Contains(p.stdout.String(), "Could not judge") {
				t.Errorf("stdout = %s\nwant %s", &p.stdout, want)
			}
			r := readReport(t, p.out)
			if !strings.Contains(r.Incomplete, "interrupted") || r.Verdict != reports.Error {
				t.Errorf("report: incomplete %q, verdict %s", r.Incomplete, r.Verdict)
			}
			if q := requirementOf(t, r, "VAL-02"); len(q.Cases) == 0 || len(q.Cases) >= q.Planned {
				t.Errorf("%d of %d cases were judged, want some", len(q.Cases), q.Planned)
			}
			junit, err := os.ReadFile(filepath.Join(p.out, "junit.xml"))
			if err != nil || !bytes.Contains(junit, []byte("interrupted")) {
				t.Errorf("junit.xml does not tell of it: %v", err)
			}
			if got := names(t, p.out); got != "events.jsonl junit.xml report.json report.md" {
				t.Errorf("folder of the report: %s", got)
			}
			if got := names(t, p.temp); got != "" {
				t.Errorf("temporary files that are left: %s", got)
			}
		})
	}
}

// A case that never ends keeps the program; one more signal ends it.
func TestSecondSignalKills(t *testing.T) {
	tree := slow(t, "10000000")
	p := start(t, "run", "--tree", tree, "--requirement", "VAL-02", "--workers", "1")
	p.reachedSlow(t, tree)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for sent := 1; ; sent++ {
		if err := p.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		select {
		case err := <-p.ended:
			st := p.ProcessState.Sys().(syscall.WaitStatus)
			if !st.Signaled() || st.Signal() != syscall.SIGINT {
				t.Errorf("ended with %v", err)
			}
			if sent < 2 {
				t.Error("the first signal killed")
			}
			if got := names(t, p.out); got != "events.jsonl" {
				t.Errorf("folder of the report: %s", got)
			}
			return
		case <-tick.C: // the first signal may not have arrived yet
		case <-deadline:
			t.Fatalf("%d signals did not end it", sent)
		}
	}
}
