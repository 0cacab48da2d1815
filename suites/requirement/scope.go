package requirement

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"proofplane/fixtures/render"
)

// clusterKinds are the kinds of Kubernetes' own API groups, and of those that
// every cluster of the platform has, whose objects belong to no namespace.
var clusterKinds = []schema.GroupKind{
	{Group: "", Kind: "Namespace"}, {Group: "", Kind: "Node"}, {Group: "", Kind: "PersistentVolume"},
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, {Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"},
	{Group: "networking.k8s.io", Kind: "IngressClass"}, {Group: "storage.k8s.io", Kind: "StorageClass"}, {Group: "storage.k8s.io", Kind: "CSIDriver"},
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}, {Group: "scheduling.k8s.io", Kind: "PriorityClass"}, {Group: "node.k8s.io", Kind: "RuntimeClass"},
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, {Group: "apiregistration.k8s.io", Kind: "APIService"},
	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}, {Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"},
}

// Scopes tells which kinds belong to the whole cluster.
type Scopes struct{ cluster map[schema.GroupKind]bool }

// Scopes is what Kubernetes, the profile, and the definitions that the charts
// of the tree render say of kinds. A kind that none of them knows is taken to
// be namespaced.
func (e *Env) Scopes() *Scopes { return e.scopes() }

func (e *Env) findScopes() *Scopes {
	s := &Scopes{cluster: map[schema.GroupKind]bool{}}
	for _, gk := range clusterKinds {
		s.cluster[gk] = true
	}
	for _, k := range e.Tree.Profile.ClusterKinds {
		s.cluster[schema.ParseGroupKind(k)] = true
	}
	add := func(r *render.Result) {
		for _, o := range r.Objects {
			if o.GetKind() == "CustomResourceDefinition" && Nested(o.Unstructured, "spec", "scope") == "Cluster" {
				s.cluster[schema.GroupKind{Group: Nested(o.Unstructured, "spec", "group"), Kind: Nested(o.Unstructured, "spec", "names", "kind")}] = true
			}
		}
	}
	// The same renders as those behind Kinds: they are made once.
	for _, a := range e.Tree.Artifacts() {
		if Installs(a) {
			add(e.Engine.Render(e.ArtifactInput(a, Situation{Offline: true})))
		}
	}
	return s
}

// Cluster tells whether an object belongs to the whole cluster.
func (s *Scopes) Cluster(u *unstructured.Unstructured) bool {
	gk := u.GroupVersionKind().GroupKind()
	return s.cluster[gk] || gk.Group == "admissionregistration.k8s.io"
}

// Key is the identity of an object of a release in a cluster.
func (s *Scopes) Key(u *unstructured.Unstructured, namespace string) render.Key {
	k := render.KeyOf(u)
	switch {
	case s.Cluster(u):
		k.Namespace = ""
	case k.Namespace == "":
		k.Namespace = namespace
	}
	return k
}

// ClaimedName is the name of an object that a controller makes for another.
type ClaimedName struct {
	Kind, Name string
	Path       []string
}

// Claimed are the names that an object takes beside its own, as far as the
// profile says.
func (e *Env) Claimed(u *unstructured.Unstructured) []ClaimedName {
	var out []ClaimedName
	gk := u.GroupVersionKind().GroupKind()
	for _, c := range e.Tree.Profile.Claims {
		if c.Kind != gk.Kind || c.Group != gk.Group {
			continue
		}
		path := strings.Split(c.Field, ".")
		name := Nested(u, path...)
		if name == "" {
			name = c.Default
		}
		if name != "" {
			out = append(out, ClaimedName{Kind: c.Makes, Name: name, Path: slices.Clone(path)})
		}
	}
	return out
}
