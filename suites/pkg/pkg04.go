package pkg

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// PKG04: a missing module costs nothing but the module.
var PKG04 = &requirement.Requirement{
	ID:        "PKG-04",
	Statement: "A tenant that asks for a missing module keeps everything else: namespace labels, quota, network policy, other modules go on reconciling",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "review of the ComputePlane module: the guard against the missing package fails the tenant chart, and with it the whole tenant",
	Axes:      "every installation that lacks the package of a module × its toggle, the package API discoverable",
	How:       "renders the tenant chart with all other modules on, without the missing one and with it: every object of the first must be in the second, unchanged but for what the module itself adds",
	Fix:       "leave only the module out, and say so in an object instead of failing the chart. Leaving it out in silence satisfies this requirement and breaks PKG-01, for nobody learns what is missing. " + bothWays,
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		installs, toggles, skip := modulePlan(e)
		if skip != "" {
			return requirement.Plan{Skip: skip}, nil
		}
		var missing []string
		pairs := map[string]bool{}
		seen := map[string]bool{}
		for _, t := range toggles {
			for _, i := range installs {
				s, _ := e.Install(i)
				p, err := e.Packages(s)
				if err != nil || len(absentPackages(e, p, t)) == 0 {
					continue
				}
				pairs[t+" "+i] = true
				if !seen[t] {
					seen[t] = true
					missing = append(missing, t)
				}
			}
		}
		if len(pairs) == 0 {
			return requirement.Plan{Skip: "every installation has the packages of all modules"}, nil
		}
		return requirement.Plan{Subjects: []requirement.Subject{{Chart: e.Tree.TenantChart(), Matrix: matrix.Matrix{
			Axes:  []matrix.Axis{{Name: "toggle", Values: missing}, {Name: "install", Values: installs}},
			Where: func(p matrix.Point) bool { return pairs[p.Get("toggle")+" "+p.Get("install")] },
		}}}}, nil
	},
	Judge: judgePKG04,
}

func judgePKG04(_ context.Context, c *requirement.Check) {
	packages, ok := installed(c)
	if !ok {
		return
	}
	toggle := c.Get("toggle")
	without, with := map[string]any{}, map[string]any{toggle: true}
	for _, t := range c.Tree.Toggles {
		// The other modules that this installation has are on in both.
		without[t] = t != toggle && len(absentPackages(c.Env, packages, t)) == 0
	}
	in := tenantInput(c.Env, packages, false, "")
	base := in
	base.Values = append(append([]map[string]any{}, in.Values...), without)
	before, ok := c.Result(base)
	if !ok {
		return
	}
	asked := base
	asked.Values = append(append([]map[string]any{}, base.Values...), with)
	after := c.Engine.Render(asked)
	if after.Failure != nil {
		c.Fail(requirement.Finding{
			Result: after, Place: after.Failure.Place(), Cause: toggle + " takes all down",
			Message: fmt.Sprintf("asking for %s fails the whole tenant chart, %d objects with it: %s", toggle, len(before.Objects), after.Failure.Message),
			Want:    "everything but the module renders as before",
		})
		return
	}
	have := map[render.Key]*render.Object{}
	for _, o := range after.Objects {
		have[o.Key()] = o
	}
	for _, o := range before.Objects {
		same := have[o.Key()]
		if same != nil {
			path := lost(o.Object, same.Object, nil, moves(c, toggle))
			c.Assert(path == nil, func() requirement.Finding {
				return requirement.Finding{
					Result: before, Object: o, Path: path, Cause: toggle + " changes " + o.GetKind(),
					Message: fmt.Sprintf("asking for %s, whose package is absent, changes %s of %s", toggle, strings.Join(path, "."), o.Key()),
					Want:    "everything but the module renders as before",
				}
			})
			continue
		}
		c.Assert(false, func() requirement.Finding {
			return requirement.Finding{
				Result: before, Object: o, Cause: toggle + " takes " + o.GetKind(),
				Message: fmt.Sprintf("asking for %s, whose package is absent, takes %s away", toggle, o.Key()),
				Want:    "everything but the module renders as before",
			}
		})
	}
}

// moves returns the test for what asking for a module changes on purpose: its
// own reference, in a label or annotation, and in the injected values.
func moves(c *requirement.Check, toggle string) func(path []string) bool {
	label, key := c.Tree.Profile.Tenant.ModuleLabelPrefix+toggle, c.Tree.Profile.Injected.Key
	return func(path []string) bool {
		last := path[len(path)-1]
		return last == label || last == key
	}
}

// lost returns the path of a value of before that is not in after, nil where
// all are.
func lost(before, after any, path []string, moves func([]string) bool) []string {
	if len(path) > 0 && moves(path) {
		return nil
	}
	switch b := before.(type) {
	case map[string]any:
		a, _ := after.(map[string]any)
		for _, k := range requirement.SortedKeys(b) {
			if p := lost(b[k], a[k], append(path[:len(path):len(path)], k), moves); p != nil {
				return p
			}
		}
		return nil
	default:
		if reflect.DeepEqual(before, after) {
			return nil
		}
		return path
	}
}
