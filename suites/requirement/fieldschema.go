package requirement

import (
	"encoding/json"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// FieldSchema is what the type of an object says of one of its fields. The zero
// value is a field of which nothing is known.
type FieldSchema struct {
	// Known is set where the type is known as far as the field.
	Known bool
	// Custom is set where a CustomResourceDefinition is the type, and not one of
	// Kubernetes' own.
	Custom bool
	// Required is set where an object without the field is not valid; of an
	// element of a list, where an empty one is not.
	Required bool
	// Nullable and Default are set where a null is legal, and where the server
	// fills the field in.
	Nullable, Default bool
	// MapKey is set where the field is an entry of a map of values of one type,
	// as labels, annotations and data are; Text where these are strings or bytes.
	MapKey, Text bool
	// Element is set where the field is an element of a list.
	Element bool
	// All is set where a field without a value selects everything.
	All bool
}

// FieldSchema is what Kubernetes' own types, and the definitions that files of
// the tree hold, say of the field at a path of objects of a kind. Path elements
// are keys, and indexes as decimal numbers.
func (e *Env) FieldSchema(gvk schema.GroupVersionKind, path []string) FieldSchema {
	if len(path) == 0 {
		return FieldSchema{}
	}
	if path[0] == "metadata" && len(path) > 1 {
		return fieldOf(reflect.TypeFor[metav1.ObjectMeta](), path[1:])
	}
	if o, err := scheme.Scheme.New(gvk); err == nil {
		return fieldOf(reflect.TypeOf(o), path)
	}
	return e.definitions().schema(gvk).field(path)
}

// laxTypes are fields of Kubernetes' own types that are written always and that
// may be left out all the same: their documentation calls them optional.
var laxTypes = map[string]bool{
	"Role.rules": true, "ClusterRole.rules": true, "StatefulSetSpec.serviceName": true, "StatefulSetOrdinals.start": true,
	"TypedLocalObjectReference.apiGroup": true, "TypedObjectReference.apiGroup": true, "RoleRef.apiGroup": true,
	"AzureFilePersistentVolumeSource.secretNamespace": true, "ProjectedVolumeSource.sources": true, "GRPCAction.service": true,
	"IngressClassParametersReference.scope": true, "EndpointSlice.ports": true, "EndpointSlice.endpoints": true,
	"FlowSchemaSpec.matchingPrecedence": true, "LimitedPriorityLevelConfiguration.nominalConcurrencyShares": true,
	"HTTPHeader.value": true,
}

// allTypes are fields of Kubernetes' own types that select everything where they
// hold nothing.
var allTypes = map[string]bool{
	"PolicyRule.resourceNames": true, "NetworkPolicySpec.podSelector": true,
	"NetworkPolicyIngressRule.from": true, "NetworkPolicyEgressRule.to": true,
}

// fieldOf is what a Go type says of a field: one that is written also where it
// is empty is required.
func fieldOf(t reflect.Type, path []string) FieldSchema {
	s := FieldSchema{}
	for _, key := range path {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		s = FieldSchema{Known: true}
		if ownCode(t) {
			return FieldSchema{}
		}
		switch t.Kind() {
		case reflect.Struct:
			f, required, ok := fieldNamed(t, key)
			if !ok {
				return FieldSchema{} // the server drops it
			}
			s.Required = required && !laxTypes[t.Name()+"."+key] || needsFields(f)
			s.All = allTypes[t.Name()+"."+key]
			t = f
		case reflect.Map:
			t = t.Elem()
			s.MapKey, s.Text = true, t.Kind() == reflect.String || t == reflect.TypeFor[[]byte]()
		case reflect.Slice:
			t = t.Elem()
			s.Element, s.Text, s.Required = true, t.Kind() == reflect.String, needsFields(t)
		default:
			return FieldSchema{}
		}
	}
	return s
}

// ownCode tells whether a type is read by code of its own, as quantities and
// times are: what its fields say does not count.
func ownCode(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// needsFields tells whether an empty value of a struct lacks a field that is
// required.
func needsFields(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || ownCode(t) {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key != "" && key != "status" && !strings.Contains(options, "omit") && !laxTypes[t.Name()+"."+key] || needsFields(f.Type) && key != "status" {
			return true
		}
	}
	return false
}

// fieldNamed finds a field by its name in JSON, in the structs that are written
// in line too. required says whether it is written also where it is empty.
func fieldNamed(t reflect.Type, name string) (field reflect.Type, required, ok bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case key == name:
			return f.Type, !strings.Contains(options, "omit"), true
		case key == "" && (f.Anonymous || strings.Contains(options, "inline")):
			in := f.Type
			for in.Kind() == reflect.Pointer {
				in = in.Elem()
			}
			if in.Kind() == reflect.Struct {
				if field, required, ok = fieldNamed(in, name); ok {
					return field, required, ok
				}
			}
		}
	}
	return nil, false, false
}
