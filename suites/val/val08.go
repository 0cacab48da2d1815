package val

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/requirement"
)

// VAL08: what is pulled is pinned.
var VAL08 = &requirement.Requirement{
	ID:        "VAL-08",
	Statement: "Images and artifacts are pinned: no `latest`, no floating tag",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "review of the ComputePlane module: a nested release pulled an artifact with the tag latest",
	Axes:      "every chart, pairwise over its gates and situations",
	How:       "renders the chart and those that it installs, and looks at every image of a container and at every string that is an image or artifact reference, in values for other charts too; one without a digest needs a tag that does not move. All places of one reference are one finding, which is must",
	Fix:       "name a version, or better a digest",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(*tree.Chart) bool { return true }, e.Sweep, "the tree has no chart"), nil
	},
	Judge: judgeVAL08,
}

// floating are tags that are moved from version to version.
var floating = []string{"latest", "stable", "edge", "nightly", "main", "master", "dev", "devel", "develop", "canary", "rolling", "current", "head", "lts"}

var (
	// artifactRef is a reference with a registry host or a scheme in front.
	artifactRef = regexp.MustCompile(`^(?:(?:oci|docker)://)?[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?(?:/[a-z0-9._-]+)+(?::([\w][\w.-]{0,127}))?(@sha256:[0-9a-f]{64})?$`)
	imageRef    = regexp.MustCompile(`^(?:[a-zA-Z0-9.-]+(?::\d+)?/)?[a-z0-9._/-]+(?::([\w][\w.-]{0,127}))?(@sha256:[0-9a-f]{64})?$`)
)

func judgeVAL08(_ context.Context, c *requirement.Check) {
	all, ok := c.Closure(c.SweepInput(c.Subject.Chart, c.Point))
	if !ok {
		return
	}
	for _, r := range all {
		if r.Result != nil {
			judgePinned(c, r.Result)
		}
	}
	if c.Assertions == 0 {
		c.Skip("nothing is pulled here")
	}
}

func judgePinned(c *requirement.Check, r *render.Result) {
	for _, o := range r.Objects {
		if o.GetKind() == "CustomResourceDefinition" {
			continue // examples in descriptions are pulled by nobody
		}
		requirement.Walk(o.Object, func(path []string, v any) {
			s, ok := v.(string)
			if !ok || len(path) == 0 {
				return
			}
			tag, pinned, isRef := reference(path, s)
			if !isRef {
				return
			}
			c.Assert(pinned || tag != "" && !slices.Contains(floating, strings.ToLower(tag)), func() requirement.Finding {
				what := "has no tag, so it is whatever is newest"
				if tag != "" {
					what = "has the tag " + tag + ", which moves"
				}
				return requirement.Finding{
					Result: r, Object: o, Path: path, Root: s,
					Message: fmt.Sprintf("%s %s: what a restart pulls tomorrow is not what was tested", s, what),
					Want:    "a version or a digest",
				}
			})
		})
	}
}

// reference reads a string as an image or artifact reference: the image of a
// container, or any string with a registry in front and a tag behind.
func reference(path []string, s string) (tag string, pinned, ok bool) {
	last := path[len(path)-1]
	if last == "image" && len(path) > 2 && (slices.Contains(path, "containers") || slices.Contains(path, "initContainers")) {
		m := imageRef.FindStringSubmatch(s)
		if m == nil {
			return "", false, false
		}
		return m[1], m[2] != "", true
	}
	m := artifactRef.FindStringSubmatch(s)
	if m == nil || m[1] == "" && m[2] == "" {
		return "", false, false
	}
	return m[1], m[2] != "", true
}
