package val_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"proofplane/reports"
	"proofplane/suites/val"
)

func TestVAL05Reference(t *testing.T) {
	g := NewWithT(t)
	findings, verdicts := judge(g, val.VAL05, reference(g))
	g.Expect(findings).To(BeEmpty())
	g.Expect(verdicts[reports.Pass]).To(BeNumerically(">", 20))
	g.Expect(verdicts[reports.Error] + verdicts[reports.Blocked]).To(BeZero())
}

func TestVAL05(t *testing.T) {
	const (
		app   = "packages/apps/db"
		inner = "packages/system/db"
	)
	good := map[string]string{
		app + "/Chart.yaml":  "name: db\nversion: 0.0.0\n",
		app + "/values.yaml": "size: 1Gi\nold: a\nbackup: {enabled: false, schedule: '0 0 * * *', key: ''}\nmode: simple\nzones: 1\nusers: {}\nextra: {}\ninner: {replicas: 1}\n",
		app + "/values.schema.json": `{
  "type": "object",
  "properties": {
    "size": {"type": "string"},
    "old": {"type": "string", "description": "Deprecated: use size."},
    "backup": {
      "type": "object",
      "properties": {
        "enabled": {"type": "boolean", "default": false},
        "schedule": {"type": "string"},
        "key": {"type": "string"}
      }
    },
    "mode": {"type": "string", "enum": ["simple", "zoned"]},
    "zones": {"type": "integer"},
    "users": {"type": "object", "additionalProperties": {"type": "object", "properties": {"readonly": {"type": "boolean"}}}},
    "extra": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    "inner": {"type": "object", "properties": {"replicas": {"type": "integer"}}}
  }
}`,
		app + "/templates/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  size: {{ .Values.size }}
  {{- if .Values.backup.enabled }}
  schedule: {{ .Values.backup.schedule | quote }}
  key: {{ required "backup.key is required" .Values.backup.key }}
  {{- end }}
  {{- if eq .Values.mode "zoned" }}
  zones: {{ .Values.zones | quote }}
  {{- end }}
  {{- range $n, $u := .Values.users }}
  {{ $n }}: {{ $u.readonly | quote }}
  {{- end }}
---
apiVersion: cozystack.io/v1alpha1
kind: WorkloadMonitor
metadata: {name: a}
spec: {replicas: {{ .Values.inner.replicas }}, size: {{ .Values.size }}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: inner}
spec:
  chartRef: {kind: ExternalArtifact, name: x-db-default-inner}
  values:
    replicas: {{ .Values.inner.replicas }}
    extra: {{ .Values.extra | toJson }}
`,
		inner + "/Chart.yaml":         "name: db\nversion: 0.0.0\n",
		inner + "/templates/all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: inner}\ndata: {replicas: '{{ .Values.replicas }}'}\n",

		"packages/core/platform/sources/x.yaml": "kind: PackageSource\nmetadata: {name: x.db}\nspec:\n  variants:\n  - name: default\n    components:\n    - {name: inner, path: system/db}\n",
	}
	for name, tt := range map[string]struct{ file, old, new, want string }{
		"everything works":            {},
		"never read":                  {app + "/templates/all.yaml", "size: {{ .Values.size }}\n", "size: 1Gi\n", "values.schema.json:4 value size has no effect"},
		"lost behind a switch":        {app + "/templates/all.yaml", ".Values.backup.schedule | quote", `"x"`, "value backup.schedule has no effect"},
		"lost behind an enum":         {app + "/templates/all.yaml", ".Values.zones | quote", `"x"`, "value zones has no effect"},
		"lost beside what is counted": {app + "/templates/all.yaml", "zones: {{ .Values.zones | quote }}", `zones: "{{ range until (int (mul 2 .Values.inner.replicas)) }}{{ . }} {{ end }}"`, "value zones has no effect"},
		"lost in an entry":            {app + "/templates/all.yaml", "$u.readonly | quote", `"x"`, "value users.*.readonly has no effect"},
		"only watched":                {app + "/templates/all.yaml", "    replicas: {{ .Values.inner.replicas }}\n", "    replicas: 1\n", "value inner.replicas has no effect"},
		"handed over and not read":    {inner + "/templates/all.yaml", ".Values.replicas", ".Values.count", "value inner.replicas has no effect"},
		"not declared any more":       {app + "/values.schema.json", "Deprecated: use size.", "Old size.", "value old has no effect"},
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
			findings, verdicts := judge(g, val.VAL05, asFS(files))
			if tt.want == "" {
				g.Expect(findings).To(BeEmpty())
				g.Expect(verdicts).To(Equal(map[reports.Verdict]int{reports.Pass: 7, reports.Skipped: 1}))
				return
			}
			g.Expect(findings).To(HaveLen(1))
			g.Expect(findings[0]).To(ContainSubstring(tt.want))
		})
	}
}
