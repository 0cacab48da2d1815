package requirement

import (
	"fmt"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Illegality is a name or label that the API server, or what a controller
// derives from it, refuses.
type Illegality struct {
	Path    []string
	Message string
}

// nameRules are the kinds whose names are narrower than a DNS subdomain, by
// group/kind.
var nameRules = map[string]func(string, bool) []string{
	"/Service":                                     apivalidation.NameIsDNS1035Label,
	"/Namespace":                                   apivalidation.NameIsDNSLabel,
	"apps/StatefulSet":                             maxName(52, "its controller appends a hash to it in a label"),
	"batch/CronJob":                                maxName(52, "its controller appends a time stamp to it"),
	"batch/Job":                                    maxName(63, "it becomes a label of its pods"),
	"rbac.authorization.k8s.io/Role":               segment,
	"rbac.authorization.k8s.io/RoleBinding":        segment,
	"rbac.authorization.k8s.io/ClusterRole":        segment,
	"rbac.authorization.k8s.io/ClusterRoleBinding": segment,
	"apiregistration.k8s.io/APIService":            segment,
}

func segment(name string, prefix bool) []string { return path.ValidatePathSegmentName(name, prefix) }

func maxName(n int, why string) func(string, bool) []string {
	return func(name string, prefix bool) []string {
		msgs := apivalidation.NameIsDNSSubdomain(name, prefix)
		if len(name) > n {
			msgs = append(msgs, fmt.Sprintf("must be no more than %d characters, because %s", n, why))
		}
		return msgs
	}
}

// Illegal returns what is illegal in the names, namespaces and labels of an
// object and of the pods and selectors that it holds.
func Illegal(u *unstructured.Unstructured) []Illegality {
	var out []Illegality
	add := func(msgs []string, value string, path ...string) {
		for _, m := range msgs {
			out = append(out, Illegality{Path: slices.Clone(path), Message: fmt.Sprintf("%s %q (%d characters): %s", strings.Join(path, "."), value, len(value), m)})
		}
	}
	name := u.GetName()
	switch {
	case name == "" && u.GetGenerateName() == "":
		add([]string{"an object needs a name"}, "", "metadata", "name")
	case name == "":
	default:
		rule := nameRules[u.GroupVersionKind().Group+"/"+u.GetKind()]
		if rule == nil {
			rule = apivalidation.NameIsDNSSubdomain
		}
		if u.GroupVersionKind().Group == "rbac.authorization.k8s.io" {
			rule = segment
		}
		add(rule(name, false), name, "metadata", "name")
	}
	if ns := u.GetNamespace(); ns != "" {
		add(validation.IsDNS1123Label(ns), ns, "metadata", "namespace")
	}
	Walk(u.Object, func(p []string, v any) {
		if len(p) == 0 {
			return
		}
		last := p[len(p)-1]
		switch last {
		case "labels", "matchLabels", "nodeSelector":
			m, ok := v.(map[string]any)
			if !ok || !labelsAt(u, p) {
				return
			}
			for _, k := range SortedKeys(m) {
				add(validation.IsQualifiedName(withoutSource(u, k)), k, append(p, k)...)
				if s, ok := m[k].(string); ok && strings.Contains(s, "{{") {
					continue // a template that a controller fills in
				} else if ok {
					add(validation.IsValidLabelValue(s), s, append(p, k)...)
				} else if m[k] != nil {
					add([]string{fmt.Sprintf("must be a string, is a %T", m[k])}, fmt.Sprint(m[k]), append(p, k)...)
				}
			}
		case "annotations":
			m, ok := v.(map[string]any)
			if !ok || !labelsAt(u, p) {
				return
			}
			for _, k := range SortedKeys(m) {
				add(validation.IsQualifiedName(strings.ToLower(k)), k, append(p, k)...)
				if _, ok := m[k].(string); !ok && m[k] != nil {
					add([]string{fmt.Sprintf("must be a string, is a %T", m[k])}, fmt.Sprint(m[k]), append(p, k)...)
				}
			}
		case "containers", "initContainers":
			list, ok := v.([]any)
			if !ok || !slices.Contains(builtinGroups, u.GroupVersionKind().Group) {
				return
			}
			for i, c := range list {
				if n, ok := Field(c, "name").(string); ok {
					add(validation.IsDNS1123Label(n), n, append(p, itoa(i), "name")...)
				}
			}
		}
	})
	return out
}

// withoutSource removes the source (k8s:, any:, reserved:) that Cilium puts in
// front of a label in its selectors.
func withoutSource(u *unstructured.Unstructured, label string) string {
	if strings.HasSuffix(u.GroupVersionKind().Group, "cilium.io") {
		if _, rest, ok := strings.Cut(label, ":"); ok {
			return rest
		}
	}
	return label
}

// labelsAt tells whether labels at a path are those of Kubernetes: of an
// object, of a template, or of a selector; free-form data are not.
func labelsAt(u *unstructured.Unstructured, p []string) bool {
	if len(p) < 2 {
		return false
	}
	if slices.Contains(p, "data") || slices.Contains(p, "stringData") || slices.Contains(p, "values") || slices.Contains(p, "openAPIV3Schema") {
		return false
	}
	if p[len(p)-1] == "nodeSelector" && !Builtin(u) {
		return false // a selector of its own
	}
	switch p[len(p)-1] {
	case "labels", "annotations":
		return p[len(p)-2] == "metadata"
	case "nodeSelector":
		return p[len(p)-2] == "spec"
	}
	return true
}

var builtinGroups = []string{"", "apps", "batch"}

// Builtin tells whether an object is of one of Kubernetes' own API groups.
func Builtin(u *unstructured.Unstructured) bool {
	g := u.GroupVersionKind().Group
	return !strings.Contains(g, ".") || strings.HasSuffix(g, ".k8s.io") && slices.Contains([]string{
		"networking.k8s.io", "rbac.authorization.k8s.io", "storage.k8s.io", "scheduling.k8s.io", "admissionregistration.k8s.io",
		"apiextensions.k8s.io", "apiregistration.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "node.k8s.io", "certificates.k8s.io",
	}, g)
}
