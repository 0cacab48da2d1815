package requirement

import (
	"bytes"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"proofplane/fixtures/render"
)

// definitions are the CustomResourceDefinitions that files of the tree hold. They
// are most of a tree's YAML, so each is only parsed when its kind is asked for.
type definitions struct {
	read  func(file string) ([]byte, error)
	found map[schema.GroupKind]extent

	mu    sync.Mutex
	types map[schema.GroupVersionKind]*structure
}

// extent is a part of a file.
type extent struct {
	file     string
	from, to int
}

// documentBreak ends a document, whatever stands behind it on the line.
var documentBreak = []byte("\n---")

var (
	groupLine  = regexp.MustCompile(`(?m)^  group: ["']?([a-z0-9.-]+)`)
	kindLine   = regexp.MustCompile(`(?m)^    kind: ["']?([A-Za-z0-9]+)`)
	actionLine = regexp.MustCompile(`(?m)^.*\{\{.*$\n?`)
)

func (e *Env) findDefinitions() *definitions {
	d := &definitions{read: e.Tree.Files.ReadFile, found: map[schema.GroupKind]extent{}, types: map[schema.GroupVersionKind]*structure{}}
	mark := []byte("kind: " + crdKind)
	for _, p := range e.Tree.Files.Paths() {
		if ext := path.Ext(p); ext != ".yaml" && ext != ".yml" {
			continue
		}
		data, err := e.Tree.Files.ReadFile(p)
		if err != nil || !bytes.Contains(data, mark) {
			continue
		}
		for from, at := 0, 0; from < len(data); from = at {
			at = len(data)
			if i := bytes.Index(data[from:], documentBreak); i >= 0 {
				at = from + i + len(documentBreak)
			}
			doc := data[from:at]
			if !bytes.Contains(doc, mark) {
				continue
			}
			g, k := groupLine.FindSubmatch(doc), kindLine.FindSubmatch(doc)
			if g == nil || k == nil {
				continue
			}
			gk := schema.GroupKind{Group: string(g[1]), Kind: string(k[1])}
			if _, have := d.found[gk]; !have {
				d.found[gk] = extent{p, from, at}
			}
		}
	}
	return d
}

// schema is the type of a kind, nil where the tree does not define it.
func (d *definitions) schema(gvk schema.GroupVersionKind) *structure {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s, ok := d.types[gvk]; ok {
		return s
	}
	var doc struct {
		Spec struct {
			Versions []struct {
				Name   string `yaml:"name"`
				Schema struct {
					OpenAPI *structure `yaml:"openAPIV3Schema"`
				} `yaml:"schema"`
			} `yaml:"versions"`
		} `yaml:"spec"`
	}
	var found *structure
	// What templates write into definitions is labels, annotations and switches,
	// a line each; the types are plain.
	if text := d.text(gvk.GroupKind()); yaml.Unmarshal(actionLine.ReplaceAll(text, nil), &doc) == nil {
		for _, v := range doc.Spec.Versions {
			if v.Name == gvk.Version {
				found = v.Schema.OpenAPI
			}
		}
	}
	d.types[gvk] = found
	return found
}

// plain is the type of a kind as it is written, nil where the tree does not define
// it.
func (d *definitions) plain(gvk schema.GroupVersionKind) map[string]any {
	var doc struct {
		Spec struct {
			Versions []struct {
				Name   string `yaml:"name"`
				Schema struct {
					OpenAPI map[string]any `yaml:"openAPIV3Schema"`
				} `yaml:"schema"`
			} `yaml:"versions"`
		} `yaml:"spec"`
	}
	if yaml.Unmarshal(actionLine.ReplaceAll(d.text(gvk.GroupKind()), nil), &doc) != nil {
		return nil
	}
	for _, v := range doc.Spec.Versions {
		if v.Name == gvk.Version {
			plain, err := render.Normalize(v.Schema.OpenAPI)
			if err != nil {
				return nil // a key that is no text: the API server takes no such type
			}
			return plain
		}
	}
	return nil
}

// text is the document that defines a kind, nil where there is none. What cannot
// be read was reported when the tree was indexed.
func (d *definitions) text(gk schema.GroupKind) []byte {
	at, ok := d.found[gk]
	if !ok {
		return nil
	}
	data, err := d.read(at.file)
	if err != nil || len(data) < at.to {
		return nil
	}
	return data[at.from:at.to]
}

// structure is the part of a structural schema that says what becomes of a null.
type structure struct {
	Type       string                `yaml:"type"`
	Required   []string              `yaml:"required"`
	Nullable   bool                  `yaml:"nullable"`
	Default    any                   `yaml:"default"`
	Properties map[string]*structure `yaml:"properties"`
	Items      *structure            `yaml:"items"`
	Additional *additional           `yaml:"additionalProperties"`
	Preserve   bool                  `yaml:"x-kubernetes-preserve-unknown-fields"`
	Embedded   bool                  `yaml:"x-kubernetes-embedded-resource"`
}

// additional is the schema of all other properties; it may be a bare boolean.
type additional struct{ schema *structure }

// UnmarshalYAML reads a schema or a boolean.
func (a *additional) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	a.schema = &structure{}
	return n.Decode(a.schema)
}

// field walks to the field at a path, as the server does that prunes and fills
// in. Where anything goes nothing is known of it.
func (s *structure) field(path []string) FieldSchema {
	out := FieldSchema{}
	for i, key := range path {
		if s == nil {
			return FieldSchema{}
		}
		if s.Embedded && key == "metadata" && i+1 < len(path) {
			return fieldOf(reflect.TypeFor[metav1.ObjectMeta](), path[i+1:])
		}
		out = FieldSchema{Known: true, Custom: true}
		_, err := strconv.Atoi(key)
		next := s.Properties[key]
		switch {
		case s.Items != nil && err == nil:
			next, out.Element = s.Items, true
		case next != nil:
			out.Required = slices.Contains(s.Required, key)
		case s.Additional != nil && s.Additional.schema != nil:
			next, out.MapKey = s.Additional.schema, true
			out.Text = next.Type == "string"
		}
		if next == nil {
			return FieldSchema{}
		}
		out.Nullable, out.Default = next.Nullable, next.Default != nil
		s = next
	}
	return out
}
