package iso

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"proofplane/fixtures/platform"
	"proofplane/fixtures/tree"
	"proofplane/reports"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
)

// judged04 judges ISO-04 on a tree.
func judged04(t *testing.T, fsys fs.FS) []*reports.Case {
	t.Helper()
	profile, err := tree.LoadProfile(tree.DefaultProfile)
	if err != nil {
		t.Fatal(err)
	}
	files, src, err := tree.OpenFS(fsys, "test")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := tree.Load(files, src, profile)
	if err != nil {
		t.Fatal(err)
	}
	env := requirement.NewEnv(tr, 1)
	plan, err := runner.Plan(env, []*requirement.Requirement{ISO04}, runner.Filter{})
	if err != nil || plan[0].Err != nil {
		t.Fatal(err, plan[0].Err)
	}
	var out []*reports.Case
	for _, c := range plan[0].Cases {
		out = append(out, runner.Judge(context.Background(), env, c))
	}
	return out
}

func TestISO04Reference(t *testing.T) {
	fsys, err := platform.FS()
	if err != nil {
		t.Fatal(err)
	}
	cases := judged04(t, fsys)
	for _, c := range cases {
		if c.Verdict != reports.Pass {
			t.Errorf("%s: %s %s %v", c.Name, c.Verdict, c.Reason, c.Findings)
		}
	}
	if len(cases) != 4 {
		t.Errorf("%d cases", len(cases))
	}
}

// namespace04 renders the namespace of a tenant, below its parent's unless
// that is the root.
const namespace04 = `{{- $name := .Release.Name }}
{{- if ne .Release.Namespace "tenant-root" }}{{ $name = printf "%s-%s" .Release.Namespace (trimPrefix "tenant-" .Release.Name) }}{{ end }}
{{- $parent := lookup "v1" "Namespace" "" .Release.Namespace }}
apiVersion: v1
kind: Namespace
metadata:
  name: {{ $name }}
  labels:
    other: ""
    tenant.cozystack.io/{{ $name }}: ""
    LABELS
`

func TestISO04(t *testing.T) {
	for name, tt := range map[string]struct {
		labels string
		want   []string // of the cases by depth: pass, or a part of the message
	}{
		"from the parent": {"{{- range $k, $v := $parent.metadata.labels }}{{ if hasPrefix \"tenant.\" $k }}\n    {{ $k }}: {{ $v | quote }}{{ end }}{{ end }}", []string{"pass", "pass", "pass", "pass"}},
		"one level up":    {"tenant.cozystack.io/{{ .Release.Namespace }}: \"\"", []string{"pass", "lacks the ancestor label of tenant-root:", "lacks the ancestor label of tenant-root, tenant-a:", "tenant-root, tenant-a, tenant-a-b:"}},
		"one too many":    {"tenant.cozystack.io/tenant-root: \"\"\n    tenant.cozystack.io/x: \"\"", []string{"has the ancestor label of x", "", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			cases := judged04(t, fstest.MapFS{
				"packages/apps/tenant/Chart.yaml":         {Data: []byte("name: tenant\nversion: 0.0.0\n")},
				"packages/apps/tenant/templates/all.yaml": {Data: []byte(strings.Replace(namespace04, "LABELS", tt.labels, 1))},
			})
			if len(cases) != len(tt.want) {
				t.Fatalf("%d cases, want %d", len(cases), len(tt.want))
			}
			for i, c := range cases {
				got := string(c.Verdict)
				for _, f := range c.Findings {
					got += " " + f.Message
				}
				if !strings.Contains(got, tt.want[i]) {
					t.Errorf("%s: %s %s, want %q", c.Name, got, c.Reason, tt.want[i])
				}
			}
		})
	}
}
