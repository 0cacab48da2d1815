package pkg

import (
	"context"
	"fmt"
	"path"

	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

const disabledSubject = "disabled-package"

// PKG02: what is emitted is complete.
var PKG02 = &requirement.Requirement{
	ID:        "PKG-02",
	Statement: "Emitted packages are closed under dependsOn; every chartRef resolves to source/variant/component; every source is reachable from some preset; disabling a package that others need is refused or named",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "field bugs: a preset that left all its packages blocked, a release that waits for a component no source lists, a package that could be switched off below others",
	Axes:      "presets × optional packages none or all; every package that another one needs, disabled; the sources and definitions of the tree as a whole",
	How:       "renders the platform chart and compares the packages that it emits with the tree's sources: variants exist, dependencies are emitted too, component charts and values files are there. Definitions' chart references must name an artifact that the sources produce. With a needed package disabled, the render must fail naming both, or leave out what needs it; packages are disabled worst first. must where a preset as it is shipped is not complete, a name leads nowhere, or a refusal names nothing; should for a source that no preset emits, which is an add-on until the tree says otherwise, all in one finding; should for what is left waiting below a disabled package, one finding each: whoever disables it chose to, and enabling it mends it",
	Fix:       "emit the missing package, name the component in its source, or refuse the combination in the platform chart",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		if len(e.Tree.Packages) == 0 {
			return requirement.Plan{Skip: "the tree has no package sources"}, nil
		}
		p := requirement.Plan{Subjects: []requirement.Subject{{Name: "sources", Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "of", Values: []string{"components", "definitions", "reach"}}}}}}}
		presets := e.PresetNames()
		if len(presets) == 0 {
			return p, nil
		}
		p.Subjects = append(p.Subjects, requirement.Subject{Name: "platform", Matrix: matrix.Matrix{Axes: []matrix.Axis{
			{Name: "preset", Values: presets}, {Name: "optional", Values: []string{requirement.None, "all"}},
		}}})
		if needed := neededPackages(e); len(needed) > 0 {
			p.Subjects = append(p.Subjects, requirement.Subject{Name: disabledSubject, Matrix: matrix.Matrix{Axes: []matrix.Axis{{Name: "package", Values: needed}}}})
		}
		return p, nil
	},
	Judge: judgePKG02,
}

func judgePKG02(_ context.Context, c *requirement.Check) {
	switch c.Subject.Name {
	case "sources":
		switch c.Get("of") {
		case "components":
			judgeComponents(c)
		case "definitions":
			judgeDefinitions(c)
		default:
			judgeReach(c)
		}
	case disabledSubject:
		judgeDisabled(c)
	default:
		judgePreset(c)
	}
}

func judgePreset(c *requirement.Check) {
	s := requirement.PlatformSituation{Preset: c.Get("preset")}
	if c.Get("optional") == "all" {
		s.Enabled = requirement.AllPackages
	}
	p, err := c.Packages(s)
	if err != nil {
		c.Fail(requirement.Finding{
			Chart: c.Tree.Profile.PlatformChart, Place: c.Tree.Profile.PlatformChart, Cause: "preset " + s.Preset,
			Message: fmt.Sprintf("the platform chart does not render with preset %s: %v", s.Preset, err),
			Want:    "a preset that renders",
		})
		return
	}
	for _, name := range p.Names() {
		o := p.Get(name)
		src, v := p.Variant(c.Env, name)
		c.Assert(v != nil, func() requirement.Finding {
			what := "no package source has that name"
			if src != nil {
				what = fmt.Sprintf("its source has no variant %q", requirement.Nested(o.Unstructured, "spec", "variant"))
			}
			return requirement.Finding{Result: p.Result, Object: o, Path: []string{"spec", "variant"}, AtCaller: true, Cause: name, Message: fmt.Sprintf("package %s is emitted, but %s", name, what), Want: "a variant of a package source"}
		})
		if v == nil {
			continue
		}
		for _, d := range v.DependsOn {
			c.Assert(p.Get(d) != nil, func() requirement.Finding {
				return requirement.Finding{
					Result: p.Result, Object: o, Path: []string{"metadata", "name"}, AtCaller: true, Root: "not emitted " + d,
					Message: fmt.Sprintf("package %s depends on %s, which preset %s does not emit: it never becomes ready", name, d, s.Preset),
					Want:    fmt.Sprintf("%s emitted too, or no dependency on it (%s:%d)", d, src.File, v.Line),
				}
			})
		}
	}
	c.Assert(len(p.Names()) > 0, func() requirement.Finding {
		return requirement.Finding{Chart: c.Tree.Profile.PlatformChart, Place: c.Tree.Profile.PlatformChart, Cause: "empty " + s.Preset, Message: "preset " + s.Preset + " emits no package"}
	})
}

func judgeComponents(c *requirement.Check) {
	for _, src := range c.Tree.Packages {
		for _, v := range src.Variants {
			libraries := map[string]bool{}
			for _, l := range v.Libraries {
				libraries[l.Name] = true
			}
			for _, comp := range v.Components {
				at := fmt.Sprintf("%s:%d", src.File, comp.Line)
				dir := path.Join(c.Tree.Profile.Sources.Root, comp.Path)
				finding := func(cause, format string, args ...any) func() requirement.Finding {
					return func() requirement.Finding {
						return requirement.Finding{
							Chart: dir, Place: at, Subject: c.Tree.Profile.Sources.Kind + " " + src.Name, Cause: src.Name + " " + v.Name + " " + comp.Name + " " + cause,
							Message: fmt.Sprintf("component %s of %s: ", comp.Name, src.Name) + fmt.Sprintf(format, args...), Want: "a chart, library or file of the tree",
						}
					}
				}
				c.Assert(c.Tree.Chart(dir) != nil, finding("chart", "there is no chart in %s", dir))
				for _, f := range comp.ValuesFile {
					c.Assert(c.Tree.Files.IsFile(path.Join(dir, f)), finding("values "+f, "its values file %s is not in the chart", f))
				}
				for _, l := range comp.Libraries {
					c.Assert(libraries[l], finding("library "+l, "the variant has no library %s", l))
				}
			}
			for _, d := range v.DependsOn {
				c.Assert(c.Tree.PackageSource(d) != nil, func() requirement.Finding {
					return requirement.Finding{
						Place: fmt.Sprintf("%s:%d", src.File, v.Line), Subject: c.Tree.Profile.Sources.Kind + " " + src.Name, Cause: src.Name + " depends on " + d,
						Message: fmt.Sprintf("variant %s of %s depends on %s, which no package source declares", v.Name, src.Name, d), Want: "the name of a package source",
					}
				})
			}
		}
	}
}

func judgeDefinitions(c *requirement.Check) {
	for _, d := range c.Tree.Definitions {
		if d.ChartRef.Kind != "" && d.ChartRef.Kind != c.Tree.Profile.Artifact.Kind {
			continue
		}
		a := c.Tree.Artifact(d.ChartRef.Name)
		c.Assert(a != nil && a.Chart != nil, func() requirement.Finding {
			return requirement.Finding{
				Place: fmt.Sprintf("%s:%d", d.File, d.Line), Subject: d.Kind, Cause: d.Kind,
				Message: fmt.Sprintf("releases of %s use the artifact %s, which no package source produces", d.Kind, d.ChartRef.Name),
				Want:    "source-variant-component of a package source",
			}
		})
	}
	if c.Assertions == 0 {
		c.Skip("the tree has no definition that uses an artifact")
	}
}

// judgeReach looks for sources that no installation emits.
func judgeReach(c *requirement.Check) {
	presets := c.PresetNames()
	if len(presets) == 0 {
		c.Skip("the platform chart has no presets")
		return
	}
	emitted := map[string]bool{}
	for _, preset := range presets {
		situations := []requirement.PlatformSituation{{Preset: preset}, {Preset: preset, Enabled: requirement.AllPackages}}
		// A switch of the platform may add packages, too.
		for _, s := range c.PlatformSwitches() {
			situations = append(situations, requirement.PlatformSituation{Preset: preset, Enabled: requirement.AllPackages, Values: s})
		}
		for _, s := range situations {
			p, err := c.Packages(s)
			if err != nil {
				continue
			}
			for _, n := range p.Names() {
				emitted[n] = true
			}
		}
	}
	if len(emitted) == 0 {
		c.Block("no preset renders a package")
		return
	}
	var lost []string
	for _, src := range c.Tree.Packages {
		if !emitted[src.Name] {
			lost = append(lost, src.Name)
		}
	}
	for _, src := range c.Tree.Packages {
		c.Assert(emitted[src.Name], func() requirement.Finding {
			return requirement.Finding{
				Place: fmt.Sprintf("%s:%d", src.File, src.Line), Subject: c.Tree.Profile.Sources.Kind + " " + src.Name, Severity: requirement.Should, Root: "reach",
				Message: fmt.Sprintf("no preset emits %s, not even as optional: nobody gets %s by the platform chart", count(len(lost), "package", lost), oneOrMore(len(lost), "it", "them")),
				Want:    "a bundle that emits the package, if it is no add-on",
			}
		})
	}
}
