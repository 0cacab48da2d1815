package grd

import (
	"path"
	"slices"
	"strings"
	"time"
)

// Kubectl is a call of kubectl whose arguments could be read.
type Kubectl struct {
	Verb    string // with the subcommand of rollout: rollout status
	Targets []Target
	// Selected is set where the objects are picked by a selector, or all.
	Selected bool
	// Namespace is "" for the one of the pod; NamespaceKnown is false where the
	// script does not tell.
	Namespace      string
	NamespaceKnown bool
	AllNamespaces  bool
	// Remote is set where it speaks to a cluster that it is given by flags.
	Remote bool
	// Limit is the value of timeout(1) before it, 0 for none.
	Limit time.Duration
	Line  int
	// Sometimes as in Command.
	Sometimes bool

	flags map[string]Word
}

// Target is an object, or all of a resource, that kubectl is called for.
type Target struct {
	Resource  string // as it is written: pvc, certificates.cert-manager.io
	Name      string
	Named     bool
	NameKnown bool
}

// Flags of kubectl that take a value, and those that do not.
var (
	valueFlags = []string{"namespace", "selector", "output", "patch", "patch-file", "type", "field-selector", "timeout", "request-timeout", "filename", "for", "field-manager", "kubeconfig", "context", "cluster", "user", "server", "token", "as", "as-group", "raw", "grace-period", "template", "subresource", "container", "replicas", "sort-by", "chunk-size", "label-columns", "v", "revision", "resource-version", "current-replicas", "certificate-authority"}
	boolFlags  = []string{"wait", "ignore-not-found", "all", "all-namespaces", "overwrite", "no-headers", "watch", "watch-only", "now", "force", "cascade", "dry-run", "list", "local", "show-labels", "show-kind", "insecure-skip-tls-verify", "recursive", "quiet", "server-side", "force-conflicts", "interactive"}
	shortFlags = map[string]string{"n": "namespace", "l": "selector", "o": "output", "p": "patch", "f": "filename", "A": "all-namespaces", "w": "watch", "k": "kustomize", "c": "container", "L": "label-columns", "v": "v", "R": "recursive", "s": "server", "q": "quiet", "i": "interactive"}
	remote     = []string{"kubeconfig", "context", "cluster", "server"}
)

// ReadKubectl reads a command as a call of kubectl; ok is false where it is
// none, or cannot be read for sure.
func ReadKubectl(c Command) (k *Kubectl, ok bool) {
	k = &Kubectl{NamespaceKnown: true, Line: c.Line, Sometimes: c.Sometimes, flags: map[string]Word{}}
	words := c.Words
	for len(words) > 0 && words[0].Known && strings.Contains(words[0].Text, "=") && wordName.MatchString(words[0].Text) {
		words = words[1:] // VAR=value kubectl
	}
	if len(words) > 2 && words[0].Text == "timeout" {
		words = words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
			words = words[1:]
		}
		if len(words) == 0 {
			return nil, false
		}
		d, err := time.ParseDuration(words[0].Text)
		if err != nil {
			d, err = time.ParseDuration(words[0].Text + "s")
		}
		if err != nil {
			return nil, false
		}
		k.Limit, words = d, words[1:]
	}
	if len(words) == 0 || !words[0].Known || path.Base(words[0].Text) != "kubectl" {
		return nil, false
	}
	var args []Word
	words = words[1:]
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !strings.HasPrefix(w.Text, "-") || w.Text == "-" {
			if !w.Known && !w.Quoted {
				return nil, false // may be any number of words
			}
			args = append(args, w)
			continue
		}
		name, value, has := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
		if !strings.HasPrefix(w.Text, "--") {
			long := shortFlags[name[:min(1, len(name))]]
			if long == "" {
				return nil, false
			}
			switch {
			case len(name) > 1 && slices.Contains(valueFlags, long):
				value, has = strings.TrimPrefix(w.Text[2:], "="), true
			case len(name) > 1:
				return nil, false // several flags in one
			}
			name = long
		}
		switch {
		case has:
			k.flags[name] = Word{Text: value, Known: w.Known}
		case slices.Contains(boolFlags, name):
			k.flags[name] = Word{Text: "true", Known: true}
		case slices.Contains(valueFlags, name):
			if i++; i >= len(words) {
				return nil, false
			}
			k.flags[name] = words[i]
		default:
			return nil, false
		}
	}
	if len(args) == 0 || !args[0].Known {
		return nil, false
	}
	k.Verb, args = args[0].Text, args[1:]
	if k.Verb == "rollout" {
		if len(args) == 0 || !args[0].Known {
			return nil, false
		}
		k.Verb, args = k.Verb+" "+args[0].Text, args[1:]
	}
	if ns, ok := k.flags["namespace"]; ok {
		k.Namespace, k.NamespaceKnown = ns.Text, ns.Known
	}
	k.AllNamespaces = k.is("all-namespaces")
	k.Selected = k.is("all") || k.Has("selector") || k.Has("field-selector")
	k.Remote = slices.ContainsFunc(remote, k.Has)
	return k, k.targets(args)
}

// targets reads TYPE NAME..., TYPE,TYPE, and TYPE/NAME...
func (k *Kubectl) targets(args []Word) bool {
	if k.Has("filename") || k.Has("raw") || k.Has("kustomize") || len(args) == 0 {
		return true
	}
	if k.Verb == "annotate" || k.Verb == "label" {
		args = slices.DeleteFunc(slices.Clone(args), func(w Word) bool {
			return strings.Contains(w.Text, "=") || strings.HasSuffix(w.Text, "-")
		})
	}
	if strings.Contains(args[0].Text, "/") {
		for _, a := range args {
			if !strings.Contains(a.Text, "/") {
				return false
			}
			kind, name, _ := strings.Cut(a.Text, "/")
			if !a.Known && (kind == "" || strings.HasPrefix(a.Text, "/")) {
				return false
			}
			k.Targets = append(k.Targets, Target{Resource: kind, Name: name, Named: true, NameKnown: a.Known})
		}
		return true
	}
	if !args[0].Known {
		return false
	}
	for _, kind := range strings.Split(args[0].Text, ",") {
		if len(args) == 1 {
			k.Targets = append(k.Targets, Target{Resource: kind})
		}
		for _, a := range args[1:] {
			k.Targets = append(k.Targets, Target{Resource: kind, Name: a.Text, Named: true, NameKnown: a.Known})
		}
	}
	return true
}

// Has tells whether a flag is given.
func (k *Kubectl) Has(flag string) bool { _, ok := k.flags[flag]; return ok }

// is tells whether a flag without a value is set.
func (k *Kubectl) is(flag string) bool {
	w, ok := k.flags[flag]
	return ok && w.Text != "false"
}

// Waits tells whether it waits for what it was told, which kubectl does after
// a delete unless it is told not to.
func (k *Kubectl) Waits() bool {
	switch k.Verb {
	case "delete":
		w, ok := k.flags["wait"]
		return !k.Has("dry-run") && (!ok || w.Text != "false")
	case "wait":
		return true
	case "rollout status":
		w, ok := k.flags["watch"]
		return !ok || w.Text != "false"
	}
	return false
}

// Bound is how long it waits; bounded is false where it waits for ever, and ok
// where the script does not tell.
func (k *Kubectl) Bound() (d time.Duration, bounded, ok bool) {
	w, has := k.flags["timeout"]
	switch {
	case k.Limit > 0:
		return k.Limit, true, true
	case !has && k.Verb == "wait":
		return 30 * time.Second, true, true
	case !has:
		return 0, false, true
	case !w.Known:
		return 0, true, false
	}
	d, err := time.ParseDuration(w.Text)
	if err != nil {
		d, err = time.ParseDuration(w.Text + "s")
	}
	switch {
	case err != nil:
		return 0, true, false
	case k.Verb == "wait":
		return d, d >= 0, true // 0 asks once
	}
	return d, d > 0, true // 0 is for ever
}

// Foreground tells whether a delete keeps the object until those are gone that
// it owns.
func (k *Kubectl) Foreground() bool { return k.flags["cascade"].Text == "foreground" }

// Resource is a resource of the API. Group is not known for a custom resource
// that is written without it.
type Resource struct {
	Plural     []string // what its plural may be
	Group      string
	GroupKnown bool
	// Lingers is set for what does not go at once when it is deleted: something
	// holds it by a finalizer, or may.
	Lingers bool
}

type builtin struct {
	plural, group string
	lingers       bool
	short         []string
}

// Resources of Kubernetes. Those linger that Kubernetes itself holds: volumes
// that are in use, pods that end, services with a load balancer.
var builtins = []builtin{
	{"pods", "", true, []string{"po"}},
	{"persistentvolumeclaims", "", true, []string{"pvc"}},
	{"persistentvolumes", "", true, []string{"pv"}},
	{"services", "", true, []string{"svc"}},
	{"namespaces", "", true, []string{"ns"}},
	{"nodes", "", false, []string{"no"}},
	{"secrets", "", false, nil},
	{"configmaps", "", false, []string{"cm"}},
	{"serviceaccounts", "", false, []string{"sa"}},
	{"endpoints", "", false, []string{"ep"}},
	{"events", "", false, []string{"ev"}},
	{"deployments", "apps", false, []string{"deploy"}},
	{"statefulsets", "apps", false, []string{"sts"}},
	{"daemonsets", "apps", false, []string{"ds"}},
	{"replicasets", "apps", false, []string{"rs"}},
	{"jobs", "batch", false, nil},
	{"cronjobs", "batch", false, []string{"cj"}},
	{"ingresses", "networking.k8s.io", false, []string{"ing"}},
	{"ingressclasses", "networking.k8s.io", false, nil},
	{"networkpolicies", "networking.k8s.io", false, []string{"netpol"}},
	{"poddisruptionbudgets", "policy", false, []string{"pdb"}},
	{"roles", "rbac.authorization.k8s.io", false, nil},
	{"rolebindings", "rbac.authorization.k8s.io", false, nil},
	{"clusterroles", "rbac.authorization.k8s.io", false, nil},
	{"clusterrolebindings", "rbac.authorization.k8s.io", false, nil},
	{"storageclasses", "storage.k8s.io", false, []string{"sc"}},
	{"customresourcedefinitions", "apiextensions.k8s.io", true, []string{"crd", "crds"}},
	{"apiservices", "apiregistration.k8s.io", false, nil},
	{"validatingwebhookconfigurations", "admissionregistration.k8s.io", false, nil},
	{"mutatingwebhookconfigurations", "admissionregistration.k8s.io", false, nil},
	{"priorityclasses", "scheduling.k8s.io", false, []string{"pc"}},
	{"leases", "coordination.k8s.io", false, nil},
}

// ResourceOf returns the resource that a word of kubectl names.
func ResourceOf(word string) Resource {
	name, group, _ := strings.Cut(strings.ToLower(word), ".")
	names := []string{name, name + "s", name + "es"}
	if base, ok := strings.CutSuffix(name, "y"); ok {
		names = append(names, base+"ies")
	}
	for _, b := range builtins {
		if slices.Contains(names, b.plural) && (group == "" || group == b.group) || group == "" && slices.Contains(b.short, name) {
			return Resource{Plural: []string{b.plural}, Group: b.group, GroupKnown: true, Lingers: b.lingers}
		}
	}
	return Resource{Plural: names, Group: group, GroupKnown: group != "", Lingers: true}
}
