package svc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/requirement"
)

// SVC01: every Service can have a backend.
var SVC01 = &requirement.Requirement{
	ID:        "SVC-01",
	Statement: "Every rendered Service can have a backend: its selector matches a pod template of the closure or a provider that the same condition renders",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "review of the ComputePlane module: a Service that selected nothing appeared in every tenant's dashboard",
	Axes:      "every chart that renders Services, pairwise over its gates and situations",
	How:       "follows the chart's HelmReleases; the selector of each Service must be a subset of the labels of a pod template, of a machine or other template in a custom resource, or name a custom resource whose operator labels the pods. A Service without a selector needs endpoints that something makes, or an external name",
	Fix:       "render the Service under the condition that renders what it selects",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool {
			return c.Application && e.Mentions(c, "kind: Service") || !c.Application && e.Mentions(c, "kind: Service\n")
		},
			e.Sweep, "no chart renders a Service"), nil
	},
	Judge: judgeSVC01,
}

// backends are what the Services of a closure can select.
type backends struct {
	labels []map[string]any // of pod templates, and of templates in custom resources
	names  []string         // of custom resources
	texts  map[string]bool  // Endpoints and EndpointSlices by Service name
}

func newBackends(all []*render.Release) *backends {
	b := &backends{texts: map[string]bool{}}
	for _, r := range all {
		if r.Result == nil || r.Remote {
			continue
		}
		for _, o := range r.Objects {
			switch o.GetKind() {
			case "Endpoints":
				b.texts[o.GetName()] = true
			case "EndpointSlice":
				b.texts[o.GetLabels()["kubernetes.io/service-name"]] = true
			case "Service", "NetworkPolicy", "PodDisruptionBudget":
				continue // these select pods, too
			case "Pod":
				b.labels = append(b.labels, requirement.Map(o.Object, "metadata", "labels"))
			}
			custom := !requirement.Builtin(o.Unstructured)
			if custom {
				b.names = append(b.names, o.GetName())
			}
			requirement.Walk(o.Object, func(path []string, v any) {
				m, ok := v.(map[string]any)
				if !ok || len(path) < 2 {
					return
				}
				last := path[len(path)-1]
				inTemplate := slices.Contains(path, "template") && last == "labels"
				if inTemplate || custom && strings.Contains(strings.ToLower(last), "labels") && last != "matchLabels" {
					b.labels = append(b.labels, m)
				}
			})
		}
	}
	return b
}

// serves tells whether something can carry the labels of a selector.
func (b *backends) serves(selector map[string]any) bool {
	for _, l := range b.labels {
		if subset(selector, l) {
			return true
		}
	}
	// An operator labels the pods of a resource with its name, under a key of its
	// own: one that no rendered template carries.
	for key, v := range selector {
		if slices.ContainsFunc(b.labels, func(l map[string]any) bool { _, ok := l[key]; return ok }) {
			continue
		}
		s, _ := v.(string)
		for _, n := range b.names {
			if s != "" && n != "" && (s == n || strings.HasPrefix(s, n+"-")) {
				return true
			}
		}
	}
	return false
}

func subset(a, b map[string]any) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

func judgeSVC01(_ context.Context, c *requirement.Check) {
	all, ok := c.Whole(c.SweepInput(c.Subject.Chart, c.Point))
	if !ok {
		return
	}
	b := newBackends(all)
	services := 0
	for _, r := range all {
		if r.Result == nil || r.Remote {
			continue
		}
		for _, o := range r.Objects {
			if o.GetKind() != "Service" || o.GroupVersionKind().Group != "" || r.NamespaceOf(o) != r.Input.Namespace {
				continue // in another namespace a Service selects what is there already
			}
			services++
			selector := requirement.Map(o.Object, "spec", "selector")
			if requirement.Nested(o.Unstructured, "spec", "type") == "ExternalName" {
				c.Assert(requirement.Nested(o.Unstructured, "spec", "externalName") != "", func() requirement.Finding {
					return requirement.Finding{Result: r.Result, Object: o, Cause: "external " + shape(o.GetName(), r), Message: o.Key().String() + " leads to an external name and has none"}
				})
				continue
			}
			if len(selector) == 0 {
				c.Assert(b.texts[o.GetName()] || scripted(all, o.GetName()), func() requirement.Finding {
					return requirement.Finding{
						Result: r.Result, Object: o, Path: []string{"spec"}, Cause: "no selector " + shape(o.GetName(), r),
						Message: fmt.Sprintf("%s has no selector, and nothing makes its endpoints", o.Key()),
						Want:    "a selector, or endpoints",
					}
				})
				continue
			}
			c.Assert(b.serves(selector), func() requirement.Finding {
				return requirement.Finding{
					Result: r.Result, Object: o, Path: []string{"spec", "selector"}, Cause: "selector " + shape(o.GetName(), r),
					Message: fmt.Sprintf("%s selects %s, which nothing that is rendered here can carry", o.Key(), labels(selector)),
					Want:    "a workload or machine with these labels under the same condition",
				}
			})
		}
	}
	if services == 0 {
		c.Skip("no Service is rendered here")
	}
}

// shape is a name without the release in it.
func shape(name string, r *render.Release) string {
	return strings.ReplaceAll(name, r.Input.Release, "*")
}

func labels(m map[string]any) string {
	var parts []string
	for _, k := range requirement.SortedKeys(m) {
		parts = append(parts, fmt.Sprintf("%s=%v", k, m[k]))
	}
	return strings.Join(parts, ",")
}

// scripted tells whether a container of the closure, or a custom resource,
// names a Service and so can make its endpoints.
func scripted(all []*render.Release, name string) bool {
	for _, r := range all {
		if r.Result == nil || r.Remote {
			continue
		}
		for _, o := range r.Objects {
			custom := !requirement.Builtin(o.Unstructured)
			found := false
			requirement.Walk(requirement.Field(o.Object, "spec"), func(path []string, v any) {
				s, ok := v.(string)
				if !ok || !strings.Contains(s, name) {
					return
				}
				run := slices.Contains(path, "command") || slices.Contains(path, "args") || slices.Contains(path, "env")
				found = found || custom || run
			})
			if found {
				return true
			}
		}
	}
	return false
}
