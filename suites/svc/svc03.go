package svc

import (
	"context"
	"fmt"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/requirement"
)

// SVC03: routes lead to Services.
var SVC03 = &requirement.Requirement{
	ID:        "SVC-03",
	Statement: "Every Ingress and route backend resolves to a Service and port",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "review of the ComputePlane module: an Ingress whose Service the same change had stopped rendering",
	Axes:      "every chart that renders Ingresses or routes, pairwise over its gates and situations",
	How:       "each backend must name a Service of the closure, or of what the platform installs in that namespace, that has the port; a Service that an operator makes is recognised by the name of its custom resource",
	Fix:       "name the Service and port that the same condition renders",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool {
			return e.Mentions(c, "kind: Ingress\n") || e.Mentions(c, "Route\n") || c.Application && e.Mentions(c, "kind: HelmRelease\n")
		}, e.Sweep, "no chart renders an Ingress or a route"), nil
	},
	Judge: judgeSVC03,
}

// backend is what an Ingress or route leads to.
type backend struct {
	namespace, service string
	port               any // number, name, or nil
	path               []string
}

func judgeSVC03(_ context.Context, c *requirement.Check) {
	all, ok := c.Whole(c.SweepInput(c.Subject.Chart, c.Point))
	if !ok {
		return
	}
	var customs []string
	services := map[string]*render.Object{}
	for _, r := range all {
		if r.Result == nil || r.Remote {
			continue
		}
		for _, o := range r.Objects {
			switch {
			case o.GetKind() == "Service":
				services[r.NamespaceOf(o)+"/"+o.GetName()] = o
			case !requirement.Builtin(o.Unstructured) && !render.IsHelmRelease(o.Unstructured):
				customs = append(customs, o.GetName())
			}
		}
	}
	for _, r := range all {
		if r.Result == nil || r.Remote {
			continue
		}
		for _, o := range r.Objects {
			judgeBackends(c, r, o, services, customs)
		}
	}
	if c.Assertions == 0 {
		c.Skip("no Ingress or route is rendered here")
	}
}

func judgeBackends(c *requirement.Check, r *render.Release, o *render.Object, services map[string]*render.Object, customs []string) {
	for _, b := range backendsOf(o) {
		ns := b.namespace
		if ns == "" {
			ns = r.NamespaceOf(o)
		}
		svc := services[ns+"/"+b.service]
		if svc == nil {
			svc = c.PlatformServices()[ns+"/"+b.service]
		}
		if svc == nil {
			c.Assert(made(customs, b.service) || elsewhere(c, ns, r), func() requirement.Finding {
				return requirement.Finding{
					Result: r.Result, Object: o, Path: b.path, Cause: "service " + shape(b.service, r),
					Message: fmt.Sprintf("%s leads to the Service %s/%s, which is not rendered here", o.Key(), ns, b.service),
					Want:    "a Service that the same condition renders",
				}
			})
			continue
		}
		c.Assert(b.port == nil || hasPort(svc, b.port), func() requirement.Finding {
			return requirement.Finding{
				Result: r.Result, Object: o, Path: b.path, Cause: "port " + shape(b.service, r),
				Message: fmt.Sprintf("%s leads to port %v of %s, which has no such port", o.Key(), b.port, svc.Key()),
				Want:    "a port of the Service, by number or name",
			}
		})
	}
}

// made tells whether a Service carries the name of a custom resource, as those
// do that operators make: in front, or behind the kind of workload.
func made(customs []string, service string) bool {
	for _, n := range customs {
		if n != "" && (strings.HasPrefix(service, n) || strings.HasSuffix(service, "-"+n)) {
			return true
		}
	}
	return false
}

// elsewhere tells whether a backend lies in a namespace that neither the chart
// nor the platform's packages fill: a cluster's own.
func elsewhere(c *requirement.Check, ns string, root *render.Release) bool {
	if ns == root.Input.Namespace {
		return false
	}
	for key := range c.PlatformReleases() {
		if strings.HasPrefix(key, ns+"/") {
			return false
		}
	}
	return true
}

func hasPort(svc *render.Object, port any) bool {
	for _, p := range requirement.List(svc.Object, "spec", "ports") {
		if fmt.Sprint(requirement.Field(p, "port")) == fmt.Sprint(port) || requirement.Field(p, "name") == port {
			return true
		}
	}
	return false
}

// backendsOf reads the backends of an Ingress, or of a route of the Gateway
// API.
func backendsOf(o *render.Object) []backend {
	var out []backend
	group := o.GroupVersionKind().Group
	switch {
	case o.GetKind() == "Ingress" && group == "networking.k8s.io":
		requirement.Walk(requirement.Field(o.Object, "spec"), func(path []string, v any) {
			m, ok := v.(map[string]any)
			if !ok || len(path) == 0 || path[len(path)-1] != "service" {
				return
			}
			b := backend{path: append([]string{"spec"}, path...)}
			b.service, _ = m["name"].(string)
			if b.port = requirement.Field(m, "port", "number"); b.port == nil {
				b.port = requirement.Field(m, "port", "name")
			}
			if b.service != "" {
				out = append(out, b)
			}
		})
	case strings.HasSuffix(o.GetKind(), "Route") && group == "gateway.networking.k8s.io":
		requirement.Walk(requirement.Field(o.Object, "spec"), func(path []string, v any) {
			if len(path) < 2 || path[len(path)-2] != "backendRefs" {
				return
			}
			m, ok := v.(map[string]any)
			if k, _ := m["kind"].(string); !ok || k != "" && k != "Service" {
				return
			}
			b := backend{path: append([]string{"spec"}, path...), port: m["port"]}
			b.service, _ = m["name"].(string)
			b.namespace, _ = m["namespace"].(string)
			out = append(out, b)
		})
	}
	return out
}
