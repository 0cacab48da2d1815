package val

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// VAL07: two instances do not meet.
var VAL07 = &requirement.Requirement{
	ID:        "VAL-07",
	Statement: "Two instances, in one namespace and in two, share no name; names that are prefixes of each other do not meet in selectors",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "field bugs: deleting one database removed the users secret of its neighbour, which both had under the operator's default name; two tenants fought over the same ClusterRoles",
	Axes:      "every application chart; pairs of instances: names a and ab, and a and a-b, in one namespace (modules have one name and are left out), the same name in two namespaces; defaults, everything switched on, every enumeration",
	How:       "renders both instances with all that their HelmReleases install in this cluster, and compares kind, namespace and name of every object, and of what the controllers of some kinds make (profile: claims); equal content does not help, since an object belongs to one release: helm-controller adopts what another release owns and overwrites it (TakeOwnership, unless the HelmRelease says disableTakeOwnership), and it is gone for both when the release that has it is deleted. In one namespace, no selector may match pods of the other instance. For a and a-b, the entries of mappings are b-x in the one and x in the other: should, where the name or selector holds the name a-b, since a user must contrive such a pair; must otherwise, and for all other pairs. All objects of one chart that lack the same (the namespace, the name of the instance, a fixed word) are one finding",
	Fix:       "put the release name, and for objects of the whole cluster the namespace, into the name and into the selector; put a fixed word between the release name and the name of an entry",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool { return c.Application }, func(c *tree.Chart) matrix.Matrix { return instancePairs(e, c) }, "the tree has no application chart"), nil
	},
	Judge: judgeVAL07,
}

// Pairs of instances.
const (
	prefixPair    = "a,ab"
	dashPair      = "a,a-b"
	namespacePair = "two-namespaces"
)

func instancePairs(e *requirement.Env, c *tree.Chart) matrix.Matrix {
	contexts := e.ContextNames(c)
	m := matrix.Matrix{Axes: []matrix.Axis{{Name: "pair", Values: []string{prefixPair, dashPair, namespacePair}}, {Name: "values", Values: contexts}}}
	if c.Module {
		m.Axes[0].Values = []string{namespacePair}
	}
	// The dash tells on the names of entries, which one context has.
	most := contexts[min(1, len(contexts)-1)]
	m.Where = func(p matrix.Point) bool { return p.Get("pair") != dashPair || p.Get("values") == most }
	return m
}

func judgeVAL07(_ context.Context, c *requirement.Check) {
	one, two, ok := pair(c)
	if !ok {
		return
	}
	here, ok := live(c, one)
	if !ok {
		return
	}
	there, ok := live(c, two)
	if !ok {
		return
	}
	collisions(c, here, there, two.Release)
	if c.Get("pair") != namespacePair {
		selections(c, here, there, two.Release)
		selections(c, there, here, two.Release)
	}
}

// pair returns how the two instances of a case are rendered.
func pair(c *requirement.Check) (one, two render.Input, ok bool) {
	chart, profile := c.Subject.Chart, c.Tree.Profile
	input := func(namespace, release, entry string) (render.Input, bool) {
		values, err := c.Context(chart, c.Get("values"), entry)
		if err != nil {
			c.Skip("the chart does not render with these values: %v", err)
			return render.Input{}, false
		}
		s := requirement.Situation{Namespace: namespace, Modules: map[string]string{}}
		if chart.Module {
			s.Modules[chart.Name] = requirement.Own
		}
		in := c.Input(chart, s, map[string]any{profile.Injected.Namespace: map[string]any{profile.Injected.HostKey: namespace + ".example.org"}}, values)
		if release != "" {
			in.Release = prefix(c.Env, chart) + release
		}
		return in, true
	}
	name, other := "a", "ab"
	first, second := c.TenantNamespace(), c.TenantNamespace()
	entry, entry2 := requirement.ExampleName, requirement.ExampleName
	switch c.Get("pair") {
	case dashPair:
		other, entry = "a-b", "b-"+requirement.ExampleName
	case namespacePair:
		first, second = profile.Tenant.Prefix+"a", profile.Tenant.Prefix+"b"
		if other = name; chart.Module {
			name, other = "", ""
		}
	}
	if one, ok = input(first, name, entry); ok {
		two, ok = input(second, other, entry2)
	}
	return one, two, ok
}

// prefix is what the platform puts in front of the name of an instance.
func prefix(e *requirement.Env, c *tree.Chart) string {
	if d := e.Tree.ChartDefinition(c); d != nil {
		return d.Prefix
	}
	return ""
}

// name is a name that a release takes: of an object, or of what a controller
// makes for it.
type name struct {
	key     render.Key
	path    []string
	release *render.Release
	object  *render.Object
}

// live returns the names that an instance takes in this cluster, with those of
// the releases that it installs; what goes to another cluster is left out.
func live(c *requirement.Check, in render.Input) ([]name, bool) {
	root, ok := c.Result(in)
	if !ok {
		return nil, false
	}
	all := []*render.Release{{Result: root}}
	// Most HelmReleases go to other clusters, and following them is dear.
	if slices.ContainsFunc(root.Objects, func(o *render.Object) bool {
		return render.IsHelmRelease(o.Unstructured) && requirement.Field(o.Object, "spec", "kubeConfig") == nil
	}) {
		all = c.Engine.Closure(in)
	}
	scopes := c.Scopes()
	var out []name
	for _, r := range all {
		if r.Result == nil || r.Failure != nil || remote(r) {
			continue
		}
		for _, o := range r.Objects {
			key := scopes.Key(o.Unstructured, r.Input.Namespace)
			if key.Name == "" {
				continue
			}
			out = append(out, name{key, []string{"metadata", "name"}, r, o})
			for _, made := range c.Claimed(o.Unstructured) {
				out = append(out, name{render.Key{Kind: made.Kind, Namespace: key.Namespace, Name: made.Name}, made.Path, r, o})
			}
		}
	}
	// An object and the one that makes it are one.
	return slices.CompactFunc(out, func(a, b name) bool { return a.key == b.key && a.object == b.object }), true
}

// remote tells whether a release, or one above it, goes to another cluster.
func remote(r *render.Release) bool {
	for ; r != nil; r = r.Parent {
		if r.Remote {
			return true
		}
	}
	return false
}

// contrived tells whether a pair met only because names of entries were chosen
// for it: the text, of a name or a selector, holds the name of the second
// instance, and does so for the first one too.
func contrived(c *requirement.Check, text, second string) bool {
	return c.Get("pair") == dashPair && strings.Contains(text, second)
}

// selections asserts that no selector of one instance matches pods of the
// other. second is the release name of the second instance.
func selections(c *requirement.Check, one, two []name, second string) {
	for _, n := range one {
		path, sel := selector(n.object)
		if sel == nil || n.path[0] != "metadata" {
			continue
		}
		finding := func(message string) requirement.Finding {
			f := requirement.Finding{
				Result: n.release.Result, Object: n.object, Path: path, Root: "selector " + n.release.Input.Chart,
				Message: message, Want: "a selector that holds the name of the instance",
			}
			if contrived(c, sel.String(), second) {
				f.Severity, f.Root = requirement.Should, "entries in selectors "+n.release.Input.Chart
			}
			return f
		}
		for _, m := range two {
			if _, other := selector(m.object); other != nil && m.path[0] == "metadata" && m.object.GetKind() == n.object.GetKind() && m.key.Namespace == n.key.Namespace {
				c.Assert(other.String() != sel.String(), func() requirement.Finding {
					return finding(fmt.Sprintf("%s and %s of another instance select the same pods (%s)", n.key, m.key, sel))
				})
			}
			pods := podLabels(m.object)
			if pods == nil || m.key.Namespace != n.key.Namespace {
				continue
			}
			c.Assert(!sel.Matches(pods), func() requirement.Finding {
				return finding(fmt.Sprintf("%s selects (%s) the pods of %s of another instance too", n.key, sel, m.key))
			})
		}
	}
}

// selector returns the selector of an object over pods, nil where it has none.
func selector(o *render.Object) ([]string, labels.Selector) {
	switch o.GetKind() {
	case "Service":
		m := requirement.Map(o.Object, "spec", "selector")
		if len(m) == 0 {
			return nil, nil
		}
		set := labels.Set{}
		for k, v := range m {
			set[k] = fmt.Sprint(v)
		}
		return []string{"spec", "selector"}, labels.SelectorFromSet(set)
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "PodDisruptionBudget":
		m := requirement.Map(o.Object, "spec", "selector")
		var ls metav1.LabelSelector
		if len(m) == 0 || runtime.DefaultUnstructuredConverter.FromUnstructured(m, &ls) != nil {
			return nil, nil
		}
		sel, err := metav1.LabelSelectorAsSelector(&ls)
		if err != nil {
			return nil, nil
		}
		return []string{"spec", "selector"}, sel
	}
	return nil, nil
}

// podLabels returns the labels of the pods that an object makes, nil where it
// makes none.
func podLabels(o *render.Object) labels.Labels {
	template := requirement.Map(o.Object, "spec", "template")
	if o.GetKind() == "CronJob" {
		template = requirement.Map(o.Object, "spec", "jobTemplate", "spec", "template")
	}
	m := requirement.Map(template, "metadata", "labels")
	if len(m) == 0 {
		return nil
	}
	set := labels.Set{}
	for k, v := range m {
		set[k] = fmt.Sprint(v)
	}
	return set
}
