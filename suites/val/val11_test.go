package val_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"proofplane/reports"
	"proofplane/suites/val"
)

func TestVAL11Reference(t *testing.T) {
	g := NewWithT(t)
	findings, verdicts := judge(g, val.VAL11, reference(g))
	g.Expect(findings).To(BeEmpty())
	g.Expect(verdicts[reports.Pass]).To(BeNumerically(">", 10))
	g.Expect(verdicts[reports.Error] + verdicts[reports.Blocked]).To(BeZero())
}

func TestVAL11(t *testing.T) {
	const app = "packages/apps/db"
	good := map[string]string{
		app + "/Chart.yaml":  "name: db\nversion: 0.0.0\n",
		app + "/values.yaml": "host: ''\nclass: a\nkeep: 1d\nmode: b\nusers: {}\nlist: []\nnote: ''\n",
		app + "/values.schema.json": `{
  "type": "object",
  "properties": {
    "host": {"type": "string"},
    "class": {"type": "string", "maxLength": 20},
    "keep": {"type": "string", "pattern": "^[1-9]d$"},
    "mode": {"type": "string", "enum": ["a", "b"]},
    "users": {"type": "object", "additionalProperties": {"type": "object", "properties": {"password": {"type": "string"}}}},
    "list": {"type": "array", "items": {"type": "string"}},
    "note": {"type": "string"}
  }
}`,
		app + "/templates/all.yaml": `apiVersion: v1
kind: Secret
metadata: {name: a}
stringData:
  a: b
  {{- range $name, $u := .Values.users }}
  {{ $name | quote }}: {{ $u.password | quote }}
  {{- end }}
---
apiVersion: example.org/v1
kind: Thing
metadata: {name: b}
spec:
  host: {{ .Values.host | quote }}
  class: {{ .Values.class | quote }}
  mode: {{ .Values.mode }}
  keep: {{ .Values.keep }}
  hash: {{ printf "x%s" (sha256sum .Values.note) }}
  list: {{ .Values.list | toJson }}
  text: |
    {
      "note": {{ .Values.note | toJson }},
      "fixed": 1
    }
`,
	}
	const file = app + "/templates/all.yaml"
	for name, tt := range map[string]struct{ old, new, want string }{
		"everything is escaped":        {},
		"a value":                      {"{{ .Values.host | quote }}", "{{ .Values.host }}", `:14 value host stands unescaped in spec.host: "no" arrives as false, "1e3" arrives as the number 1000, "null" arrives as null`},
		"behind other text":            {"{{ .Values.host | quote }}", "https://{{ .Values.host }}", `:14 value host stands unescaped in spec.host: "text #1" arrives as "https://text"`},
		"in quotes of the template":    {"{{ .Values.host | quote }}", `"{{ .Values.host }}"`, `:14 value host stands unescaped in spec.host: "\"quoted\" text" breaks the YAML; the release fails`},
		"read and written again":       {"{{ .Values.host | quote }}", `{{ index (fromYaml (printf "a: %s" .Values.host)) "a" | toString | quote }}`, `:14 value host stands unescaped in spec.host: "no" arrives as "false"`},
		"an item":                      {"{{ .Values.list | toJson }}", `[{{ join "," .Values.list }}]`, `:19 value list.* stands unescaped in spec.list.0: "no" arrives as false`},
		"a key":                        {"{{ $name | quote }}", "{{ $name }}", `:7 a key of users stands unescaped in stringData.*: "no" arrives as the key "false"`},
		"a password":                   {"{{ $u.password | quote }}", "{{ $u.password }}", `:7 value users.*.password stands unescaped in stringData.*: `},
		"in a document inside a text":  {"{{ .Values.note | toJson }}", `"{{ .Values.note }}"`, `:22 value note stands unescaped in spec.text.note: "\"quoted\" text" breaks the document in spec.text`},
		"a template that breaks":       {"{{ .Values.host | quote }}", `{{ if eq .Values.host "true" }}{{ index (list) 1 }}{{ end }}{{ .Values.host | quote }}`, `:14 value host stands unescaped: "true" breaks the template; the release fails without a word about the value`},
		"a refusal that says why":      {"{{ .Values.host | quote }}", `{{ if eq .Values.host "true" }}{{ fail "not that" }}{{ end }}{{ .Values.host | quote }}`, ""},
		"another form":                 {"{{ .Values.host | quote }}", "{{ .Values.host | b64enc | quote }}", ""},
		"what the pattern does not do": {"{{ .Values.keep }}", "{{ .Values.keep }} ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files := map[string]string{}
			for p, data := range good {
				files[p] = data
			}
			g.Expect(files[file]).To(ContainSubstring(tt.old))
			files[file] = strings.Replace(files[file], tt.old, tt.new, 1)
			findings, verdicts := judge(g, val.VAL11, asFS(files))
			if tt.want == "" {
				g.Expect(findings).To(BeEmpty())
				g.Expect(verdicts[reports.Pass]).To(BeNumerically(">", 2))
				g.Expect(verdicts[reports.Error] + verdicts[reports.Blocked]).To(BeZero())
				return
			}
			g.Expect(findings).To(HaveLen(1))
			g.Expect(findings[0]).To(ContainSubstring(tt.want))
		})
	}
}
