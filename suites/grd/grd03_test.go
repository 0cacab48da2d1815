package grd

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

// judged03 judges GRD-03 on a tree and returns its cases.
func judged03(t *testing.T, fsys fs.FS) []*reports.Case {
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
	plan, err := runner.Plan(env, []*requirement.Requirement{GRD03}, runner.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var out []*reports.Case
	for _, c := range plan[0].Cases {
		out = append(out, runner.Judge(context.Background(), env, c))
	}
	return out
}

const hook03 = `apiVersion: v1
kind: ServiceAccount
metadata: {name: cleanup, annotations: {helm.sh/hook: pre-delete}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: cleanup, annotations: {helm.sh/hook: pre-delete}}
rules:
- {apiGroups: [""], resources: [persistentvolumeclaims], verbs: [VERBS]}
- {apiGroups: [""], resources: [secrets], resourceNames: [a], verbs: [get, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: cleanup, annotations: {helm.sh/hook: pre-delete}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: cleanup}
subjects: [{kind: ServiceAccount, name: cleanup}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: cleanup, annotations: {helm.sh/hook: pre-delete}}
spec:
  DEADLINE
  template:
    spec:
      serviceAccountName: cleanup
      containers:
      - name: cleanup
        command: [/bin/sh, -ec]
        args:
        - |
          SCRIPT
`

// tree03 is a tree of one chart with a delete hook.
func tree03(verbs, deadline, script string) fs.FS {
	text := strings.NewReplacer("VERBS", verbs, "DEADLINE", deadline, "SCRIPT", strings.ReplaceAll(script, "\n", "\n          ")).Replace(hook03)
	return fstest.MapFS{
		"packages/apps/db/Chart.yaml":          {Data: []byte("apiVersion: v2\nname: db\nversion: 0.0.0\n")},
		"packages/apps/db/templates/hook.yaml": {Data: []byte(text)},
	}
}

func TestGRD03(t *testing.T) {
	const all = "get, list, watch, delete"
	for _, tt := range []struct {
		name, verbs, deadline, script string
		want                          []string // of the findings, in order; none: the case passes
		skipped                       bool
	}{
		{name: "bounded", verbs: all, script: "kubectl delete pvc -l app=db --timeout=90s\nkubectl delete pvc b --timeout=90s"},
		{name: "does not wait", verbs: "list, delete", script: "kubectl delete pvc -l app=db --wait=false"},
		{name: "bounded by the job", verbs: all, deadline: "activeDeadlineSeconds: 120", script: "kubectl delete pvc -l app=db"},
		{name: "no bound", verbs: all, script: "kubectl delete pvc \\\n  -l app=db", want: []string{"waits without a bound in kubectl delete pvc (line 1"}},
		{name: "timeout 0 is for ever", verbs: all, script: "echo; kubectl delete pvc a --timeout=0", want: []string{"waits without a bound"}},
		{name: "too long", verbs: all, script: "kubectl delete pvc a --timeout=200s\nkubectl delete pvc b --timeout=200s", want: []string{"may wait for 6m40s"}},
		{name: "too long in one branch only", verbs: all, script: "if x; then\nkubectl delete pvc a --timeout=200s\nelse\nkubectl delete pvc b --timeout=200s\nfi\nkubectl delete pvc c --timeout=200s"},
		{name: "no watch", verbs: "get, list, delete", script: "kubectl delete pvc a --timeout=90s", want: []string{"do not grant watch"}},
		{name: "no list to wait with", verbs: "get, watch, delete", script: "kubectl delete pvc a --timeout=90s", want: []string{"do not grant list"}},
		{name: "may not look, so does not wait", verbs: "delete", script: "kubectl delete pvc a"},
		{name: "no list for a selector", verbs: "get, delete", script: "kubectl delete pvc -l a=b --wait=false", want: []string{"do not grant list"}},
		{name: "no delete", verbs: "get, list, watch", script: "kubectl delete pvc a --timeout=9s", want: []string{"do not grant delete"}},
		{name: "another secret", verbs: all, script: "kubectl delete secret b", want: []string{"calls kubectl delete secret"}},
		{name: "its secret, which goes at once", verbs: all, script: "kubectl delete secret a"},
		{name: "another namespace", verbs: all, script: "NS=other\nkubectl get pvc -n \"$NS\"", want: []string{"do not grant list"}},
		{name: "inside a substitution", verbs: "get", script: "for p in $(kubectl get pvc -o name); do echo; done", want: []string{"do not grant list"}},
		{name: "endless loop", verbs: all, script: "until curl -f http://db; do\n  sleep 1\ndone", want: []string{"has a loop (line 1"}},
		{name: "loop that gives up", verbs: all, script: "kubectl get pvc a\nuntil curl -f http://db; do\n  i=$((i + 1)); [ $i -gt 5 ] && exit 1\ndone"},
		{name: "another cluster", verbs: all, script: "kubectl --kubeconfig /k get nodes", skipped: true},
		{name: "cannot be read", verbs: all, script: "kubectl $WHAT pvc\nkubectl delete \"$KIND\" a", skipped: true},
		{name: "a comment and a here document", verbs: all, script: "# kubectl delete pvc a\ncat <<EOF\nkubectl delete pvc a\nEOF\necho 'kubectl delete pvc a'", skipped: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := judged03(t, tree03(tt.verbs, tt.deadline, tt.script))[0]
			want := reports.Pass
			if tt.skipped {
				want = reports.Skipped
			}
			if len(tt.want) > 0 {
				want = reports.Fail
			}
			if c.Verdict != want || len(c.Findings) != len(tt.want) {
				t.Fatalf("%s %s %+v, want %s", c.Verdict, c.Reason, c.Findings, want)
			}
			for i, text := range tt.want {
				f := c.Findings[i]
				if should := f.Severity == "should"; should != (text == "do not grant watch") {
					t.Errorf("severity %s of %q", f.Severity, text)
				}
				if !strings.Contains(f.Message, text) || !strings.HasPrefix(f.Place, "packages/apps/db/templates/hook.yaml:") {
					t.Errorf("finding %+v, want %q", f, text)
				}
			}
		})
	}
}

// No list of names is a rule for every object, however it is written.
func TestGRD03AnyName(t *testing.T) {
	for _, names := range []string{"", "resourceNames: null, ", "resourceNames: , ", "resourceNames: [], "} {
		m := tree03("get, list, watch, delete", "", "kubectl delete secret b").(fstest.MapFS)
		f := m["packages/apps/db/templates/hook.yaml"]
		f.Data = []byte(strings.Replace(string(f.Data), "resourceNames: [a], ", names, 1))
		if c := judged03(t, m)[0]; c.Verdict != reports.Pass {
			t.Errorf("%q: %s %+v", names, c.Verdict, c.Findings)
		}
	}
}

// A HelmRelease of the tree may give the release more time.
func TestGRD03StatedTimeout(t *testing.T) {
	m := tree03("get, list, watch, delete", "", "kubectl delete pvc a --timeout=8m").(fstest.MapFS)
	if c := judged03(t, m)[0]; c.Verdict != reports.Fail {
		t.Fatalf("eight minutes of five: %+v", c)
	}
	m["packages/core/platform/sources/db.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: cozystack.io/v1alpha1\nkind: PackageSource\nmetadata: {name: db}\nspec:\n  variants:\n  - name: default\n    components:\n    - {name: db, path: apps/db}\n")}
	m["packages/apps/user/Chart.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v2\nname: user\nversion: 0.0.0\n")}
	m["packages/apps/user/templates/release.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: db}\nspec:\n  timeout: 10m\n  chartRef: {kind: ExternalArtifact, name: db-default-db, namespace: cozy-system}\n")}
	if c := judged03(t, m)[0]; c.Verdict != reports.Pass {
		t.Errorf("eight minutes of ten: %+v", c)
	}
}

func TestGRD03ReferencePlatform(t *testing.T) {
	fsys, err := platform.FS()
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, c := range judged03(t, fsys) {
		switch c.Verdict {
		case reports.Pass:
			passed++
		case reports.Skipped:
		default:
			t.Errorf("%s: %s %s %+v", c.Name, c.Verdict, c.Reason, c.Findings)
		}
	}
	if passed == 0 {
		t.Error("no case passed")
	}
}
