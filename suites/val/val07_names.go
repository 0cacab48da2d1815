package val

import (
	"fmt"
	"reflect"
	"slices"

	"proofplane/fixtures/render"
	"proofplane/suites/requirement"
)

// collisions asserts that two instances share no name. second is the release
// name of the second one.
func collisions(c *requirement.Check, here, there []name, second string) {
	owners := map[render.Key]name{}
	for _, n := range here {
		owners[n.key] = n
	}
	// A binding tells best what is lost.
	slices.SortStableFunc(there, func(a, b name) int { return rank(a) - rank(b) })
	for _, n := range there {
		first, taken := owners[n.key]
		c.Assert(!taken, func() requirement.Finding { return collision(c, first, n, second) })
	}
}

func rank(n name) int {
	if isBinding(n.key.Kind) {
		return 0
	}
	return 1
}

func isBinding(kind string) bool { return kind == "ClusterRoleBinding" || kind == "RoleBinding" }

// collision is the finding that both of two instances have a name.
func collision(c *requirement.Check, first, n name, second string) requirement.Finding {
	f := requirement.Finding{
		Result: n.release.Result, Object: n.object, Path: n.path,
		Message: fmt.Sprintf("%s is shared by %s: %s", n.key, instances(first.release, n.release), happens(first, n)),
	}
	chart := n.release.Input.Chart
	switch {
	case contrived(c, n.key.Name, second):
		f.Severity, f.Root = requirement.Should, "entries "+chart
		f.Want = "a fixed word between the name of the instance and that of an entry"
		f.Message = fmt.Sprintf("%s is both entry b-%s of instance a and entry %[2]s of instance a-b: %s", n.key, requirement.ExampleName, happens(first, n))
	case n.key.Namespace == "":
		f.Root, f.Want = "cluster "+chart, "a name that holds the namespace and the instance"
	default:
		f.Root, f.Want = "names "+chart, "a name of its own for each instance"
	}
	return f
}

// happens says what comes of two releases that have one name.
func happens(first, n name) string {
	switch {
	case n.path[0] != "metadata":
		return "the controllers of both write it, and deleting one takes it from the other"
	case refuses(n.release):
		return "the second release is refused"
	case isBinding(n.key.Kind) && !reflect.DeepEqual(n.object.Object["subjects"], first.object.Object["subjects"]):
		return "Flux lets the second overwrite its subjects, and the first loses its rights"
	}
	return "Flux lets the second take it over, and deleting that one removes it for both"
}

// refuses tells whether the HelmRelease of a release lets it adopt nothing.
func refuses(r *render.Release) bool {
	return r.Via != nil && requirement.Field(r.Via.Object, "spec", "install", "disableTakeOwnership") == true
}

// instances names two instances by their namespaces, where these differ, else by
// their releases.
func instances(one, two *render.Release) string {
	if a, b := one.Input.Namespace, two.Input.Namespace; a != b {
		return "instances in " + a + " and " + b
	}
	return root(one).Input.Release + " and " + root(two).Input.Release
}

func root(r *render.Release) *render.Release {
	for r.Parent != nil {
		r = r.Parent
	}
	return r
}
