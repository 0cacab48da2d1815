package etcd

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

// ETCD01: without a datastore nothing but the beacon.
var ETCD01 = &requirement.Requirement{
	ID:        "ETCD-01",
	Statement: "On an etcd-less tenant a cluster chart collapses to its beacon: nothing else is rendered; nothing waits for what cannot appear",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "review of the ComputePlane module: a tenant without etcd got Services without backends, and later Jobs that wait for objects which never appear",
	Axes:      "every chart whose objects, nested ones included, need the datastore; pairwise over its gates and the APIs of the cluster",
	How:       "renders the chart with the datastore and without: each release that has an object which needs it may render nothing but its beacon without it. must, once a template, for what waits, leads nowhere or cannot start: a kind that needs the datastore, a HelmRelease, an object with pods, a Service with a selector, a reference to an object that is left out; should, once a chart, for what then lies idle: accounts, roles, settings, hooks of a deletion",
	Fix:       "gate the template on the datastore reference of the namespace, as the beacon is",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool { return c.Application && needsDatastore(e, c) }, func(c *tree.Chart) matrix.Matrix {
			m := e.Sweep(c)
			m.Axes = slices.DeleteFunc(m.Axes, func(a matrix.Axis) bool { return a.Name == requirement.ModulesAxis })
			return m
		}, "no chart renders an object that needs the datastore"), nil
	},
	Judge: judgeETCD01,
}

// needsDatastore tells whether a chart, or one that it installs, renders an
// object that needs the datastore.
func needsDatastore(e *requirement.Env, c *tree.Chart) bool {
	for _, r := range e.Engine.Closure(e.SweepInput(c, nil)) {
		if !r.Remote && rendersDatastore(e, r) {
			return true
		}
	}
	return false
}

func rendersDatastore(e *requirement.Env, r *render.Release) bool {
	return r.Result != nil && slices.ContainsFunc(r.Objects, func(o *render.Object) bool {
		return slices.Contains(e.Tree.Profile.Datastore.Kinds, o.GetKind())
	})
}

func isBeacon(e *requirement.Env, o *render.Object) bool {
	b := e.Tree.Profile.Datastore.Beacon
	return o.GetKind() == b.Kind && strings.HasSuffix(o.GetName(), b.Suffix)
}

func noBeacon(c *requirement.Check, r *render.Release) requirement.Finding {
	d := c.Tree.Profile.Datastore
	return requirement.Finding{
		Result: r.Result, Chart: r.Input.Chart, Place: r.Input.Chart, Cause: "no beacon",
		Message: fmt.Sprintf("release %s renders no beacon on a tenant without %s: nothing tells the user what is missing", r.Input.Release, d.Module),
		Want:    fmt.Sprintf("a %s named *%s", d.Beacon.Kind, d.Beacon.Suffix),
	}
}

func judgeETCD01(_ context.Context, c *requirement.Check) {
	point := append(matrix.Point{{Axis: requirement.ModulesAxis, Value: requirement.Inherited}}, c.Point...)
	with, ok := c.Closure(c.SweepInput(c.Subject.Chart, point))
	if !ok {
		return
	}
	needing := map[string]bool{}
	for _, r := range with {
		if !r.Remote && rendersDatastore(c.Env, r) {
			needing[r.Chain()] = true
		}
	}
	if len(needing) == 0 {
		c.Skip("nothing needs the datastore here")
		return
	}
	point[0].Value = requirement.None
	without, ok := c.Closure(c.SweepInput(c.Subject.Chart, point))
	if root := without[0]; root.Failure == nil && len(root.Objects) == 0 && needing[root.Chain()] {
		c.Skipped = ""
		c.Fail(noBeacon(c, root))
		return
	}
	if !ok {
		if without[0].Failure != nil && without[0].Failure.Kind == render.FailFailure {
			c.Skipped = ""
			c.Fail(requirement.Finding{
				Place: without[0].Failure.Place(), Cause: "refused",
				Message: fmt.Sprintf("the chart fails without the datastore instead of rendering its beacon: %s", without[0].Failure.Message),
				Want:    "a beacon that says what is missing",
			})
		}
		return
	}
	told := false
	state := newBare(c.Env, with, without)
	for _, r := range without {
		if r.Remote || r.Result == nil {
			continue
		}
		told = told || slices.ContainsFunc(r.Objects, func(o *render.Object) bool { return isBeacon(c.Env, o) })
		if !needing[r.Chain()] {
			continue
		}
		rest := map[string][]*render.Object{}
		beacon := false
		for _, o := range r.Objects {
			if isBeacon(c.Env, o) {
				beacon = true
			} else {
				rest[o.Template] = append(rest[o.Template], o)
			}
		}
		for _, template := range requirement.SortedKeys(rest) {
			judgeTemplate(c, r, state, rest[template])
		}
		c.Assert(beacon, func() requirement.Finding { return noBeacon(c, r) })
	}
	if c.Assertions == 0 {
		// What installs the release has left it out: then it has to say so itself.
		c.Assert(told, func() requirement.Finding { return noBeacon(c, without[0]) })
	}
}

// judgeTemplate reports what a template renders without the datastore: what
// waits in vain, else, with those of all such templates, what lies idle.
func judgeTemplate(c *requirement.Check, r *render.Release, state *bare, objects []*render.Object) {
	module, suffix := c.Tree.Profile.Datastore.Module, c.Tree.Profile.Datastore.Beacon.Suffix
	var first *render.Object
	waits := 0
	for _, o := range objects {
		if state.awaits(o) == "" {
			continue
		}
		if waits++; first == nil {
			first = o
		}
	}
	if first == nil {
		c.Fail(requirement.Finding{
			Result: r.Result, Object: objects[0], Path: []string{"kind"}, AtCaller: true, Root: "idle " + r.Input.Chart, Severity: requirement.Should,
			Message: fmt.Sprintf("%s is rendered on a tenant without %s and lies idle: the cluster that it is for cannot appear", objects[0].Key(), module),
			Want:    "nothing but the beacon *" + suffix,
		})
		return
	}
	more := ""
	if waits > 1 {
		more = fmt.Sprintf(" (and %d more of this template)", waits-1)
	}
	c.Fail(requirement.Finding{
		Result: r.Result, Object: first, Path: []string{"kind"}, AtCaller: true, Cause: "rendered",
		Message: fmt.Sprintf("%s%s is rendered on a tenant without %s: %s", first.Key(), more, module, state.awaits(first)),
		Want:    "nothing but the beacon *" + suffix,
	})
}
