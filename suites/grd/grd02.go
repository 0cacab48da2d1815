package grd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// GRD02: a pinned addon has a node to run on.
var GRD02 = &requirement.Requirement{
	ID:        "GRD-02",
	Statement: "nodeGroups that leave a pinned addon without a schedulable node are refused (role present, maxReplicas ≥ 1), independent of order",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "review of the ComputePlane module: the module pins an addon on that only runs on nodes of a role, and took node groups without that role",
	Axes:      "every chart with node groups that pins an addon to a node role × sets of groups: role absent, role with no replicas, role, role in the last of several groups, role in the first",
	How:       "reads the roles to which the chart's own installation pins workloads from the node selectors of the values that it gives to the charts it installs. A set of groups that cannot have a node of the role must be refused somewhere on the way, any other must render",
	Fix:       "fail in a template, naming nodeGroups, when no group has the role and maxReplicas of at least 1",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool { return c.Application && len(pinnedRoles(e, c)) > 0 }, func(c *tree.Chart) matrix.Matrix {
			return matrix.Matrix{Axes: []matrix.Axis{
				{Name: "role", Values: pinnedRoles(e, c)},
				{Name: "groups", Values: []string{"role", "role-absent", "no-roles", "no-replicas", "role-first", "role-last", "no-replicas-first"}},
			}}
		}, "no chart with node groups pins an addon to a node role"), nil
	},
	Judge: judgeGRD02,
}

// groupSchema returns the schema of one node group of a chart, nil where the
// chart has none.
func groupSchema(e *requirement.Env, c *tree.Chart) map[string]any {
	g := e.Tree.Profile.NodeRoles
	return requirement.Map(e.Schema(c), "properties", g.Groups)
}

// pinnedRoles are the node roles that a chart with node groups cannot do
// without: those of the node selectors that are there when all is at its
// defaults, in what it and the charts below it give to others.
func pinnedRoles(e *requirement.Env, c *tree.Chart) []string {
	if groupSchema(e, c) == nil {
		return nil
	}
	set := map[string]bool{}
	for _, r := range e.Engine.Closure(e.SweepInput(c, nil)) {
		if r.Result == nil {
			continue
		}
		for _, o := range r.Objects {
			requirement.Walk(o.Object, func(path []string, v any) {
				m, ok := v.(map[string]any)
				if !ok || len(path) == 0 || path[len(path)-1] != "nodeSelector" {
					return
				}
				for label := range m {
					if role, ok := strings.CutPrefix(label, e.Tree.Profile.NodeRoles.LabelPrefix); ok && !slices.Contains(e.Tree.Profile.NodeRoles.Reserved, role) {
						set[role] = true
					}
				}
			})
		}
	}
	return requirement.SortedKeys(set)
}

// entrySchema returns the schema of one node group: the chart's own, or, where
// that leaves groups open, the one of a chart that it passes them on to.
func entrySchema(c *requirement.Check) map[string]any {
	charts := []*tree.Chart{c.Subject.Chart}
	for _, r := range c.Engine.Closure(c.SweepInput(c.Subject.Chart, nil)) {
		if r.Result != nil {
			charts = append(charts, c.Tree.Chart(r.Input.Chart))
		}
	}
	for _, chart := range charts {
		if s := requirement.Map(groupSchema(c.Env, chart), "additionalProperties"); s["properties"] != nil {
			return s
		}
	}
	return nil
}

func judgeGRD02(_ context.Context, c *requirement.Check) {
	g := c.Tree.Profile.NodeRoles
	role := c.Get("role")
	group := func(max float64, roles ...any) map[string]any {
		entry := entrySchema(c)
		out := map[string]any{}
		for _, r := range requirement.List(entry, "required") {
			name, _ := r.(string)
			out[name] = requirement.Example(requirement.Map(entry, "properties", name), name, "demo")
		}
		return render.MergeValues(out, map[string]any{g.MinReplicas: float64(0), g.MaxReplicas: max, g.Roles: append([]any{}, roles...)})
	}
	// Helm visits maps in the order of their keys, so names decide the order.
	sets := map[string]map[string]any{
		"role":              {"aa": group(2, role)},
		"role-absent":       {"aa": group(2, "other")},
		"no-roles":          {"aa": group(2)},
		"no-replicas":       {"aa": group(0, role)},
		"role-first":        {"aa": group(2, role), "zz": group(2)},
		"role-last":         {"aa": group(2), "zz": group(2, role)},
		"no-replicas-first": {"aa": group(0, role), "zz": group(2, role)},
	}
	good := slices.Contains([]string{"role", "role-first", "role-last", "no-replicas-first"}, c.Get("groups"))
	in := c.SweepInput(c.Subject.Chart, nil, map[string]any{g.Groups: sets[c.Get("groups")]})
	all := c.Engine.Closure(in)
	var refusal *render.Failure
	for _, r := range all {
		if r.Result == nil || r.Failure == nil {
			continue
		}
		if r.Failure.Kind != render.FailFailure && r.Failure.Kind != render.SchemaFailure {
			c.Block("%s does not render, which is no refusal: %s", r.Chain(), r.Failure.Error())
			return
		}
		if refusal == nil {
			refusal = r.Failure
		}
	}
	if good {
		c.Assert(refusal == nil, func() requirement.Finding {
			return requirement.Finding{
				Place: refusal.Place(), Cause: "good refused",
				Message: fmt.Sprintf("node groups with the role %s and replicas are refused (%s): %s", role, c.Get("groups"), refusal.Message),
				Want:    "a render",
			}
		})
		return
	}
	c.Assert(refusal != nil, func() requirement.Finding {
		what := "without the role " + role
		cause := "role"
		if c.Get("groups") == "no-replicas" {
			what, cause = fmt.Sprintf("that have the role %s and %s 0", role, g.MaxReplicas), "replicas"
		}
		return requirement.Finding{
			Result: all[0].Result, Place: c.Subject.Chart.Dir, Cause: cause,
			Message: fmt.Sprintf("node groups %s are accepted (%s): the addon that is pinned to that role never runs", what, c.Get("groups")),
			Want:    fmt.Sprintf("a refusal that names %s", g.Groups),
		}
	})
}
