package val_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"proofplane/fixtures/platform"
	"proofplane/fixtures/tree"
	"proofplane/reports"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
	"proofplane/suites/val"
)

// judge judges every case of a requirement in a tree and returns what it found.
func judge(g *WithT, r *requirement.Requirement, fsys fs.FS) (findings []string, verdicts map[reports.Verdict]int) {
	profile, err := tree.LoadProfile(tree.DefaultProfile)
	g.Expect(err).NotTo(HaveOccurred())
	files, src, err := tree.OpenFS(fsys, "test")
	g.Expect(err).NotTo(HaveOccurred())
	t, err := tree.Load(files, src, profile)
	g.Expect(err).NotTo(HaveOccurred())
	env := requirement.NewEnv(t, 1)
	plan, err := runner.Plan(env, []*requirement.Requirement{r}, runner.Filter{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plan[0].Err).NotTo(HaveOccurred())
	verdicts = map[reports.Verdict]int{}
	seen := map[string]bool{}
	for _, c := range plan[0].Cases {
		out := runner.Judge(context.Background(), env, c)
		verdicts[out.Verdict]++
		for _, f := range out.Findings {
			if !seen[f.Fingerprint] {
				findings = append(findings, f.Place+" "+f.Message)
			}
			seen[f.Fingerprint] = true
		}
	}
	return findings, verdicts
}

func reference(g *WithT) fs.FS {
	fsys, err := platform.FS()
	g.Expect(err).NotTo(HaveOccurred())
	return fsys
}

func TestVAL07Reference(t *testing.T) {
	g := NewWithT(t)
	findings, verdicts := judge(g, val.VAL07, reference(g))
	g.Expect(findings).To(BeEmpty())
	g.Expect(verdicts[reports.Pass]).To(BeNumerically(">", 20))
	g.Expect(verdicts[reports.Error] + verdicts[reports.Blocked]).To(BeZero())
}

func TestVAL07(t *testing.T) {
	const (
		app    = "packages/apps/db"
		module = "packages/extra/cache"
		inner  = "packages/system/cache"
	)
	good := map[string]string{
		app + "/Chart.yaml":         "name: db\nversion: 0.0.0\n",
		app + "/values.yaml":        "users: {}\n",
		app + "/values.schema.json": `{"type":"object","properties":{"users":{"type":"object","default":{},"additionalProperties":{"type":"object","properties":{"admin":{"type":"boolean"}}}}}}`,
		app + "/templates/all.yaml": "apiVersion: psmdb.percona.com/v1\nkind: PerconaServerMongoDB\nmetadata: {name: '{{ .Release.Name }}'}\nspec: {secrets: {users: '{{ .Release.Name }}-users'}}\n" +
			"---\napiVersion: v1\nkind: Service\nmetadata: {name: '{{ .Release.Name }}'}\nspec: {selector: {app: '{{ .Release.Name }}'}}\n" +
			"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: '{{ .Release.Name }}'}\nspec: {selector: {matchLabels: {app: '{{ .Release.Name }}'}}, template: {metadata: {labels: {app: '{{ .Release.Name }}'}}}}\n" +
			"{{- range $n, $_ := .Values.users }}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: '{{ $.Release.Name }}-user-{{ $n }}'}\n{{- end }}\n",
		module + "/Chart.yaml":         "name: cache\nversion: 0.0.0\n",
		module + "/templates/all.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: cache-system}\nspec: {chartRef: {kind: ExternalArtifact, name: x-cache-default-system}}\n",
		inner + "/Chart.yaml":          "name: cache\nversion: 0.0.0\n",
		inner + "/templates/all.yaml":  "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: '{{ .Release.Namespace }}-cache'}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: cache}\n",

		"packages/core/platform/sources/x.yaml": "kind: PackageSource\nmetadata: {name: x.cache}\nspec:\n  variants:\n  - name: default\n    components:\n    - {name: system, path: system/cache}\n    - {name: cache, path: extra/cache}\n",
		// The flag that makes it a module.
		"packages/system/cache-rd/cozyrds/cache.yaml": "kind: ApplicationDefinition\nmetadata: {name: cache}\nspec:\n  application: {kind: Cache}\n  release: {chartRef: {kind: ExternalArtifact, name: x-cache-default-cache}}\n  dashboard: {module: true}\n",
	}
	for name, tt := range map[string]struct {
		file, old, new string
		want           string // in the only finding; "" for none
	}{
		"apart":                 {},
		"default of a operator": {app + "/templates/all.yaml", "{secrets: {users: '{{ .Release.Name }}-users'}}", "{}", "Secret tenant-demo/percona-server-mongodb-users"},
		"same name":             {app + "/templates/all.yaml", "kind: Deployment\nmetadata: {name: '{{ .Release.Name }}'", "kind: Deployment\nmetadata: {name: 'db'", "Deployment tenant-demo/db"},
		"joined names":          {app + "/templates/all.yaml", "-user-", "-", "Secret tenant-demo/a-b-demo"},
		"pods of the other":     {app + "/templates/all.yaml", "spec: {selector: {app: '{{ .Release.Name }}'}}", "spec: {selector: {}}", ""},
		"wide selector":         {app + "/templates/all.yaml", "app: '{{ .Release.Name }}'}}}}", "app: '{{ .Release.Name }}', kind: db}}}}\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: '{{ .Release.Name }}'}\nspec: {selector: {matchExpressions: [{key: kind, operator: In, values: [db]}]}}", "PodDisruptionBudget tenant-demo/a"},
		"cluster role":          {inner + "/templates/all.yaml", "{{ .Release.Namespace }}-cache", "cache", "ClusterRole cache"},
		"foreign namespace":     {inner + "/templates/all.yaml", "metadata: {name: cache}", "metadata: {name: cache, namespace: shared}", "Service shared/cache"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files := map[string]string{}
			for p, data := range good {
				files[p] = data
			}
			if tt.file != "" {
				g.Expect(files[tt.file]).To(ContainSubstring(tt.old))
				files[tt.file] = strings.Replace(files[tt.file], tt.old, tt.new, 1)
			}
			findings, verdicts := judge(g, val.VAL07, asFS(files))
			if tt.want == "" {
				g.Expect(findings).To(BeEmpty())
				g.Expect(verdicts).To(Equal(map[reports.Verdict]int{reports.Pass: 6}))
				return
			}
			g.Expect(findings).To(HaveLen(1))
			g.Expect(findings[0]).To(ContainSubstring(tt.want))
		})
	}
}
