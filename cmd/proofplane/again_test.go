package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// faulty makes one chart of the reference platform fail two requirements: an
// image that is not pinned, and a Service without a backend.
func faulty(file, text string) string {
	if file != "packages/apps/redis/templates/redis.yaml" {
		return text
	}
	text = regexp.MustCompile(`redis:8[^"]*`).ReplaceAllString(text, "redis:latest")
	return strings.Replace(text, "  selector:\n    {{- include \"cozy-lib.selector\" (list . \"primary\") | nindent 4 }}", "  selector:\n    app: nothing", 1)
}

// The command that a finding prints shows it again, and nothing else, whatever
// the folder is called.
func TestCommandOfAFindingShowsItAgain(t *testing.T) {
	parent := t.TempDir()
	dir := reference(t, filepath.Join(parent, "it's a $tree; `x` \"y\""), faulty)
	commit(t, dir)
	path := program(t) + string(os.PathListSeparator) + os.Getenv("PATH")
	for _, args := range [][]string{{"--tree", dir}, {"--tree", dir, "--rev", "HEAD", "--seed", "7"}} {
		r, o := judged(t, append(args, "--requirement", "SVC-01,VAL-08")...)
		if o.code != exitNotConformant {
			t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
		}
		seen := 0
		for _, q := range r.Requirements {
			for _, f := range q.Findings {
				seen++
				if !strings.Contains(o.stdout, f.Command) {
					t.Errorf("not shown: %s", f.Command)
				}
				out := filepath.Join(t.TempDir(), "again")
				cmd := exec.Command("sh", "-c", f.Command+` --quiet --out "$OUT"`)
				cmd.Env = append(os.Environ(), "PATH="+path, "OUT="+out)
				if text, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exitNotConformant {
					t.Errorf("%s\n%v\n%s", f.Command, err, text)
					continue
				}
				again := readReport(t, out)
				if len(again.Requirements) != 1 || len(again.Requirements[0].Cases) != 1 {
					t.Errorf("%s\njudges more than one case", f.Command)
					continue
				}
				q2 := again.Requirements[0]
				found := false
				for _, g := range q2.Findings {
					found = found || g.Fingerprint == f.Fingerprint && g.Place == f.Place && g.Message == f.Message
				}
				if q2.ID != q.ID || q2.Cases[0].Name != f.Cases[0] || !found {
					t.Errorf("%s\nshows %+v, want %+v", f.Command, q2.Findings, f.Finding)
				}
			}
		}
		if seen < 2 {
			t.Errorf("%d findings, want those of two requirements", seen)
		}
	}
}

// Equal inputs give equal reports, times left out, on any number of workers.
func TestReportsAreReproducible(t *testing.T) {
	dir := reference(t, t.TempDir(), faulty)
	times := regexp.MustCompile(`(?s) (?:time|timestamp)="[^"]*"|"timing": \{.*\}\n`)
	for name, args := range map[string][]string{"conformant": nil, "not conformant": {"--tree", dir}} {
		t.Run(name, func(t *testing.T) {
			var first map[string][]byte
			for _, workers := range []string{"1", "8"} {
				out := t.TempDir()
				if o := call(append([]string{"run", "--quiet", "--out", out, "--workers", workers}, args...)...); (o.code == exitConformant) != (args == nil) {
					t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
				}
				files := map[string][]byte{}
				for _, f := range []string{"report.json", "junit.xml", "report.md"} {
					data, err := os.ReadFile(filepath.Join(out, f))
					if err != nil {
						t.Fatal(err)
					}
					files[f] = times.ReplaceAll(data, nil)
				}
				if first == nil {
					first = files
					continue
				}
				for f, data := range files {
					if !bytes.Equal(data, first[f]) {
						t.Errorf("%s on %s workers differs from that on 1", f, workers)
					}
				}
			}
		})
	}
}
