package pkg

import (
	"context"
	"fmt"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

const (
	discoverable = "discoverable"
	offline      = "offline"
)

// PKG01: a toggle leads to something installed, or to a message.
var PKG01 = &requirement.Requirement{
	ID:        "PKG-01",
	Statement: "For every bundle combination, every tenant module toggle resolves to an artifact that an installed package produces, or the user gets a message naming the package and the bundle; offline renders still pass",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "review of the ComputePlane module: the toggle ships in one bundle and its package in another, and a tenant retried a missing artifact for ever without a word",
	Axes:      "every preset, whole and with one bundle off × every toggle of the tenant chart × the package API discoverable or not",
	How:       "renders the platform chart for the packages of the installation, then the tenant chart on a cluster that has these. What the toggle adds must come from an artifact of an installed package; where it cannot, an object or a failure must name the package and the bundle. With no API to ask, the module must render",
	Fix:       "look the package up where its API is served, and tell the user which package and bundle are missing. A chart that fails with that message satisfies this requirement and breaks PKG-04, for the whole tenant fails with it. " + bothWays,
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		installs, toggles, skip := modulePlan(e)
		if skip != "" {
			return requirement.Plan{Skip: skip}, nil
		}
		return requirement.Plan{Subjects: []requirement.Subject{{Chart: e.Tree.TenantChart(), Matrix: matrix.Matrix{Axes: []matrix.Axis{
			{Name: "toggle", Values: toggles},
			{Name: "install", Values: installs},
			{Name: "api", Values: []string{discoverable, offline}},
		}}}}}, nil
	},
	Judge: judgePKG01,
}

func judgePKG01(_ context.Context, c *requirement.Check) {
	packages, ok := installed(c)
	if !ok {
		return
	}
	toggle := c.Get("toggle")
	off, ok := c.Result(tenantInput(c.Env, packages, c.Get("api") == offline, ""))
	if !ok {
		return
	}
	on := c.Engine.Render(tenantInput(c.Env, packages, c.Get("api") == offline, toggle))
	absent := absentPackages(c.Env, packages, toggle)
	if on.Failure != nil {
		c.Assert(c.Get("api") != offline && len(absent) > 0 && explains(c.Env, on.Failure.Message, absent), func() requirement.Finding {
			return requirement.Finding{
				Result: on, Place: on.Failure.Place(), Cause: toggle + " fails",
				Message: fmt.Sprintf("the tenant chart fails with %s on: %s", toggle, on.Failure.Message),
				Want:    "a render, or a message that names the package and the bundle that are missing",
			}
		})
		return
	}
	artifacts := packages.Artifacts(c.Env)
	more := added(on, off)
	for _, o := range more {
		if !render.IsHelmRelease(o.Unstructured) {
			continue
		}
		ref := requirement.Nested(o.Unstructured, "spec", "chartRef", "name")
		if ref == "" {
			continue
		}
		known := c.Tree.Artifact(ref)
		produced := artifacts[ref] != nil
		if c.Get("api") == offline {
			// Nothing can be asked offline: what matters is that it renders, and
			// that the tree knows the artifact at all.
			produced = known != nil
		}
		c.Assert(produced, func() requirement.Finding {
			f := requirement.Finding{
				Result: on, Object: o, Path: []string{"spec", "chartRef", "name"}, Cause: toggle + " " + ref,
				Message: fmt.Sprintf("with %s on, HelmRelease %s waits for the artifact %s, which no installed package produces, and nothing tells the user", toggle, o.GetName(), ref),
				Want:    "a message that names what is missing",
			}
			if known == nil {
				f.Message = fmt.Sprintf("with %s on, HelmRelease %s refers to the artifact %s, which no package source of the tree produces", toggle, o.GetName(), ref)
			} else {
				f.Want = fmt.Sprintf("a message that names the package %s and the bundle %s", known.Package.Name, strings.Join(c.BundlesOf(known.Package.Name), ", "))
			}
			return f
		})
	}
	if len(absent) > 0 && c.Get("api") != offline && c.Assertions == 0 {
		c.Assert(messageIn(c.Env, more, absent), func() requirement.Finding {
			return requirement.Finding{
				Result: on, Place: c.Subject.Chart.Dir, Cause: toggle + " silent",
				Message: fmt.Sprintf("with %s on and the package %s absent, nothing is rendered and nothing tells the user", toggle, absent[0]),
				Want:    fmt.Sprintf("a message that names the package %s and the bundle %s", absent[0], strings.Join(c.BundlesOf(absent[0]), ", ")),
			}
		})
	}
	c.Assert(len(more) > 0, func() requirement.Finding {
		return requirement.Finding{
			Result: on, Place: c.Subject.Chart.Dir, Cause: toggle + " nothing",
			Message: fmt.Sprintf("the toggle %s changes nothing (%s)", toggle, c.Get("api")),
			Want:    "the module's release",
		}
	})
}

// installed renders the packages of the case's installation.
func installed(c *requirement.Check) (*requirement.Packages, bool) {
	s, ok := c.Install(c.Get("install"))
	if !ok {
		c.Err = fmt.Errorf("there is no installation %q", c.Get("install"))
		return nil, false
	}
	p, err := c.Packages(s)
	if err != nil {
		c.Block("the platform chart does not render: %v", err)
		return nil, false
	}
	return p, true
}

// absentPackages are the packages of a module that an installation lacks.
func absentPackages(e *requirement.Env, p *requirement.Packages, toggle string) []string {
	var out []string
	for _, src := range modulePackages(e, toggle) {
		if p.Get(src.Name) == nil {
			out = append(out, src.Name)
		}
	}
	return out
}

// explains tells whether a text names one of the packages, and its bundle
// where one is to be switched on.
func explains(e *requirement.Env, text string, packages []string) bool {
	for _, p := range packages {
		if !strings.Contains(text, p) {
			continue
		}
		bundles := e.BundlesOf(p)
		for _, b := range bundles {
			if strings.Contains(text, b) {
				return true
			}
		}
		if len(bundles) == 0 {
			return true
		}
	}
	return false
}

// messageIn tells whether an object explains what is missing.
func messageIn(e *requirement.Env, objects []*render.Object, packages []string) bool {
	for _, o := range objects {
		found := false
		requirement.Walk(o.Object, func(_ []string, v any) {
			if s, ok := v.(string); ok && explains(e, s, packages) {
				found = true
			}
		})
		if found {
			return true
		}
	}
	return false
}
