package sec

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"proofplane/fixtures/render"
)

// TestNamesOfRules shows that a rule that states names and has none allows every
// object, as it does in a cluster.
func TestNamesOfRules(t *testing.T) {
	for name, x := range map[string]struct {
		names any
		want  bool
	}{
		"null":  {nil, true},
		"empty": {[]any{}, true},
		"one":   {[]any{"a"}, false},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"rules": []any{map[string]any{
			"apiGroups": []any{"apps"}, "resources": []any{"redises"}, "verbs": []any{"create"}, "resourceNames": x.names,
		}}}}
		rules := rulesOf(&role{Object: &render.Object{Unstructured: o}})
		if got := rules[0].allows("apps", "redises", "create"); got != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
