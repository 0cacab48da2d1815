package val

import (
	"fmt"
	"strconv"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/suites/requirement"
)

// namesOfRule is the field of a rule of RBAC that narrows it to objects by name.
const namesOfRule = "resourceNames"

// judgeNamesOfRules asserts that no rule of RBAC states names and has none: it
// covers every object then.
func judgeNamesOfRules(c *requirement.Check, r *render.Result, o *render.Object) {
	if o.GroupVersionKind().Group != "rbac.authorization.k8s.io" {
		return
	}
	for i, v := range requirement.List(o.Object, "rules") {
		rule, ok := v.(map[string]any)
		if !ok {
			continue
		}
		names, stated := rule[namesOfRule]
		if !stated {
			continue
		}
		list, _ := names.([]any)
		c.Assert(len(list) > 0, func() requirement.Finding {
			p := []string{"rules", strconv.Itoa(i), namesOfRule}
			what := "empty"
			if names == nil {
				what = "null"
			}
			reach := "in the namespace"
			if o.GetKind() == "ClusterRole" {
				reach = "wherever the role is bound"
			}
			return requirement.Finding{
				Result: r, Object: o, Path: p, Severity: requirement.Must, AtCaller: true,
				Root: "names " + o.Template + " " + strings.Join(stringsOf(rule["resources"]), ","),
				Message: fmt.Sprintf("%s is %s in %s: a rule without names covers every object, so it grants %s on all %s %s",
					strings.Join(p, "."), what, o.Key(), strings.Join(stringsOf(rule["verbs"]), ", "), strings.Join(stringsOf(rule["resources"]), ", "), reach),
				Want: "the rule only where there is a name to put into it",
			}
		})
	}
}

func stringsOf(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
