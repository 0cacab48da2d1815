package grd

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"proofplane/fixtures/render"
)

// TestNamesOfRules shows that a rule that states names and has none grants every
// object, as it does in a cluster.
func TestNamesOfRules(t *testing.T) {
	const group = "rbac.authorization.k8s.io/v1"
	object := func(kind string, more map[string]any) *render.Object {
		o := map[string]any{"apiVersion": group, "kind": kind, "metadata": map[string]any{"name": "a", "namespace": "ns"}}
		for k, v := range more {
			o[k] = v
		}
		return &render.Object{Unstructured: &unstructured.Unstructured{Object: o}}
	}
	binding := object("RoleBinding", map[string]any{
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": "sa", "namespace": "ns"}},
	})
	for name, x := range map[string]struct {
		names any
		want  bool
	}{
		"null":       {nil, true},
		"empty":      {[]any{}, true},
		"other name": {[]any{"other"}, false},
		"the name":   {[]any{"wanted"}, true},
	} {
		role := object("Role", map[string]any{"rules": []any{map[string]any{
			"apiGroups": []any{""}, "resources": []any{"secrets"}, "verbs": []any{"get"}, "resourceNames": x.names,
		}}})
		g := GrantsTo(&render.Result{Objects: []*render.Object{binding, role}}, "ns", "sa")
		res := Resource{GroupKnown: true, Plural: []string{"secrets"}}
		if got := g.Allows("get", res, Target{Named: true, NameKnown: true, Name: "wanted"}, "ns", true); got != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
