package svc

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

// SVC02: what is proxied has a Service, and nothing else has.
var SVC02 = &requirement.Requirement{
	ID:        "SVC-02",
	Statement: "The Proxied ingress Service exists iff addon enabled, exposeMethod Proxied and effective etcd; the Ingress iff, moreover, hosts",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "review of the ComputePlane module: the Service hung on the list of hosts, then on nothing at all, and pointed at an ingress controller that was not there",
	Axes:      "every value that switches something on and says how it is exposed: enabled × method × hosts × etcd",
	How:       "finds such values in the schemas. The Services and Ingresses that go when the value is switched off, exposed otherwise, or without hosts are those of the exposure; at every point of the matrix they must be there exactly when they can work",
	Fix:       "gate the Service on the switch, the method and the datastore, and the Ingress on the hosts as well",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		var p requirement.Plan
		for _, c := range e.Renderable() {
			if c.Err != nil || !c.Application {
				continue
			}
			if groups := exposures(e, c); len(groups) > 0 {
				p.Subjects = append(p.Subjects, requirement.Subject{Chart: c, Matrix: matrix.Matrix{Axes: []matrix.Axis{
					{Name: "value", Values: groups},
					{Name: "enabled", Values: []string{"true", "false"}},
					{Name: "expose", Values: []string{e.Tree.Profile.Exposure.Proxied, other}},
					{Name: "hosts", Values: []string{requirement.None, requirement.Some}},
					{Name: "etcd", Values: []string{requirement.Inherited, requirement.None}},
				}}})
			}
		}
		if len(p.Subjects) == 0 {
			p.Skip = "no chart has a value that switches something on and says how it is exposed"
		}
		return p, nil
	},
	Judge: judgeSVC02,
}

// other stands for a method that is not the proxied one.
const other = "other"

// exposures are the dotted paths of the values of a chart that switch
// something on and say how it is exposed.
func exposures(e *requirement.Env, c *tree.Chart) []string {
	x := e.Tree.Profile.Exposure
	fields := map[string][]string{}
	for _, g := range e.Gates(c) {
		if len(g.Path) < 2 {
			continue
		}
		group := strings.Join(g.Path[:len(g.Path)-1], ".")
		last := g.Path[len(g.Path)-1]
		if last == x.Enabled || last == x.Hosts || last == x.Method && slices.Contains(g.Values, x.Proxied) {
			fields[group] = append(fields[group], last)
		}
	}
	var out []string
	for _, group := range requirement.SortedKeys(fields) {
		if slices.Contains(fields[group], x.Enabled) && slices.Contains(fields[group], x.Method) {
			out = append(out, group)
		}
	}
	return out
}

// exposed renders the chart's closure at one point of the exposure.
func exposed(c *requirement.Check, enabled, proxied, hosts, etcd bool) []*render.Release {
	x := c.Tree.Profile.Exposure
	group := strings.Split(c.Get("value"), ".")
	at := func(field string) []string { return append(slices.Clone(group), field) }
	method := x.Proxied
	var list []any
	for _, g := range c.Gates(c.Subject.Chart) {
		if !proxied && g.Name() == strings.Join(at(x.Method), ".") {
			for _, v := range g.Values {
				if v != x.Proxied {
					method = v
				}
			}
		}
	}
	if hosts {
		list = []any{"a.demo.example.org", "b.demo.example.org"}
	}
	values := c.Fill(c.Subject.Chart)
	for _, layer := range []map[string]any{
		requirement.At(enabled, at(x.Enabled)...), requirement.At(method, at(x.Method)...), requirement.At(list, at(x.Hosts)...),
	} {
		values = render.MergeValues(values, layer)
	}
	s := requirement.Situation{Modules: map[string]string{}}
	if !etcd {
		s.Modules[c.Tree.Profile.Datastore.Module] = requirement.None
	}
	return c.Engine.Closure(c.Input(c.Subject.Chart, s, values))
}

// located is an object and the render it comes from.
type located struct {
	result *render.Result
	object *render.Object
}

func objectsOf(all []*render.Release, kind string) map[render.Key]located {
	out := map[render.Key]located{}
	for _, r := range all {
		if r.Result == nil || r.Remote {
			continue
		}
		for _, o := range r.Objects {
			if o.GetKind() == kind {
				out[o.Key()] = located{r.Result, o}
			}
		}
	}
	return out
}

func judgeSVC02(_ context.Context, c *requirement.Check) {
	full := exposed(c, true, true, true, true)
	if full[0].Failure != nil {
		c.Block("the chart does not render with %s exposed: %s", c.Get("value"), full[0].Failure.Error())
		return
	}
	enabled, proxied := c.Get("enabled") == "true", c.Get("expose") != other
	hosts, etcd := c.Get("hosts") == requirement.Some, c.Get("etcd") != requirement.None
	here := exposed(c, enabled, proxied, hosts, etcd)
	if here[0].Failure != nil {
		c.Block("the chart does not render here: %s", here[0].Failure.Error())
		return
	}
	flips := [][]*render.Release{exposed(c, false, true, true, true), exposed(c, true, false, true, true), exposed(c, true, true, false, true)}
	for _, kind := range []string{"Service", "Ingress"} {
		want := enabled && proxied && etcd
		if kind == "Ingress" {
			want = want && hosts
		}
		present := objectsOf(here, kind)
		of := 0
		for key, o := range objectsOf(full, kind) {
			if !slices.ContainsFunc(flips, func(f []*render.Release) bool { _, there := objectsOf(f, kind)[key]; return !there }) {
				continue
			}
			of++
			found, there := present[key]
			if !there {
				found = o
			}
			c.Assert(there == want, func() requirement.Finding {
				f := requirement.Finding{Result: found.result, Object: found.object, Cause: cause(enabled, proxied, hosts, etcd, want, kind)}
				if want {
					f.Message = fmt.Sprintf("%s is missing although %s is enabled, proxied and has its datastore%s", key, c.Get("value"), map[bool]string{true: "", false: ": it hangs on the hosts"}[hosts])
					f.Want = fmt.Sprintf("the %s whenever what it leads to is there", kind)
				} else {
					f.Message = fmt.Sprintf("%s is rendered although nothing can answer behind it: %s", key, why(c.Tree.Profile.Datastore.Module, enabled, proxied, hosts, etcd))
					f.Want = fmt.Sprintf("no %s where nothing is behind it", kind)
				}
				return f
			})
		}
		if want && of == 0 {
			c.Fail(requirement.Finding{
				Result: full[0].Result, Place: c.Subject.Chart.Dir, Cause: "no " + kind,
				Message: fmt.Sprintf("no %s is rendered for %s although it is enabled and proxied", kind, c.Get("value")),
				Want:    "a " + kind + " for what is proxied",
			})
		}
	}
	if c.Assertions == 0 {
		c.Skip("nothing is rendered for %s, exposed or not", c.Get("value"))
	}
}

// cause tells the ways apart in which the exposure can be wrong.
func cause(enabled, proxied, hosts, etcd, want bool, kind string) string {
	switch {
	case want:
		return kind + " missing"
	case !etcd && enabled && proxied:
		return kind + " without datastore"
	case !enabled:
		return kind + " switched off"
	case !proxied:
		return kind + " not proxied"
	}
	return kind + " without hosts"
}

func why(module string, enabled, proxied, hosts, etcd bool) string {
	switch {
	case !enabled:
		return "it is switched off"
	case !etcd:
		return "the tenant has no " + module + ", so there is no cluster"
	case !proxied:
		return "it is exposed in another way"
	}
	return "there are no hosts"
}
