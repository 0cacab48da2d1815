package etcd

import (
	"fmt"
	"slices"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/suites/requirement"
)

// bare tells what the objects that a chart renders without the datastore come
// to, beside those that it renders with it.
type bare struct {
	env    *requirement.Env
	kinds  []string        // that need the datastore
	stays  map[string]bool // Kind name, of what is rendered without it
	leaves map[string]bool // Kind name, of what is rendered with it alone
}

func newBare(e *requirement.Env, with, without []*render.Release) *bare {
	b := &bare{env: e, kinds: e.Tree.Profile.Datastore.Kinds, stays: names(e, without), leaves: names(e, with)}
	for k := range b.stays {
		delete(b.leaves, k)
	}
	return b
}

func names(e *requirement.Env, all []*render.Release) map[string]bool {
	out := map[string]bool{}
	for _, r := range all {
		if r.Remote || r.Result == nil {
			continue
		}
		for _, o := range r.Objects {
			out[o.GetKind()+" "+o.GetName()] = true
			for _, c := range e.Claimed(o.Unstructured) {
				out[c.Kind+" "+c.Name] = true
			}
		}
	}
	return out
}

// awaits says what an object waits for in vain, or leads to in vain; "" where it
// lies idle and does no harm.
func (b *bare) awaits(o *render.Object) string {
	pod := podSpec(o.Object)
	switch {
	case slices.Contains(b.kinds, o.GetKind()):
		return "it has nowhere to keep its data"
	case render.IsHelmRelease(o.Unstructured):
		return "it waits to be installed into the cluster that cannot appear"
	case pod != nil:
		if m := b.mountsMissing(pod); m != "" {
			return "its pods wait for " + m + ", which nothing makes"
		}
		if deleteHook(o) {
			return "" // finds nothing to clean up, and ends
		}
		return "its pods wait for the cluster that cannot appear, or fail"
	case o.GroupVersionKind().Group == "" && o.GetKind() == "Service" && requirement.Field(o.Object, "spec", "selector") != nil:
		return "nothing answers behind it"
	}
	if ref := b.refersTo(o.Object); ref != "" {
		return "it refers to " + ref + ", which is left out"
	}
	return ""
}

// podSpec is the pod that an object makes, nil where it makes none.
func podSpec(o map[string]any) map[string]any {
	for _, path := range [][]string{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}} {
		if pod := requirement.Map(o, path...); len(requirement.List(pod, "containers")) > 0 {
			return pod
		}
	}
	return nil
}

// deleteHook tells whether an object is a hook that runs for a deletion alone.
func deleteHook(o *render.Object) bool {
	hook := o.GetAnnotations()["helm.sh/hook"]
	return hook != "" && !slices.ContainsFunc(strings.Split(hook, ","), func(phase string) bool {
		return !strings.HasSuffix(strings.TrimSpace(phase), "-delete")
	})
}

// mountsMissing names a Secret or ConfigMap that a pod cannot start without and
// that is not rendered.
func (b *bare) mountsMissing(pod map[string]any) string {
	missing := ""
	look := func(kind, field string, source any) {
		name, _ := requirement.Field(source, field).(string)
		optional, _ := requirement.Field(source, "optional").(bool)
		if name != "" && !optional && !b.stays[kind+" "+name] && missing == "" {
			missing = kind + " " + name
		}
	}
	for _, v := range requirement.List(pod, "volumes") {
		look("Secret", "secretName", requirement.Field(v, "secret"))
		look("ConfigMap", "name", requirement.Field(v, "configMap"))
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range requirement.List(pod, list) {
			for _, env := range requirement.List(c, "env") {
				look("Secret", "name", requirement.Field(env, "valueFrom", "secretKeyRef"))
				look("ConfigMap", "name", requirement.Field(env, "valueFrom", "configMapKeyRef"))
			}
		}
	}
	return missing
}

// refersTo names an object that is rendered with the datastore alone and that
// this one refers to: by kind and name, or as the backend of a route.
func (b *bare) refersTo(o map[string]any) string {
	found := ""
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			name, _ := v["name"].(string)
			kind, _ := v["kind"].(string)
			if kind != "" && b.leaves[kind+" "+name] && found == "" {
				found = fmt.Sprintf("%s %s", kind, name)
			}
			if service, _ := requirement.Field(v, "service", "name").(string); b.leaves["Service "+service] && found == "" {
				found = "Service " + service
			}
			for _, k := range requirement.SortedKeys(v) {
				walk(v[k])
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	for _, k := range requirement.SortedKeys(o) {
		if k != "metadata" {
			walk(o[k])
		}
	}
	return found
}
