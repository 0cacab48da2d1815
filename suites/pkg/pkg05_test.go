package pkg

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

// judged05 judges PKG-05 on a tree: its findings, each once, and how many
// cases passed.
func judged05(t *testing.T, fsys fs.FS) (findings []string, passed int) {
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
	plan, err := runner.Plan(env, []*requirement.Requirement{PKG05}, runner.Filter{})
	if err != nil || plan[0].Err != nil {
		t.Fatal(err, plan[0].Err)
	}
	seen := map[string]bool{}
	for _, c := range plan[0].Cases {
		out := runner.Judge(context.Background(), env, c)
		if out.Verdict == reports.Pass {
			passed++
		} else if out.Verdict != reports.Fail && out.Verdict != reports.Skipped {
			t.Fatalf("%s: %s %s", out.Name, out.Verdict, out.Reason)
		}
		for _, f := range out.Findings {
			if !seen[f.Fingerprint] {
				findings = append(findings, f.Place+" "+f.Message)
			}
			seen[f.Fingerprint] = true
		}
	}
	return findings, passed
}

func TestPKG05Reference(t *testing.T) {
	fsys, err := platform.FS()
	if err != nil {
		t.Fatal(err)
	}
	if findings, passed := judged05(t, fsys); len(findings) > 0 || passed < 6 {
		t.Errorf("%d passed, findings %v", passed, findings)
	}
}

func TestPKG05(t *testing.T) {
	const core = "packages/core/platform"
	good := map[string]string{
		core + "/Chart.yaml":       "name: platform\nversion: 0.0.0\n",
		core + "/values-full.yaml": "bundles: {all: {enabled: true}}\n",
		core + "/values.yaml": `bundles:
  all:
    enabled: false
solver: http # "http" or "dns"
dns:
  token: ""
proxy: false
hosts: []
branding: {}
`,
		core + "/templates/all.yaml": `{{- if .Values.bundles.all.enabled }}
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: x.ingress}
spec:
  variant: default
  components:
    controller: {values: {a: 1}}
{{- if .Values.proxy }}
    controller2: {values: {proxy: true}}
{{- end }}
{{- end }}
---
apiVersion: v1
kind: Secret
metadata: {name: cozystack-values}
stringData:
  values.yaml: |
    _cluster:
      hosts: {{ join "," .Values.hosts | quote }}
      {{- if eq .Values.solver "dns" }}
      token: {{ .Values.dns.token | quote }}
      {{- end }}
      {{- with .Values.branding.colour }}
      colour: {{ . }}
      {{- end }}
`,
		core + "/sources/x.yaml":                     "kind: PackageSource\nmetadata: {name: x.ingress}\nspec:\n  variants:\n  - name: default\n    components:\n    - {name: controller, path: system/ingress, install: {namespace: a}}\n    - {name: controller2, path: system/ingress, install: {namespace: b}}\n",
		"packages/system/ingress/Chart.yaml":         "name: ingress\nversion: 0.0.0\n",
		"packages/system/ingress/templates/all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {hosts: '{{ ._cluster.hosts }}', token: a}\n",
	}
	for name, tt := range map[string]struct{ file, old, new, want string }{
		"everything arrives":        {},
		"no install block":          {core + "/sources/x.yaml", ", install: {namespace: b}", "", "component controller2, which no release receives: it has no install block (packages/core/platform/sources/x.yaml:8)"},
		"no such component":         {core + "/sources/x.yaml", "controller2", "other", "has no such component"},
		"read by nobody":            {core + "/values.yaml", "proxy: false", "proxy: false\nspare: a", "values.yaml:8 value spare of the platform has no effect"},
		"lost below an alternative": {core + "/templates/all.yaml", ".Values.dns.token", `"fixed"`, "value dns.token"},
		"injected and never read":   {"packages/system/ingress/templates/all.yaml", "hosts: '{{ ._cluster.hosts }}', ", "", "as hosts, which no chart"},
	} {
		t.Run(name, func(t *testing.T) {
			m := fstest.MapFS{}
			for p, data := range good {
				if p == tt.file {
					if !strings.Contains(data, tt.old) {
						t.Fatalf("%s does not hold %q", p, tt.old)
					}
					data = strings.Replace(data, tt.old, tt.new, 1)
				}
				m[p] = &fstest.MapFile{Data: []byte(data)}
			}
			findings, passed := judged05(t, m)
			switch {
			case tt.want == "":
				if len(findings) > 0 || passed < 6 {
					t.Errorf("%d passed, findings %v", passed, findings)
				}
			case len(findings) != 1 || !strings.Contains(findings[0], tt.want):
				t.Errorf("findings %q, want one with %q", findings, tt.want)
			}
		})
	}
}
