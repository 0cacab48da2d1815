package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"proofplane/fixtures/platform"
	"proofplane/reports"
)

// asProgram makes the test binary the program itself, for tests that need a
// process of their own.
const asProgram = "PROOFPLANE_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// outcome is what a call of the program gave.
type outcome struct {
	code           int
	stdout, stderr string
}

func call(args ...string) outcome {
	var out, err bytes.Buffer
	code := run(args, &out, &err)
	return outcome{code, out.String(), err.String()}
}

// refused checks that a call ended with one line that names what is wrong and
// says what to do.
func (o outcome) refused(t *testing.T, code int, parts ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d", o.code, code)
	}
	if o.stdout != "" {
		t.Errorf("stdout = %q, want nothing", o.stdout)
	}
	if !strings.HasPrefix(o.stderr, "proofplane: ") || strings.Count(o.stderr, "\n") != 1 || !strings.HasSuffix(o.stderr, "\n") {
		t.Errorf("stderr = %q, want one line that begins with proofplane:", o.stderr)
	}
	for _, p := range parts {
		if !strings.Contains(o.stderr, p) {
			t.Errorf("stderr = %q, want %q in it", o.stderr, p)
		}
	}
}

// judged runs on a tree and returns the report. Whatever is wrong with a tree,
// the output holds no trace of the program's inside.
func judged(t *testing.T, args ...string) (*reports.Report, outcome) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "report")
	o := call(append([]string{"run", "--quiet", "--out", dir}, args...)...)
	for _, bad := range []string{"panic:", "goroutine ", ".go:"} {
		if strings.Contains(o.stdout+o.stderr, bad) {
			t.Errorf("the output holds %q:\n%s%s", bad, o.stdout, o.stderr)
		}
	}
	return readReport(t, dir), o
}

func readReport(t *testing.T, dir string) *reports.Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := &reports.Report{}
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatalf("report.json: %v", err)
	}
	return r
}

// small is a tree of two charts that render.
func small() map[string]string {
	return map[string]string{
		"packages/apps/good/Chart.yaml":             "apiVersion: v2\nname: good\nversion: 1.0.0\n",
		"packages/apps/good/values.yaml":            "color: red\n",
		"packages/apps/good/templates/one.yaml":     "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  color: {{ .Values.color | quote }}\n",
		"packages/system/other/Chart.yaml":          "apiVersion: v2\nname: other\nversion: 1.0.0\n",
		"packages/system/other/templates/one.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: other\n",
		"packages/system/good-rd/Chart.yaml":        "apiVersion: v2\nname: good-rd\nversion: 1.0.0\n",
		"packages/system/good-rd/cozyrds/good.yaml": "apiVersion: cozystack.io/v1alpha1\nkind: ApplicationDefinition\nmetadata:\n  name: good\nspec:\n  application:\n    kind: Good\n    plural: goods\n    singular: good\n    openAPISchema: '{}'\n  release:\n    prefix: good-\n",
	}
}

// with returns small with some files on top.
func with(files map[string]string) map[string]string {
	out := small()
	for p, text := range files {
		out[p] = text
	}
	return out
}

// write writes files below dir.
func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for p, text := range files {
		p = filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// reference writes the reference platform to dir, each file through edit.
func reference(t *testing.T, dir string, edit func(file, text string) string) string {
	t.Helper()
	fsys, err := platform.FS()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, p)
		files[p] = edit(p, string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return write(t, dir, files)
}

// program puts a program named proofplane into a folder and returns the folder.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec %s \"$@\"\n", asProgram, reports.Quote(self))
	if err := os.WriteFile(filepath.Join(dir, "proofplane"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
