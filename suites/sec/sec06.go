package sec

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// SEC06: roles and published kinds agree.
var SEC06 = &requirement.Requirement{
	ID:        "SEC-06",
	Statement: "Every published kind can be created by the level that is promised it; roles name no kind that is not published",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "field bug: seven kinds of the catalogue were missing in the hand-kept list of the admin role, and nobody but super-admins could create them",
	Axes:      "every published kind, at each level that may manage it; every role of the tenants' levels",
	How:       "gathers the ClusterRoles that the charts of the tree render for the levels of tenants, with the rules that aggregate into them, and evaluates them as Kubernetes does: the level for applications must be able to create, update, patch and delete every published kind but tenants and their modules, the highest level those too. Each resource that such a role names in a group of the API must be the plural of a published kind, or one that the API serves in any case. A rule whose resourceNames are absent, null or empty is read as Kubernetes does: it is about every object. Must where a level cannot manage a published kind; should where a role names a kind that is not published, which grants nothing today; all such kinds of one role are one finding",
	Fix:       "add the plural to the role, or take the name of what is gone out of it",
	Plan:      planSEC06,
	Judge:     judgeSEC06,
}

// Subjects of SEC06.
const (
	kindsSubject = "kinds"
	rolesSubject = "roles"
)

func planSEC06(e *requirement.Env) (requirement.Plan, error) {
	if len(e.Tree.Definitions) == 0 {
		return requirement.Plan{Skip: "the tree publishes no application kind"}, nil
	}
	roles := tenantRoles(e)
	access := e.Tree.Profile.Access
	levels := []string{access.Applications, access.Everything}
	levels = slices.DeleteFunc(levels, func(l string) bool { return roles.level(e, l) == nil })
	if len(levels) == 0 {
		return requirement.Plan{Skip: fmt.Sprintf("no chart renders a ClusterRole %s%s", access.RolePrefix, access.Applications)}, nil
	}
	kinds := map[string]bool{}
	for _, d := range e.Tree.Definitions {
		kinds[d.Kind] = true
	}
	plan := requirement.Plan{Subjects: []requirement.Subject{{Name: kindsSubject, Matrix: matrix.Matrix{
		Axes: []matrix.Axis{{Name: "kind", Values: requirement.SortedKeys(kinds)}, {Name: "level", Values: levels}},
		Where: func(p matrix.Point) bool {
			return p.Get("level") == access.Everything || !reserved(e.Tree, p.Get("kind"))
		},
	}}}}
	served := servedResources(e)
	var names []string
	for _, r := range roles.all {
		if !slices.Contains(names, r.GetName()) && slices.ContainsFunc(rulesOf(r), func(r rule) bool { return len(r.named(served)) > 0 }) {
			names = append(names, r.GetName())
		}
	}
	if slices.Sort(names); len(names) > 0 {
		plan.Subjects = append(plan.Subjects, requirement.Subject{Name: rolesSubject, Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "role", Values: names}}}})
	}
	return plan, nil
}

// reserved tells whether a kind is for the highest level alone: tenants, and
// the modules that come with them.
func reserved(t *tree.Tree, kind string) bool {
	d := t.Definition(kind)
	if d == nil {
		return false
	}
	if chart := t.DefinitionChart(d); chart != nil {
		return chart.Module || chart == t.TenantChart()
	}
	return d.Module
}

func judgeSEC06(_ context.Context, c *requirement.Check) {
	roles := tenantRoles(c.Env)
	if c.Subject.Name == rolesSubject {
		for _, r := range roles.all {
			if r.GetName() == c.Get("role") {
				judgeNames(c, r)
			}
		}
		if c.Assertions == 0 {
			c.Skip("the role names no resource of the API")
		}
		return
	}
	d, role := c.Tree.Definition(c.Get("kind")), roles.level(c.Env, c.Get("level"))
	if d == nil || role == nil {
		c.Skip("the kind or the role is not there")
		return
	}
	group := c.Tree.Profile.Definitions.APIGroup
	rules := roles.rules(role, nil)
	var missing []string
	for _, verb := range []string{"create", "update", "patch", "delete"} {
		if !slices.ContainsFunc(rules, func(r rule) bool { return r.allows(group, d.Plural, verb) }) {
			missing = append(missing, verb)
		}
	}
	c.Assert(len(missing) == 0, func() requirement.Finding {
		f := requirement.Finding{
			Result: role.result, Object: role.Object, Cause: d.Plural,
			Message: fmt.Sprintf("level %s may not %s %s.%s: its users are offered the published kind %s and every attempt is forbidden", c.Get("level"), enumerate(missing, "or"), d.Plural, group, d.Kind),
			Want:    fmt.Sprintf("every published kind within the rights of %s", c.Get("level")),
		}
		// The list that lacks it is where one looks.
		for _, r := range rules {
			if slices.Contains(r.groups, group) && slices.Contains(r.verbs, "create") {
				f.Result, f.Object, f.Path = r.of.result, r.of.Object, []string{"rules", r.index, "resources"}
			}
		}
		return f
	})
}

// judgeNames asserts that a role names only resources that the API serves.
func judgeNames(c *requirement.Check, r *role) {
	served := servedResources(c.Env)
	var gone []string
	var first []string // path of the first that nothing publishes
	for _, rule := range rulesOf(r) {
		for _, n := range rule.named(served) {
			if slices.Contains(served[n.group], n.resource) {
				c.Assert(true, nil)
				continue
			}
			if name := n.resource + "." + n.group; !slices.Contains(gone, name) {
				gone = append(gone, name)
			}
			if first == nil {
				first = []string{"rules", rule.index, "resources", n.index}
			}
		}
	}
	if len(gone) > 0 {
		c.Fail(requirement.Finding{
			Result: r.result, Object: r.Object, Path: first, Cause: "not published " + r.GetName(), Severity: requirement.Should,
			Message: fmt.Sprintf("ClusterRole %s names %s, which nothing publishes: who publishes such a kind some day gives its rights away unseen", r.GetName(), enumerate(gone, "and")),
			Want:    "the plurals of published kinds alone",
		})
	}
}

// enumerate writes a list as people do: a, b and c.
func enumerate(list []string, word string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " " + word + " " + list[len(list)-1]
}

// servedResources are the resources of the API by group: of the published
// kinds, and those that it serves in any case.
func servedResources(e *requirement.Env) map[string][]string {
	served := map[string][]string{}
	for group, names := range e.Tree.Profile.Access.Resources {
		served[group] = append(served[group], names...)
	}
	group := e.Tree.Profile.Definitions.APIGroup
	for _, d := range e.Tree.Definitions {
		served[group] = append(served[group], d.Plural)
	}
	return served
}

// role is a ClusterRole that reaches tenants.
type role struct {
	*render.Object
	result *render.Result
}

// roleSet are the ClusterRoles of the levels, and those that aggregate into
// them.
type roleSet struct{ all []*role }

// tenantRoles renders the charts that speak of the levels' roles.
func tenantRoles(e *requirement.Env) roleSet {
	return requirement.Shared(e, "SEC-06 roles", func() roleSet { return findRoles(e) })
}

func findRoles(e *requirement.Env) roleSet {
	access := e.Tree.Profile.Access
	var set roleSet
	for _, c := range e.Renderable() {
		if c.Err != nil || c.Application && c != e.Tree.TenantChart() {
			continue
		}
		if !e.Mentions(c, access.RolePrefix) && !e.Mentions(c, access.AggregatePrefix) {
			continue
		}
		r := e.Engine.Render(e.Input(c, requirement.Situation{}))
		for _, o := range r.Objects {
			if o.GetKind() != "ClusterRole" {
				continue
			}
			aggregates := false
			for k := range o.GetLabels() {
				aggregates = aggregates || strings.HasPrefix(k, access.AggregatePrefix)
			}
			if aggregates || strings.HasPrefix(o.GetName(), access.RolePrefix) {
				set.all = append(set.all, &role{o, r})
			}
		}
	}
	return set
}

// level returns the ClusterRole of a level, nil where there is none.
func (s roleSet) level(e *requirement.Env, level string) *role {
	for _, r := range s.all {
		if r.GetName() == e.Tree.Profile.Access.RolePrefix+level {
			return r
		}
	}
	return nil
}

// rules are the rules of a role: its own, or, where it aggregates, those of
// all roles that its selectors select.
func (s roleSet) rules(r *role, above []*role) []rule {
	selectors := requirement.List(r.Object.Object, "aggregationRule", "clusterRoleSelectors")
	if len(selectors) == 0 {
		return rulesOf(r)
	}
	var out []rule
	for _, v := range selectors {
		var ls metav1.LabelSelector
		m, ok := v.(map[string]any)
		if !ok || runtime.DefaultUnstructuredConverter.FromUnstructured(m, &ls) != nil {
			continue
		}
		sel, err := metav1.LabelSelectorAsSelector(&ls)
		if err != nil {
			continue
		}
		for _, o := range s.all {
			if o != r && !slices.Contains(above, o) && sel.Matches(labels.Set(o.GetLabels())) {
				out = append(out, s.rules(o, append(above, r))...)
			}
		}
	}
	return out
}

// rule is one rule of a ClusterRole. It is about every object where names is
// empty, and so where resourceNames is null.
type rule struct {
	of                              *role
	index                           string
	groups, resources, names, verbs []string
}

func rulesOf(r *role) []rule {
	var out []rule
	for i, v := range requirement.List(r.Object.Object, "rules") {
		out = append(out, rule{r, fmt.Sprint(i), texts(v, "apiGroups"), texts(v, "resources"), resourceNames(v), texts(v, "verbs")})
	}
	return out
}

func texts(v any, key string) []string {
	var out []string
	for _, x := range requirement.List(v, key) {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// resourceNames are the objects that a rule is about. An item that is no text
// restricts the rule to an object that cannot be, and lifts no restriction.
func resourceNames(rule any) []string {
	var out []string
	for _, x := range requirement.List(rule, "resourceNames") {
		s, _ := x.(string)
		out = append(out, s)
	}
	return out
}

// reference is a resource that a rule names.
type reference struct{ group, resource, index string }

// named are the resources of served groups that a rule names one by one;
// subresources stand for their resource.
func (r rule) named(served map[string][]string) []reference {
	var out []reference
	for i, resource := range r.resources {
		name, _, _ := strings.Cut(resource, "/")
		for _, g := range r.groups {
			if served[g] != nil && name != "*" {
				out = append(out, reference{g, name, fmt.Sprint(i)})
			}
		}
	}
	return out
}

// allows tells whether a rule allows a verb on all objects of a resource.
func (r rule) allows(group, resource, verb string) bool {
	has := func(list []string, v string) bool { return slices.Contains(list, v) || slices.Contains(list, "*") }
	return len(r.names) == 0 && has(r.groups, group) && has(r.resources, resource) && has(r.verbs, verb)
}
