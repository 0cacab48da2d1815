package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"

	"proofplane/reports"
)

func TestBadUsageIsOneLine(t *testing.T) {
	tree := write(t, t.TempDir(), small())
	file := filepath.Join(tree, "packages/apps/good/Chart.yaml")
	repo := write(t, t.TempDir(), small())
	commit(t, repo)
	empty := t.TempDir()
	for _, tc := range []struct {
		name  string
		args  []string
		parts []string
	}{
		{"no such command", []string{"rnu"}, []string{`"rnu"`, "--help"}},
		{"no such flag", []string{"run", "--tre", tree}, []string{"--tre", "--help"}},
		{"an argument", []string{"run", tree}, []string{tree, "--help"}},
		{"tree is not there", []string{"run", "--tree", tree + "/none"}, []string{tree + "/none: no such file", "--tree"}},
		{"tree is a file", []string{"run", "--tree", file}, []string{file + ": is not a directory", "--tree"}},
		{"tree is no platform", []string{"run", "--tree", empty}, []string{"not a platform tree", "packages/apps/*", "--tree"}},
		{"tree is empty text", []string{"run", "--tree", ""}, []string{"--tree is empty"}},
		{"revision is empty text", []string{"run", "--tree", repo, "--rev", ""}, []string{"--rev is empty"}},
		{"unknown revision", []string{"run", "--tree", repo, "--rev", "nonsense"}, []string{`revision "nonsense" is not known`, "--rev"}},
		{"revision without tree", []string{"run", "--rev", "HEAD"}, []string{"--rev needs --tree"}},
		{"revision of no repository", []string{"run", "--tree", tree, "--rev", "HEAD"}, []string{"needs a git repository", "--tree"}},
		{"unknown platform", []string{"run", "--platform", "other"}, []string{`"other"`, "cozystack"}},
		{"platform that climbs", []string{"run", "--platform", "../cozystack"}, []string{"--platform"}},
		{"unknown tier", []string{"run", "--tier", "moon"}, []string{`"moon"`, "render"}},
		{"no worker", []string{"run", "--workers", "0"}, []string{"--workers 0", "1 or more"}},
		{"fewer workers", []string{"run", "--workers", "-3"}, []string{"--workers -3"}},
		{"unknown requirement", []string{"run", "--requirement", "SVC-99"}, []string{`"SVC-99"`, "proofplane list"}},
		{"unknown family", []string{"run", "--family", "abc"}, []string{`"abc"`, "svc"}},
		{"unknown chart", []string{"run", "--chart", "abc"}, []string{`"abc"`, "apps/redis"}},
		{"part of a chart's name", []string{"run", "--chart", "dis"}, []string{`"dis"`}},
		{"unknown axis", []string{"run", "--axis", "abc=1"}, []string{`"abc"`, "list --cases"}},
		{"unknown value of an axis", []string{"run", "--axis", "chart=abc"}, []string{`"abc"`, "list --cases"}},
		{"axis without value", []string{"run", "--axis", "chart"}, []string{"axis=value"}},
		{"unknown case", []string{"run", "--case", "SVC-01/chart=abc"}, []string{`"SVC-01/chart=abc"`, "list --cases"}},
		{"unknown id of a case", []string{"run", "--case", "SVC-01#00000000"}, []string{`"SVC-01#00000000"`, "list --cases"}},
		{"id of a case cut short", []string{"run", "--case", "SVC-01#12345"}, []string{`"SVC-01#12345"`, "6 to 8 digits"}},
		{"case of an unknown requirement", []string{"run", "--case", "abc"}, []string{`"abc"`, "proofplane list"}},
		{"filters that leave nothing", []string{"run", "--requirement", "ETCD-01", "--chart", "basics"}, []string{"no case"}},
		{"output form", []string{"list", "--output", "yaml"}, []string{`"yaml"`, "table or json"}},
		{"explain nothing", []string{"explain"}, []string{"--help"}},
		{"explain the unknown", []string{"explain", "SVC-99"}, []string{`"SVC-99"`, "proofplane list"}},
		{"profile into nowhere", []string{"run", "--cpuprofile", filepath.Join(empty, "no/where")}, []string{"--cpuprofile", "no/where"}},
	} {
		t.Run(tc.name, func(t *testing.T) { call(tc.args...).refused(t, exitUsage, tc.parts...) })
	}
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{file, filepath.Join(file, "below")} {
		call("run", "--out", out).refused(t, exitUsage, "--out", file, "name a folder")
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "mine" {
		t.Errorf("the file in the way is now %q, %v", data, err)
	}
	// A folder where a report goes.
	out := write(t, t.TempDir(), map[string]string{"report.json/keep": "mine"})
	call("run", "--out", out).refused(t, exitUsage, "--out", "report.json")
}

// What ends before the first case leaves nothing that looks like a report, that
// of an earlier run included.
func TestNoReportOfARunThatDidNotBegin(t *testing.T) {
	out := t.TempDir()
	if o := call("run", "--quiet", "--out", out, "--family", "grd"); o.code != exitConformant {
		t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	call("run", "--out", out, "--requirement", "SVC-99").refused(t, exitUsage)
	if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// A part of the tree that is broken is told with its place; the other charts
// are judged.
func TestBrokenPartsOfATree(t *testing.T) {
	const good = "packages/apps/good/"
	big := func(size int64) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, good+"values.yaml"), size); err != nil {
				t.Fatal(err)
			}
		}
	}
	link := func(target, name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name    string
		files   map[string]string
		change  func(*testing.T, string)
		code    int
		place   string
		message string
		failing bool // a case of VAL-02 fails at the place
	}{
		{name: "Chart.yaml", files: map[string]string{good + "Chart.yaml": "apiVersion: v2\nname: [\n"}, code: 1, place: good + "Chart.yaml:2", message: "did not find", failing: true},
		{name: "Chart.yaml without name", files: map[string]string{good + "Chart.yaml": "apiVersion: v2\n"}, code: 1, place: good + "Chart.yaml", message: "name is missing", failing: true},
		{name: "template that does not parse", files: map[string]string{good + "templates/one.yaml": "apiVersion: v1\nkind: {{ if }}\n"}, code: 1, place: good + "templates/one.yaml:2", message: "missing value for if", failing: true},
		{name: "template that breaks", files: map[string]string{good + "templates/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {{ .Values.a.b.c }}\n"}, code: 1, place: good + "templates/one.yaml:4", message: "nil pointer", failing: true},
		{name: "template that calls itself", files: map[string]string{good + "templates/one.yaml": "{{ define \"x\" }}{{ include \"x\" . }}{{ end }}\n{{ include \"x\" . }}\n"}, code: 1, place: good + "templates/one.yaml:1", message: "", failing: true},
		{name: "values", files: map[string]string{good + "values.yaml": "a: 1\nb: c: d\n"}, code: 1, place: good + "values.yaml:2", message: "mapping values", failing: true},
		{name: "values that are no mapping", files: map[string]string{good + "values.yaml": "- a\n- b\n"}, code: 1, place: good + "values.yaml", message: "", failing: true},
		{name: "schema of values", files: map[string]string{good + "values.schema.json": "{\n \"a\": ,\n}"}, code: 1, place: good + "values.schema.json:2", message: "invalid character", failing: true},
		{name: "dependency that is missing", files: map[string]string{good + "Chart.yaml": "apiVersion: v2\nname: good\nversion: 1.0.0\ndependencies:\n- name: lost\n  version: 1.0.0\n"}, code: 1, place: good + "Chart.yaml", message: `dependency "lost"`, failing: true},
		{name: "values of 33 MiB", change: big(33 << 20), code: 1, place: good + "values.yaml", message: "too large: 33 MiB", failing: true},
		{name: "values of 100 MB", change: big(100_000_000), code: 1, place: good + "values.yaml", message: "too large: 95 MiB", failing: true},
		{name: "link that loops", change: link("loop", good+"loop"), code: 1, place: good + "loop", message: "symlink loop", failing: true},
		{name: "link to its own folder", change: link("..", good+"templates/up"), code: 1, place: good + "templates/up", message: "symlink loop", failing: true},
		{name: "link out of the tree", change: link("../../../../etc/passwd", good+"out"), code: 1, place: good + "out", message: "leaves the tree", failing: true},
		{name: "absolute link", change: link("/etc/passwd", good+"out"), code: 1, place: good + "out", message: "leaves the tree", failing: true},
		{name: "link to nothing", change: link("nothing", good+"out"), code: 1, place: good + "out", message: "does not exist: it leads to nothing", failing: true},
		{name: "definition", files: map[string]string{"packages/system/good-rd/cozyrds/good.yaml": "kind: ApplicationDefinition\nmetadata:\n  name: good\nspec:\n  application:\n    kind: Good\n    openAPISchema: |-\n      {\"type\":\n"}, place: "packages/system/good-rd/cozyrds/good.yaml:7", message: "openAPISchema of good is not JSON"},
		{name: "definition that is no YAML", files: map[string]string{"packages/system/good-rd/cozyrds/good.yaml": "kind: ApplicationDefinition\nmetadata: [\n"}, code: 3, place: "packages/system/good-rd/cozyrds/good.yaml:2", message: "did not find"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := write(t, t.TempDir(), with(tc.files))
			if tc.change != nil {
				tc.change(t, dir)
			}
			r, o := judged(t, "--tree", dir)
			if o.code == exitConformant || tc.code != 0 && o.code != tc.code {
				t.Errorf("exit code %d, want %d\n%s", o.code, tc.code, o.stdout)
			}
			told := false
			for _, p := range r.Subject.Problems {
				told = told || strings.HasPrefix(p.Place, tc.place) && strings.Contains(p.Message, tc.message)
			}
			val02 := requirementOf(t, r, "VAL-02")
			for _, f := range val02.Findings {
				told = told || strings.HasPrefix(f.Place, tc.place) && strings.Contains(f.Message, tc.message)
			}
			if !told || !strings.Contains(o.stdout, tc.place) {
				t.Errorf("nothing tells of %s: %q\n%s", tc.place, tc.message, o.stdout)
			}
			passed := func(chart string) bool {
				return slices.ContainsFunc(val02.Cases, func(c reports.Case) bool {
					return strings.HasPrefix(c.Name, "VAL-02/chart="+chart) && c.Verdict == reports.Pass
				})
			}
			if !passed("system/other") {
				t.Errorf("the other chart was not judged: %+v", val02.Cases)
			}
			if passed("apps/good") == tc.failing {
				t.Errorf("the chart passes: %v, want %v", !tc.failing, !tc.failing)
			}
		})
	}
}

func requirementOf(t *testing.T, r *reports.Report, id string) *reports.RequirementOf {
	t.Helper()
	for _, q := range r.Requirements {
		if q.ID == id {
			return q
		}
	}
	t.Fatalf("the report has no requirement %s", id)
	return nil
}

// A large file that no chart reads does not keep a tree from being judged.
func TestLargeFileOutsideOfCharts(t *testing.T) {
	dir := write(t, t.TempDir(), with(map[string]string{"docs/video": ""}))
	if err := os.Truncate(filepath.Join(dir, "docs/video"), 40<<20); err != nil {
		t.Fatal(err)
	}
	r, o := judged(t, "--tree", dir, "--requirement", "VAL-02")
	if o.code != exitConformant || r.Subject.Digest == "" {
		t.Errorf("exit code %d, digest %q\n%s%s", o.code, r.Subject.Digest, o.stdout, o.stderr)
	}
}

// A revision is judged as it was committed, whatever lies in the work tree.
func TestRevision(t *testing.T) {
	dir := write(t, t.TempDir(), small())
	commit(t, dir)
	write(t, dir, map[string]string{"packages/apps/good/templates/one.yaml": "{{ if }}"})
	if _, o := judged(t, "--tree", dir, "--requirement", "VAL-02"); o.code != exitNotConformant {
		t.Errorf("work tree: exit code %d", o.code)
	}
	r, o := judged(t, "--tree", dir, "--rev", "HEAD", "--requirement", "VAL-02")
	if o.code != exitConformant || len(r.Subject.Revision) != 40 || r.Subject.Asked != "HEAD" {
		t.Errorf("revision: exit code %d, subject %+v\n%s%s", o.code, r.Subject, o.stdout, o.stderr)
	}
}

func commit(t *testing.T, dir string) {
	t.Helper()
	repo, err := git.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	wt, err := repo.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if err := wt.AddGlob("."); err != nil {
		t.Fatal(err)
	}
	if _, err := wt.Commit("all", &git.CommitOptions{Author: &object.Signature{Name: "a", Email: "a@example.org", When: time.Unix(1, 0)}}); err != nil {
		t.Fatal(err)
	}
}
