package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// ETCD05: references resolve.
var ETCD05 = &requirement.Requirement{
	ID:        "ETCD-05",
	Statement: "Every dependsOn, chartRef, secret and service reference of a tenant's objects resolves, with modules own or inherited",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "field bugs: releases that depend on a release of another tenant, or on one that the tree does not have; machines whose template nothing makes",
	Axes:      "every application chart, pairwise over its gates, modules own or inherited, APIs of the cluster",
	How:       "follows the chart's HelmReleases to any depth. A dependsOn must name a HelmRelease of the closure, one that the platform installs, or a module that the tenant owns or inherits; a chartRef an artifact that a package source produces; a reference to an object that carries the name of the release must be made by an object, or by a script, of the closure",
	Fix:       "reference the release that exists in this situation, or gate the reference on it",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool { return c.Application }, func(c *tree.Chart) matrix.Matrix {
			m := e.Sweep(c)
			for i := range m.Axes {
				if m.Axes[i].Name == requirement.ModulesAxis {
					m.Axes[i].Values = []string{requirement.Inherited, requirement.Own}
				}
			}
			return m
		}, "the tree has no application chart"), nil
	},
	Judge: judgeETCD05,
}

func judgeETCD05(_ context.Context, c *requirement.Check) {
	all, ok := c.Whole(c.SweepInput(c.Subject.Chart, c.Point))
	if !ok {
		return
	}
	made := newProducers(all)
	releases := knownReleases(c, all)
	for _, r := range all {
		if r.Via != nil {
			judgeChartRef(c, r, made)
		}
		if r.Result == nil || r.Remote {
			continue
		}
		for _, o := range r.Objects {
			if render.IsHelmRelease(o.Unstructured) {
				judgeDependsOn(c, r, o, releases)
				continue
			}
			judgeReferences(c, r, o, made)
		}
	}
	if c.Assertions == 0 {
		c.Skip("nothing refers to anything here")
	}
}

func judgeChartRef(c *requirement.Check, r *render.Release, made *producers) {
	c.Assert(r.Unresolved == "", func() requirement.Finding {
		return requirement.Finding{
			Result: r.Parent.Result, Object: r.Via, Path: []string{"spec", "chartRef", "name"}, Cause: "chartRef " + r.Artifact + r.Unresolved,
			Message: fmt.Sprintf("HelmRelease %s: %s", r.Via.GetName(), r.Unresolved),
			Want:    "a chart that a package source of the tree produces",
		}
	})
	for _, k := range r.Missing {
		// What something of the closure makes at run time is there when Flux
		// needs it.
		c.Assert(made.makes(k.Kind, k.Name), func() requirement.Finding {
			return requirement.Finding{
				Result: r.Parent.Result, Object: r.Via, Path: []string{"spec", "valuesFrom"}, Cause: "valuesFrom " + strings.ReplaceAll(k.Name, r.Parent.Input.Release, "*"),
				Message: fmt.Sprintf("HelmRelease %s takes values from %s, which nothing makes", r.Via.GetName(), k),
				Want:    "an object that the tenant, the platform or an operator makes",
			}
		})
	}
}

// knownReleases are the HelmReleases, as namespace/name, that exist in the
// situation of the case.
func knownReleases(c *requirement.Check, all []*render.Release) map[string]bool {
	known := map[string]bool{}
	for k := range c.PlatformReleases() {
		known[k] = true
	}
	root := all[0]
	known[root.Input.Namespace+"/"+root.Input.Release] = true
	for _, r := range all {
		if r.Via != nil {
			known[r.Parent.NamespaceOf(r.Via)+"/"+r.Via.GetName()] = true
		}
	}
	if c.Subject.Chart != c.Tree.TenantChart() {
		owner := root.Input.Namespace
		if c.Get(requirement.ModulesAxis) == requirement.Inherited {
			owner = c.Tree.Profile.Tenant.Root
		}
		for _, m := range c.Renderable() {
			if !m.Module || !slices.Contains(c.Tree.Profile.Injected.Modules, m.Name) {
				continue
			}
			known[owner+"/"+m.Name] = true
			for _, r := range c.Engine.Closure(c.Input(m, requirement.Situation{Namespace: owner}, c.Fill(m))) {
				if r.Via != nil {
					known[r.Parent.NamespaceOf(r.Via)+"/"+r.Via.GetName()] = true
				}
			}
		}
	}
	return known
}

func judgeDependsOn(c *requirement.Check, r *render.Release, hr *render.Object, known map[string]bool) {
	for i, d := range requirement.List(hr.Object, "spec", "dependsOn") {
		name, _ := requirement.Field(d, "name").(string)
		ns, _ := requirement.Field(d, "namespace").(string)
		if ns == "" {
			ns = r.NamespaceOf(hr)
		}
		c.Assert(known[ns+"/"+name], func() requirement.Finding {
			return requirement.Finding{
				Result: r.Result, Object: hr, Path: []string{"spec", "dependsOn", fmt.Sprint(i), "name"}, Cause: "dependsOn " + strings.TrimPrefix(name, r.Input.Release),
				Message: fmt.Sprintf("HelmRelease %s depends on %s/%s, which does not exist here: it never becomes ready", hr.GetName(), ns, name),
				Want:    "a HelmRelease that the tenant, its ancestors or the platform has",
			}
		})
	}
}

// producers says what the objects of a closure make.
type producers struct {
	objects map[string]bool // Kind name
	scripts []string        // texts of Jobs, ConfigMaps and container arguments
	customs []string        // specs of custom resources, whose operators make objects
	names   []string        // names of custom resources
}

func newProducers(all []*render.Release) *producers {
	p := &producers{objects: map[string]bool{}}
	for _, r := range all {
		if r.Result == nil || r.Remote {
			continue
		}
		for _, o := range r.Objects {
			p.objects[o.GetKind()+" "+o.GetName()] = true
			switch group := o.GroupVersionKind().Group; {
			case o.GetKind() == "ConfigMap":
				p.scripts = append(p.scripts, text(requirement.Field(o.Object, "data")))
			case requirement.Builtin(o.Unstructured):
				requirement.Walk(o.Object, func(_ []string, v any) {
					if m, ok := v.(map[string]any); ok && m["image"] != nil {
						p.scripts = append(p.scripts, script(m))
					}
				})
			case group != render.HelmReleaseGroup:
				p.customs = append(p.customs, text(requirement.Field(o.Object, "spec")))
				p.names = append(p.names, o.GetName())
			}
		}
	}
	return p
}

var variable = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?`)

// script is what a container runs, with the variables filled in that the pod
// sets, and their values.
func script(container map[string]any) string {
	env := map[string]string{}
	var b strings.Builder
	for _, e := range requirement.List(container, "env") {
		name, _ := requirement.Field(e, "name").(string)
		if value, ok := requirement.Field(e, "value").(string); ok {
			env[name] = value
			b.WriteString(value + "\n")
		}
	}
	for _, part := range append(requirement.List(container, "command"), requirement.List(container, "args")...) {
		s, _ := part.(string)
		b.WriteString(variable.ReplaceAllStringFunc(s, func(ref string) string {
			if v, ok := env[variable.FindStringSubmatch(ref)[1]]; ok {
				return v
			}
			return ref
		}) + "\n")
	}
	return b.String()
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

func mentions(texts []string, name string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, name) })
}

// makes tells whether an object of this kind and name comes to be: it is
// rendered, a script or a custom resource names it, or it is named after a
// custom resource, as operators do.
func (p *producers) makes(kind, name string) bool {
	return p.objects[kind+" "+name] || mentions(p.scripts, name) || mentions(p.customs, name) ||
		slices.ContainsFunc(p.names, func(n string) bool { return n != "" && strings.HasPrefix(name, n) })
}

// judgeReferences looks at the references of an object to others that carry the
// name of its release: whatever else they name is the platform's.
func judgeReferences(c *requirement.Check, r *render.Release, o *render.Object, made *producers) {
	requirement.Walk(o.Object, func(path []string, v any) {
		m, ok := v.(map[string]any)
		if !ok || len(path) == 0 {
			return
		}
		kind, name, field := reference(o, path, m)
		if name == "" || !strings.Contains(name, r.Input.Release) {
			return
		}
		found := made.makes(kind, name)
		if !requirement.Builtin(o.Unstructured) {
			// A custom resource names what it needs in its own spec, which makes
			// nothing.
			found = made.objects[kind+" "+name] || mentions(made.scripts, name)
		}
		c.Assert(found, func() requirement.Finding {
			return requirement.Finding{
				Result: r.Result, Object: o, Path: append(slices.Clone(path), field), Cause: kind + " " + strings.ReplaceAll(name, r.Input.Release, "*"),
				Message: fmt.Sprintf("%s refers to the %s %s, which nothing makes", o.Key(), kind, name),
				Want:    "an object, or a script, of the same release that makes it",
			}
		})
	})
}

// reference reads a mapping as a reference to another object: of a pod to a
// Secret or ConfigMap, or of a custom resource by kind and name.
func reference(o *render.Object, path []string, m map[string]any) (kind, name, field string) {
	if b, _ := m["optional"].(bool); b {
		return "", "", ""
	}
	str := func(k string) string { s, _ := m[k].(string); return s }
	if !requirement.Builtin(o.Unstructured) {
		if str("kind") == "" || str("apiVersion") == "" && str("apiGroup") == "" || m["metadata"] != nil || len(path) == 0 {
			return "", "", ""
		}
		return str("kind"), str("name"), "name"
	}
	switch path[len(path)-1] {
	case "secretKeyRef", "secretRef":
		return "Secret", str("name"), "name"
	case "configMapKeyRef", "configMapRef":
		return "ConfigMap", str("name"), "name"
	case "secret":
		return "Secret", str("secretName"), "secretName"
	case "configMap":
		return "ConfigMap", str("name"), "name"
	}
	return "", "", ""
}
