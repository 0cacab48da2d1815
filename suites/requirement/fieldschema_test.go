package requirement

import (
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"proofplane/fixtures/tree"
)

const noticeDefinition = `{{- if .Values.crds }}
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: notices.example.org
  labels:
    release: {{ .Release.Name }}
spec:
  group: example.org
  names:
    kind: Notice
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [text, level, note]
            properties:
              text: {type: string}
              level: {type: string, default: info}
              note: {type: string, nullable: true}
              color: {type: string}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              open: {type: object, additionalProperties: true}
              tags: {type: object, additionalProperties: {type: string}}
              default: {type: array, items: {type: object, properties: {name: {type: string}}, required: [name]}}
              pod:
                type: object
                x-kubernetes-embedded-resource: true
                x-kubernetes-preserve-unknown-fields: true
{{- end }}
`

func TestFieldSchema(t *testing.T) {
	profile, err := tree.LoadProfile(tree.DefaultProfile)
	if err != nil {
		t.Fatal(err)
	}
	files, src, err := tree.OpenFS(fstest.MapFS{
		"packages/system/a/Chart.yaml":         {Data: []byte("apiVersion: v2\nname: a\nversion: 0.0.0\n")},
		"packages/system/a/templates/crd.yaml": {Data: []byte("kind: ConfigMap\n---\n" + noticeDefinition)},
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := tree.Load(files, src, profile)
	if err != nil {
		t.Fatal(err)
	}
	e := NewEnv(tr, 1)
	kinds := map[string]schema.GroupVersionKind{
		"Notice":        {Group: "example.org", Version: "v1", Kind: "Notice"},
		"Nothing":       {Group: "example.org", Version: "v1", Kind: "Nothing"},
		"Deployment":    {Group: "apps", Version: "v1", Kind: "Deployment"},
		"Secret":        {Version: "v1", Kind: "Secret"},
		"Role":          {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
		"NetworkPolicy": {Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	}
	known, custom := FieldSchema{Known: true}, FieldSchema{Known: true, Custom: true}
	with := func(s FieldSchema, set func(*FieldSchema)) FieldSchema { set(&s); return s }
	for at, want := range map[string]FieldSchema{
		"Deployment spec.replicas":                                          known,
		"Deployment spec.selector":                                          with(known, func(s *FieldSchema) { s.Required = true }),
		"Deployment spec":                                                   with(known, func(s *FieldSchema) { s.Required = true }),
		"Deployment spec.template.spec.containers.0.resources":              known,
		"Deployment spec.template.spec.containers.0":                        with(known, func(s *FieldSchema) { s.Element, s.Required = true, true }),
		"Deployment spec.template.spec.containers.0.args.1":                 with(known, func(s *FieldSchema) { s.Element, s.Text = true, true }),
		"Deployment spec.template.spec.containers.0.env.0.value":            known,
		"Deployment spec.template.spec.containers.0.resources.limits.cpu":   with(known, func(s *FieldSchema) { s.MapKey = true }),
		"Deployment spec.template.metadata.annotations.a":                   with(known, func(s *FieldSchema) { s.MapKey, s.Text = true, true }),
		"Deployment spec.template.spec.containers.0.resources.limits.cpu.x": {},
		"Deployment spec.unheard":                                           {},
		"Deployment metadata.ownerReferences.0.uid":                         with(known, func(s *FieldSchema) { s.Required = true }),
		"Secret data.key":                                                   with(known, func(s *FieldSchema) { s.MapKey, s.Text = true, true }),
		"Secret data":                                                       known,
		"Role rules":                                                        known,
		"Role rules.0.verbs":                                                with(known, func(s *FieldSchema) { s.Required = true }),
		"Role rules.0.resourceNames":                                        with(known, func(s *FieldSchema) { s.All = true }),
		"NetworkPolicy spec.ingress.0.from":                                 with(known, func(s *FieldSchema) { s.All = true }),
		"Notice metadata.labels.a":                                          with(known, func(s *FieldSchema) { s.MapKey, s.Text = true, true }),
		"Notice spec":                                                       with(custom, func(s *FieldSchema) { s.Required = true }),
		"Notice spec.text":                                                  with(custom, func(s *FieldSchema) { s.Required = true }),
		"Notice spec.level":                                                 with(custom, func(s *FieldSchema) { s.Required, s.Default = true, true }),
		"Notice spec.note":                                                  with(custom, func(s *FieldSchema) { s.Required, s.Nullable = true, true }),
		"Notice spec.color":                                                 custom,
		"Notice spec.free.any":                                              {},
		"Notice spec.open.any":                                              {},
		"Notice spec.tags.a":                                                with(custom, func(s *FieldSchema) { s.MapKey, s.Text = true, true }),
		"Notice spec.default.0":                                             with(custom, func(s *FieldSchema) { s.Element = true }),
		"Notice spec.default.0.name":                                        with(custom, func(s *FieldSchema) { s.Required = true }),
		"Notice spec.pod.metadata.labels.a":                                 with(known, func(s *FieldSchema) { s.MapKey, s.Text = true, true }),
		"Nothing spec.text":                                                 {},
	} {
		kind, path, _ := strings.Cut(at, " ")
		if got := e.FieldSchema(kinds[kind], strings.Split(path, ".")); got != want {
			t.Errorf("%s: %+v, want %+v", at, got, want)
		}
	}
}
