package etcd

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"proofplane/fixtures/render"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// ETCD02: a tenant uses its own module, else the nearest ancestor's.
var ETCD02 = &requirement.Requirement{
	ID:        "ETCD-02",
	Statement: "The effective module reference is the tenant's own, else the nearest ancestor's; enabling a module and its dependant in one edit works",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "review of the ComputePlane module: etcd and the module that needs it are switched on in one edit",
	Axes:      "module × own or not × whose module the parent uses × depth of the tenant",
	How:       "renders the tenant chart below a parent that has a reference to the module or none, and reads the reference that it passes on, in the injected values and in the label of its namespace; with the module on, everything that needs it must render in the same edit",
	Fix:       "pass on the tenant's own namespace where the module is on, else what the parent passed on",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		tc := e.Tree.TenantChart()
		if tc == nil || tc.Err != nil {
			return requirement.Plan{Skip: "the tree has no tenant chart"}, nil
		}
		var modules []string
		for _, m := range e.Tree.Profile.Injected.Modules {
			for _, t := range e.Tree.Toggles {
				if t == m {
					modules = append(modules, m)
				}
			}
		}
		if len(modules) == 0 {
			return requirement.Plan{Skip: "the tenant chart has no toggle for a module that tenants inherit"}, nil
		}
		return requirement.Plan{Subjects: []requirement.Subject{{Chart: tc, Matrix: matrix.Matrix{Axes: []matrix.Axis{
			{Name: "module", Values: modules},
			{Name: "own", Values: []string{"true", "false"}},
			{Name: "ancestor", Values: []string{requirement.None, "root", "parent"}},
			{Name: "depth", Values: []string{"1", "2"}},
		}, Where: func(p matrix.Point) bool { return p.Get("depth") != "1" || p.Get("ancestor") != "parent" }}}}}, nil
	},
	Judge: judgeETCD02,
}

func judgeETCD02(_ context.Context, c *requirement.Check) {
	p := c.Tree.Profile
	module, own := c.Get("module"), c.Get("own") == "true"
	parent := p.Tenant.Root
	if c.Get("depth") == "2" {
		parent = p.Tenant.Prefix + "above"
	}
	inherited := map[string]string{requirement.None: "", "root": p.Tenant.Root, "parent": parent}[c.Get("ancestor")]
	s := requirement.Situation{Namespace: parent, Modules: map[string]string{module: requirement.None}}
	switch inherited {
	case parent:
		s.Modules[module] = requirement.Own
	case p.Tenant.Root:
		s.Modules[module] = requirement.Inherited
	}
	values := map[string]any{}
	for _, t := range c.Tree.Toggles {
		values[t] = t == module && own
	}
	tc := c.Subject.Chart
	r, ok := c.Result(c.Input(tc, s, c.Fill(tc), values))
	if !ok {
		return
	}
	ns := tenantNamespace(c, r)
	if ns == nil {
		c.Skip("the tenant chart renders no namespace here")
		return
	}
	want := inherited
	if own {
		want = ns.GetName()
	}
	ref := func(how, got string, o *render.Object, path ...string) {
		c.Assert(got == want, func() requirement.Finding {
			return requirement.Finding{
				Result: r, Object: o, Path: path, Cause: module + how,
				Message: fmt.Sprintf("the tenant passes on %s=%q %s; its effective %s is %q", module, got, how, module, want),
				Want:    "the tenant's own namespace where the module is on, else the parent's reference",
			}
		})
	}
	if got, o := passedOn(c, r, ns.GetName(), module); o != nil {
		ref("in the injected values", got, o)
	}
	label := p.Tenant.ModuleLabelPrefix + module
	if got, ok := ns.GetAnnotations()[label]; ok {
		ref("in the annotation "+label, got, ns, "metadata", "annotations", label)
	}
	if got, ok := ns.GetLabels()[label]; ok || want != "" {
		ref("in the label "+label, got, ns, "metadata", "labels", label)
	}
	if own && module == p.Datastore.Module {
		judgeOneEdit(c, s)
	}
	if c.Assertions == 0 {
		c.Skip("the tenant passes no reference to %s on", module)
	}
}

// judgeOneEdit switches everything on at once: whatever needs the datastore
// must find it.
func judgeOneEdit(c *requirement.Check, s requirement.Situation) {
	values := map[string]any{}
	for _, t := range c.Tree.Toggles {
		values[t] = true
	}
	all, ok := c.Closure(c.Input(c.Subject.Chart, s, c.Fill(c.Subject.Chart), values))
	if !ok {
		return
	}
	for _, r := range all {
		if r.Result == nil || r.Remote {
			continue
		}
		i := slices.IndexFunc(r.Objects, func(o *render.Object) bool { return isBeacon(c.Env, o) })
		if i < 0 && !rendersDatastore(c.Env, r) {
			continue // it needs no datastore
		}
		c.Assert(i < 0, func() requirement.Finding {
			return requirement.Finding{
				Result: r.Result, Object: r.Objects[i], Cause: "one edit",
				Message: fmt.Sprintf("%s waits for %s although it is switched on in the same edit (%s)", r.Input.Release, c.Tree.Profile.Datastore.Module, r.Chain()),
				Want:    "the reference to the tenant's own module",
			}
		})
	}
}

func tenantNamespace(c *requirement.Check, r *render.Result) *render.Object {
	for _, o := range r.Objects {
		if o.GetKind() == "Namespace" && strings.HasPrefix(o.GetName(), c.Tree.Profile.Tenant.Prefix) {
			return o
		}
	}
	return nil
}

// passedOn reads the reference to a module from the Secret that a tenant
// injects into its releases; the object is nil where there is none.
func passedOn(c *requirement.Check, r *render.Result, namespace, module string) (string, *render.Object) {
	inj := c.Tree.Profile.Injected
	for _, o := range r.Objects {
		if o.GetKind() != "Secret" || o.GetName() != inj.Secret || o.GetNamespace() != namespace {
			continue
		}
		text, _, _ := unstructured.NestedString(o.Object, "stringData", inj.Key)
		if text == "" {
			b64, _, _ := unstructured.NestedString(o.Object, "data", inj.Key)
			data, err := base64.StdEncoding.DecodeString(b64)
			if err != nil {
				c.Err = fmt.Errorf("%s: %w", o.Key(), err)
				return "", nil
			}
			text = string(data)
		}
		values := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &values); err != nil {
			c.Err = fmt.Errorf("%s: %w", o.Key(), err)
			return "", nil
		}
		got, _ := requirement.Field(values, inj.Namespace, module).(string)
		return got, o
	}
	return "", nil
}
