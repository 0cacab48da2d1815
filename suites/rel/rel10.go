package rel

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// MaxReleaseName is the longest release name that Helm stores, in characters
// (helm.sh/helm/v3/pkg/chartutil, maxReleaseNameLen).
const MaxReleaseName = 53

// What of a name is judged.
const (
	nameLength     = "length"
	nameCharacters = "characters"
)

// REL10: names that are accepted stay legal in all that is derived from them.
var REL10 = &requirement.Requirement{
	ID:        "REL-10",
	Statement: "The API accepts a name if and only if the chart renders it and all derived names and namespaces are legal",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "field bugs: names that the API took and the chart, or a name derived by it, could not bear",
	Axes:      "every chart that users create instances of, length of the name up to what Helm can store, and its characters",
	How:       "renders the chart under the longest name that the API accepts, Helm's 53 characters without the prefix of the release, and that the chart does not refuse with a message: all names, namespaces and label values have to be legal. Where one is not, the longest name that works is searched between that and a short one. For the characters it renders under names with a dot, a dash, two dashes, a capital, a digit first and last, and of one letter, as far as the platform's API accepts them (profile: names). One finding a chart, the smallest limit first; how names are quoted is judged by VAL-11",
	Fix:       "truncate derived names (trunc 63 | trimSuffix \"-\"), or refuse names that are too long where they come in",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool { return c.Application && !c.Module && e.Tree.ChartDefinition(c) != nil }, func(*tree.Chart) matrix.Matrix {
			return matrix.Matrix{Axes: []matrix.Axis{{Name: "name", Values: []string{nameLength, nameCharacters}}}}
		}, "the tree publishes no application kind with a chart"), nil
	},
	Judge: func(_ context.Context, c *requirement.Check) {
		d := c.Tree.ChartDefinition(c.Subject.Chart)
		n := &naming{Check: c, prefix: d.Prefix, base: strings.TrimPrefix(c.ReleaseName(c.Subject.Chart), d.Prefix)}
		if _, ok := c.Result(n.input(n.base)); !ok {
			return // it does not render under a plain name either: skipped or blocked, with the reason
		}
		if c.Get("name") == nameLength {
			n.lengths()
			return
		}
		if c.Tree.Profile.Names.For(d.Kind) == "" {
			c.Skip("the profile does not say which names the API accepts")
			return
		}
		pattern, err := regexp.Compile(c.Tree.Profile.Names.For(d.Kind))
		if err != nil {
			c.Err = fmt.Errorf("profile: names of %s: %w", d.Kind, err)
			return
		}
		n.characters(pattern)
	},
}

// naming is a chart whose instances get names.
type naming struct {
	*requirement.Check
	prefix, base string
}

func (n *naming) input(name string) render.Input {
	in := n.SweepInput(n.Subject.Chart, nil)
	in.Release = n.prefix + name
	return in
}

// flaw is a name or label that is illegal under a name of the instance.
type flaw struct {
	requirement.Illegality
	result *render.Result
	object *render.Object
	limit  int // the longest name that works
}

func (f flaw) cause() string {
	return f.object.Template + " " + f.object.GetKind() + " " + strings.Join(f.Path, ".")
}

// flaws renders under a name. broken is a failure that is no refusal.
func (n *naming) flaws(name string) (found []flaw, refused bool, broken *render.Failure) {
	r := n.Engine.Render(n.input(name))
	if r.Failure != nil {
		refused = r.Failure.Kind == render.FailFailure || r.Failure.Kind == render.SchemaFailure
		if !refused {
			broken = r.Failure
		}
		return nil, refused, broken
	}
	for _, o := range r.Objects {
		n.Assertions++
		for _, p := range requirement.Illegal(o.Unstructured) {
			found = append(found, flaw{Illegality: p, result: r, object: o})
		}
	}
	return found, false, nil
}

// long is a name of some length that YAML takes for nothing but a string.
func (n *naming) long(length int) string {
	return n.base + strings.Repeat("x", max(0, length-len(n.base)))
}

// lengths judges the longest name that the chart renders.
func (n *naming) lengths() {
	least, most := len(n.base), MaxReleaseName-len(n.prefix)
	if most < least {
		n.Fail(requirement.Finding{Cause: "prefix", Message: fmt.Sprintf("the prefix %q of its releases leaves %s of the %d that Helm stores for a name", n.prefix, characters(most), MaxReleaseName), Want: "a prefix that leaves room for a name"})
		return
	}
	top := longest(least, most, func(length int) bool {
		_, refused, _ := n.flaws(n.long(length))
		return !refused
	})
	found, _, broken := n.flaws(n.long(top))
	if broken != nil {
		n.Fail(requirement.Finding{Place: broken.Place(), Cause: "render", Message: fmt.Sprintf("an instance with a name of %s does not render: %s", characters(top), broken.Message), Want: "objects, or a refusal that names the limit"})
		return
	}
	var flaws []flaw
	for _, f := range found {
		if slices.ContainsFunc(flaws, func(g flaw) bool { return g.cause() == f.cause() }) {
			continue
		}
		f.limit = longest(least-1, top, func(length int) bool {
			if length < least {
				return true // a bound, not a name
			}
			all, _, _ := n.flaws(n.long(length))
			return !slices.ContainsFunc(all, func(g flaw) bool { return g.cause() == f.cause() })
		})
		flaws = append(flaws, f)
	}
	sort.SliceStable(flaws, func(i, j int) bool { return flaws[i].limit < flaws[j].limit })
	for i, f := range flaws {
		object := n.short(f.object.Key().String(), top)
		if i > 0 {
			object += fmt.Sprintf(" (longest name: %s)", characters(f.limit))
		}
		why := fmt.Sprintf("the longest name that works has %s, and the API accepts %d (Helm stores %d with the prefix %q)", characters(f.limit), most, MaxReleaseName, n.prefix)
		if f.limit < least {
			why = fmt.Sprintf("not even a name of %s works", characters(least))
		}
		n.report(f, "length", object, fmt.Sprintf("%s: under a name of %d the %s gets %s", why, top, f.object.GetKind(), n.short(f.Message, top)))
	}
}

// short writes a long name as people speak of it.
func (n *naming) short(text string, length int) string {
	return strings.ReplaceAll(text, n.long(length), "<name>")
}

// characters judges names that are made of all that the API accepts.
func (n *naming) characters(accepted *regexp.Regexp) {
	b := n.base
	for _, name := range []string{b + "0", b + "-x", b + "--x", b + "-0", "m", b + ".x", "0" + b, "Up" + b, b + "_x"} {
		if !accepted.MatchString(name) {
			continue
		}
		found, _, broken := n.flaws(name)
		if broken != nil {
			n.Fail(requirement.Finding{Place: broken.Place(), Cause: "render", Root: n.Subject.Chart.Dir + " characters", Message: fmt.Sprintf("an instance called %q does not render: %s", name, broken.Message), Want: "objects, or a refusal that says why"})
		}
		for _, f := range found {
			n.report(f, "characters", f.object.Key().String(), fmt.Sprintf("the API accepts the name %q, and the %s gets %s", name, f.object.GetKind(), f.Message))
		}
	}
	if n.Assertions == 0 && len(n.Findings) == 0 {
		n.Skip("the chart refuses every one of these names that the API accepts, with a message")
	}
}

func (n *naming) report(f flaw, what, object, message string) {
	n.Assertions-- // it was counted with its object
	n.Fail(requirement.Finding{
		Result: f.result, Object: f.object, Path: f.Path, Subject: object, Root: n.Subject.Chart.Dir + " " + what,
		Message: message, Want: "a legal name, or a refusal that names the limit",
	})
}

// longest returns the greatest length from least to most that works, by
// bisection: what is too long stays too long. It returns least where none works.
func longest(least, most int, works func(int) bool) int {
	if works(most) {
		return most
	}
	for least+1 < most {
		if mid := (least + most) / 2; works(mid) {
			least = mid
		} else {
			most = mid
		}
	}
	return least
}

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}
