package grd

import (
	"slices"
	"strconv"

	"proofplane/fixtures/render"
	"proofplane/suites/requirement"
)

// Grants are the rules that a release gives to one service account.
type Grants struct {
	rules []grant
	// Partial is set where a binding names a role that the release does not
	// render: nothing is known of what that allows.
	Partial bool
}

type grant struct {
	role                            *render.Object
	index                           int    // among the rules of the role
	namespace                       string // "" for the whole cluster
	groups, resources, names, verbs []string
}

// GrantsTo returns what the objects of a release grant to a service account.
func GrantsTo(r *render.Result, namespace, account string) *Grants {
	g := &Grants{}
	ns := func(o *render.Object) string {
		if n := o.GetNamespace(); n != "" {
			return n
		}
		return r.Input.Namespace
	}
	const group = "rbac.authorization.k8s.io"
	for _, b := range r.Objects {
		cluster := b.GetKind() == "ClusterRoleBinding"
		if b.GroupVersionKind().Group != group || !cluster && b.GetKind() != "RoleBinding" {
			continue
		}
		applies := slices.ContainsFunc(requirement.List(b.Object, "subjects"), func(s any) bool {
			switch requirement.Field(s, "kind") {
			case "ServiceAccount":
				in, _ := requirement.Field(s, "namespace").(string)
				if in == "" && !cluster {
					in = ns(b)
				}
				return requirement.Field(s, "name") == account && in == namespace
			case "Group":
				return slices.Contains([]any{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}, requirement.Field(s, "name"))
			}
			return false
		})
		if !applies {
			continue
		}
		kind, name := requirement.Nested(b.Unstructured, "roleRef", "kind"), requirement.Nested(b.Unstructured, "roleRef", "name")
		found := false
		for _, role := range r.Objects {
			if role.GroupVersionKind().Group != group || role.GetKind() != kind || role.GetName() != name || kind == "Role" && ns(role) != ns(b) {
				continue
			}
			found = true
			if role.Object["aggregationRule"] != nil {
				g.Partial = true
			}
			scope := ns(b)
			if cluster {
				scope = ""
			}
			for i, rule := range requirement.List(role.Object, "rules") {
				g.rules = append(g.rules, grant{role, i, scope, stringsAt(rule, "apiGroups"), stringsAt(rule, "resources"), stringsAt(rule, "resourceNames"), stringsAt(rule, "verbs")})
			}
		}
		g.Partial = g.Partial || !found
	}
	return g
}

func stringsAt(v any, key string) []string {
	var out []string
	for _, x := range requirement.List(v, key) {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Empty tells that the release grants nothing.
func (g *Grants) Empty() bool { return len(g.rules) == 0 }

// Knows tells whether any rule names the resource.
func (g *Grants) Knows(res Resource) bool {
	return slices.ContainsFunc(g.rules, func(r grant) bool { return r.covers(res) })
}

// Where is the rule that a verb on the resource belongs into: the first that
// names it, else the first of all.
func (g *Grants) Where(res Resource) (role *render.Object, path []string) {
	r := g.rules[max(0, slices.IndexFunc(g.rules, func(r grant) bool { return r.covers(res) }))]
	return r.role, []string{"rules", strconv.Itoa(r.index), "verbs"}
}

func (r grant) covers(res Resource) bool {
	has := func(list []string, want ...string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return s == "*" || slices.Contains(want, s) })
	}
	if res.GroupKnown && !has(r.groups, res.Group) {
		return false
	}
	return has(r.resources, res.Plural...)
}

// Allows tells whether a verb on a target is granted in a namespace; "" stands
// for all of them. What is not known of the target is taken to be granted. A rule
// whose resourceNames are absent, null or empty allows every object.
func (g *Grants) Allows(verb string, res Resource, t Target, namespace string, known bool) bool {
	return slices.ContainsFunc(g.rules, func(r grant) bool {
		switch {
		case !r.covers(res), r.namespace != "" && known && r.namespace != namespace:
			return false
		case !slices.Contains(r.verbs, verb) && !slices.Contains(r.verbs, "*"):
			return false
		case len(r.names) == 0:
			return true
		case !t.Named:
			return false
		}
		return !t.NameKnown || slices.Contains(r.names, t.Name)
	})
}
