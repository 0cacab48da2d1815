package iso

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"proofplane/fixtures/render"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// ISO04: a namespace names all tenants above it.
var ISO04 = &requirement.Requirement{
	ID:        "ISO-04",
	Statement: "Ancestor labels of a namespace equal its full chain",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "field bug: the labels reached one level up only, the policies that let an ancestor in did not match, and the root ingress timed out to nested tenants",
	Axes:      "depth of the tenant below the root",
	How:       "renders the tenant chart level by level, each in the namespace that the level above rendered, which is there to be looked up as it was rendered; the ancestor labels (profile: tenant.ancestorLabelPrefix) of the last namespace must name the root, every tenant between, and the tenant itself, and nobody else",
	Fix:       "derive the labels from the whole chain of names, at every level in the same way",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		c := e.Tree.TenantChart()
		if c == nil || c.Err != nil {
			return requirement.Plan{Skip: "the tree has no tenant chart that can be read"}, nil
		}
		return requirement.Plan{Subjects: []requirement.Subject{{Chart: c, Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "depth", Values: []string{"1", "2", "3", "4"}}}}}}}, nil
	},
	Judge: judgeISO04,
}

func judgeISO04(_ context.Context, c *requirement.Check) {
	depth, err := strconv.Atoi(c.Get("depth"))
	if err != nil {
		c.Err = err
		return
	}
	tenant := c.Tree.Profile.Tenant
	prefix := tenant.AncestorLabelPrefix
	parent := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{
		"name": tenant.Root, "uid": uid(0), "labels": map[string]any{prefix + tenant.Root: ""},
	}}}
	chain := []string{tenant.Root}
	var r *render.Result
	var o *render.Object
	for level := 1; level <= depth; level++ {
		in := c.Input(c.Subject.Chart, requirement.Situation{Namespace: parent.GetName()})
		in.State = in.State.With(c.Annotated(parent))
		in.Release = tenant.Prefix + string(rune('a'+level-1))
		var ok bool
		if r, ok = c.Result(in); !ok {
			return
		}
		if o = namespace(r, parent.GetName()); o == nil {
			// Without a namespace of its own there is no tenant to label.
			c.Skip("the tenant chart renders no namespace for %s in %s", in.Release, in.Namespace)
			return
		}
		chain = append(chain, o.GetName())
		parent = o.DeepCopy()
		if err := unstructured.SetNestedField(parent.Object, uid(level), "metadata", "uid"); err != nil {
			c.Err = err
			return
		}
	}
	var have []string
	for k := range o.GetLabels() {
		if rest, ok := strings.CutPrefix(k, prefix); ok {
			have = append(have, rest)
		}
	}
	slices.Sort(have)
	missing := without(chain, have)
	c.Assert(len(missing) == 0, func() requirement.Finding {
		return requirement.Finding{
			Result: r, Object: o, Path: []string{"metadata", "labels", prefix + o.GetName()}, Cause: "missing",
			Message: fmt.Sprintf("namespace %s, %d levels below %s, lacks the ancestor label of %s: it has %s", o.GetName(), depth, tenant.Root, strings.Join(missing, ", "), strings.Join(have, ", ")),
			Want:    "labels for " + strings.Join(chain, ", "),
		}
	})
	foreign := without(have, chain)
	c.Assert(len(foreign) == 0, func() requirement.Finding {
		return requirement.Finding{
			Result: r, Object: o, Path: []string{"metadata", "labels", prefix + foreign[0]}, Cause: "foreign",
			Message: fmt.Sprintf("namespace %s has the ancestor label of %s, which is not above it", o.GetName(), strings.Join(foreign, ", ")),
			Want:    "labels for " + strings.Join(chain, ", ") + " alone",
		}
	})
}

func uid(level int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", level) }

// namespace returns the namespace that a tenant's release renders for itself.
func namespace(r *render.Result, parent string) *render.Object {
	for _, o := range r.Objects {
		if o.GetKind() == "Namespace" && o.GroupVersionKind().Group == "" && o.GetName() != parent {
			return o
		}
	}
	return nil
}

// without returns what is in a and not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
