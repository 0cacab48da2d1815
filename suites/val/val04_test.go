package val

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"proofplane/suites/requirement"
)

// TestNullOfAKey holds the text of a finding to what Kubernetes and Helm do: the
// null is stored as an empty value, and the patch of the next upgrade, which is
// made of the old manifest, the new one and what is stored, deletes the key.
func TestNullOfAKey(t *testing.T) {
	manifest := []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"key":null}}`)
	var stored corev1.ConfigMap
	if err := json.Unmarshal(manifest, &stored); err != nil {
		t.Fatal(err)
	}
	if v, ok := stored.Data["key"]; !ok || v != "" {
		t.Fatalf("stored as %q, %v", v, ok)
	}
	current, err := json.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(corev1.ConfigMap{})
	if err != nil {
		t.Fatal(err)
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(manifest, manifest, current, meta, true)
	if err != nil {
		t.Fatal(err)
	}
	after, err := strategicpatch.StrategicMergePatch(current, patch, corev1.ConfigMap{})
	if err != nil {
		t.Fatal(err)
	}
	var upgraded corev1.ConfigMap
	if err := json.Unmarshal(after, &upgraded); err != nil {
		t.Fatal(err)
	}
	if _, ok := upgraded.Data["key"]; ok {
		t.Errorf("the key is still there: %s", after)
	}
}

func TestEffectOf(t *testing.T) {
	field := []string{"spec", "field"}
	for name, x := range map[string]struct {
		schema  requirement.FieldSchema
		path    []string
		element bool
		want    string // name of the effect, "" for none
		sev     requirement.Severity
		refused bool
	}{
		"optional":                  {schema: requirement.FieldSchema{Known: true}, want: "dropped", sev: requirement.Should},
		"required":                  {schema: requirement.FieldSchema{Known: true, Required: true}, want: "required", sev: requirement.Must, refused: true},
		"required with a default":   {schema: requirement.FieldSchema{Known: true, Custom: true, Required: true, Default: true}, want: "default", sev: requirement.Should},
		"required and nullable":     {schema: requirement.FieldSchema{Known: true, Custom: true, Required: true, Nullable: true}},
		"key of a map":              {schema: requirement.FieldSchema{Known: true, MapKey: true, Text: true}, want: "key", sev: requirement.Must},
		"key of a custom map":       {schema: requirement.FieldSchema{Known: true, Custom: true, MapKey: true, Text: true}, want: "key", sev: requirement.Must},
		"key of a map of objects":   {schema: requirement.FieldSchema{Known: true, Custom: true, MapKey: true}, want: "dropped", sev: requirement.Should},
		"element":                   {schema: requirement.FieldSchema{Known: true, Custom: true, Element: true}, element: true, want: "element", sev: requirement.Must, refused: true},
		"element of strings":        {schema: requirement.FieldSchema{Known: true, Element: true, Text: true}, element: true, want: "element", sev: requirement.Must},
		"element of unknown type":   {element: true, want: "element", sev: requirement.Must},
		"unknown type":              {want: "unknown", sev: requirement.Should},
		"label of unknown type":     {path: []string{"spec", "template", "metadata", "labels", "a"}, want: "key", sev: requirement.Must},
		"selects everything":        {schema: requirement.FieldSchema{Known: true, All: true}, want: "all", sev: requirement.Must},
		"names of a rule of RBAC":   {schema: requirement.FieldSchema{Known: true, All: true}, path: []string{"rules", "0", namesOfRule}},
		"nullable list's element":   {schema: requirement.FieldSchema{Known: true, Custom: true, Element: true, Nullable: true}, element: true},
		"default of a list element": {schema: requirement.FieldSchema{Known: true, Custom: true, Element: true, Default: true}, element: true, want: "default", sev: requirement.Should},
	} {
		if x.path == nil {
			x.path = field
		}
		got, ok := effectOf(x.schema, x.path, x.element)
		if ok != (x.want != "") || got.name != x.want || got.severity != x.sev || got.refused != x.refused {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}
