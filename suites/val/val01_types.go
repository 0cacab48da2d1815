package val

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"proofplane/suites/requirement"
)

// apiTypes are the types of one Go file.
type apiTypes struct {
	file  string
	fset  *token.FileSet
	types map[string]*ast.TypeSpec
	docs  map[string]*ast.CommentGroup
}

func (t *apiTypes) place(p token.Pos) string {
	return fmt.Sprintf("%s:%d", t.file, t.fset.Position(p).Line)
}

func (c *comparison) types() {
	schema, ok := c.schema()
	if !ok {
		return
	}
	t := &apiTypes{file: typesOf(c.Tree, c.Subject.Chart), fset: token.NewFileSet(), types: map[string]*ast.TypeSpec{}, docs: map[string]*ast.CommentGroup{}}
	data, err := c.Tree.Files.ReadFile(t.file)
	if err != nil {
		c.Err = err
		return
	}
	f, err := parser.ParseFile(t.fset, t.file, data, parser.ParseComments|parser.SkipObjectResolution)
	c.hold(err == nil, "(types)", func() difference {
		line := 1
		var list scanner.ErrorList
		if errors.As(err, &list) && len(list) > 0 {
			line = list[0].Pos.Line
		}
		return difference{fmt.Sprintf("%s:%d", t.file, line), fmt.Sprintf("the API types are not Go: %v", err), "Go that compiles: generate the types again"}
	})
	if err != nil {
		return
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			ts := s.(*ast.TypeSpec) // what a type declaration holds
			t.types[ts.Name.Name], t.docs[ts.Name.Name] = ts, ts.Doc
			if ts.Doc == nil {
				t.docs[ts.Name.Name] = g.Doc
			}
		}
	}
	root := t.spec()
	c.hold(root != nil, "(types)", func() difference {
		return difference{t.file + ":1", "the API types hold no object with a spec", "the type of the application's spec"}
	})
	if root != nil {
		c.structType(t, root, schema, "", map[string]bool{})
	}
}

// spec is the type of the field spec, nil where no struct has one.
func (t *apiTypes) spec() *ast.TypeSpec {
	for _, name := range requirement.SortedKeys(t.types) {
		s, ok := t.types[name].Type.(*ast.StructType)
		if !ok {
			continue
		}
		embeds := false
		for _, f := range s.Fields.List {
			embeds = embeds || len(f.Names) == 0
		}
		for _, f := range s.Fields.List {
			if n, _ := jsonName(f); embeds && n == "spec" {
				if id, ok := f.Type.(*ast.Ident); ok {
					return t.types[id.Name]
				}
			}
		}
	}
	return nil
}

// jsonName is the name of a field in JSON, "" where it has none of its own.
func jsonName(f *ast.Field) (name string, omitEmpty bool) {
	if f.Tag == nil || len(f.Names) == 0 {
		return "", false
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return "", false
	}
	name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if name == "-" {
		return "", false
	}
	return name, slices.Contains(strings.Split(options, ","), "omitempty")
}

// structType compares a struct with the schema of an object; prefix is its name
// with a dot, "" for the whole. open are the types above it.
func (c *comparison) structType(t *apiTypes, ts *ast.TypeSpec, s map[string]any, prefix string, open map[string]bool) {
	st, ok := ts.Type.(*ast.StructType)
	if !ok || open[ts.Name.Name] {
		return
	}
	open[ts.Name.Name] = true
	defer delete(open, ts.Name.Name)
	const want = "the same in both: generate the types again"
	props := requirement.Map(s, "properties")
	required := stringSet(requirement.List(s, "required"))
	seen := map[string]bool{}
	for _, f := range st.Fields.List {
		name, omitEmpty := jsonName(f)
		if name == "" {
			continue
		}
		seen[name] = true
		full := prefix + name
		p, ok := props[name].(map[string]any)
		c.hold(ok, topLevel(full), func() difference {
			return difference{t.place(f.Pos()), fmt.Sprintf("type %s has %s, the schema does not have it", ts.Name.Name, full), want}
		})
		if !ok {
			continue
		}
		// The schema of the whole says of no property that it is required.
		c.hold(prefix == "" || required[name] != omitEmpty, topLevel(full), func() difference {
			if omitEmpty {
				return difference{t.place(f.Pos()), fmt.Sprintf("the schema requires %s, type %s leaves it out when it is empty", full, ts.Name.Name), want}
			}
			return difference{t.place(f.Pos()), fmt.Sprintf("type %s requires %s, the schema does not", ts.Name.Name, full), want}
		})
		c.goType(t, f.Type, f.Pos(), t.markers(f.Doc), p, full, open)
	}
	for _, name := range requirement.SortedKeys(props) {
		if !seen[name] {
			c.hold(false, topLevel(prefix+name), func() difference {
				return difference{t.place(ts.Pos()), fmt.Sprintf("the schema has %s (%s), type %s does not have it", prefix+name, show(requirement.Field(props[name], "type")), ts.Name.Name), want}
			})
		}
	}
}

// goKinds are the kinds that Go's types and those of Kubernetes are in JSON.
func goKinds(name string) []string {
	switch name {
	case "string", "Duration", "Time":
		return []string{"string"}
	case "int", "int32", "int64":
		return []string{"integer"}
	case "float32", "float64":
		return []string{"number"}
	case "bool":
		return []string{"boolean"}
	case "Quantity", "IntOrString":
		return []string{intOrString}
	case "RawExtension", "JSON":
		return []string{"object", anything}
	}
	return nil
}

// goType compares a Go type and the markers that it carries with a schema.
func (c *comparison) goType(t *apiTypes, e ast.Expr, pos token.Pos, m map[string]marker, s map[string]any, name string, open map[string]bool) {
	kind := kindOf(s)
	is := func(what string, kinds ...string) bool {
		ok := kind == "" || slices.Contains(kinds, kind)
		c.hold(ok, topLevel(name), func() difference {
			return difference{t.place(pos), fmt.Sprintf("%s is of Go type %s, the schema says %s", name, what, typeOf(s)), "the same type in both: generate the types again"}
		})
		return ok
	}
	limits := true // the markers say all of the limits
	switch x := e.(type) {
	case *ast.StarExpr:
		c.goType(t, x.X, pos, m, s, name, open)
		return
	case *ast.SelectorExpr:
		limits = false
		if kinds := goKinds(x.Sel.Name); kinds != nil && !is(x.Sel.Name, kinds...) {
			return
		}
	case *ast.ArrayType:
		if !is("list", "array") {
			return
		}
		if items := requirement.Map(s, "items"); items != nil {
			c.goType(t, x.Elt, pos, nil, items, name+"[i]", open)
		}
	case *ast.MapType:
		if !is("map", "object", anything) {
			return
		}
		if values := requirement.Map(s, "additionalProperties"); values != nil {
			c.goType(t, x.Value, pos, nil, values, name+"[name]", open)
		}
	case *ast.Ident:
		ts := t.types[x.Name]
		if ts == nil {
			if kinds := goKinds(x.Name); kinds == nil || !is(x.Name, kinds...) {
				return
			}
			break
		}
		if _, ok := ts.Type.(*ast.StructType); ok {
			if is("struct "+x.Name, "object", anything) {
				c.structType(t, ts, s, name+".", open)
			} else {
				return
			}
			break
		}
		all := t.markers(t.docs[x.Name])
		for k, v := range m {
			all[k] = v
		}
		c.goType(t, ts.Type, pos, all, s, name, open)
		return
	default:
		return
	}
	c.limits(t, pos, m, s, name, limits)
}

// marker is a comment from which a schema's keyword is generated.
type marker struct {
	value string
	pos   token.Pos
}

var markerLine = regexp.MustCompile(`^//\s*\+kubebuilder:(?:validation:)?([A-Za-z]+)(?::?=|:)(.*)$`)

func (t *apiTypes) markers(doc *ast.CommentGroup) map[string]marker {
	out := map[string]marker{}
	if doc == nil {
		return out
	}
	for _, l := range doc.List {
		m := markerLine.FindStringSubmatch(l.Text)
		if m == nil {
			continue
		}
		if have, ok := out[m[1]]; ok {
			m[2] = have.value + "\n" + m[2] // rules may be many
		}
		out[m[1]] = marker{m[2], l.Pos()}
	}
	return out
}

// limited are the keywords that markers of the same name set.
func limited() []string {
	return []string{"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format"}
}

// rulesKey is the keyword of the rules that a schema has beside its limits.
const rulesKey = "x-kubernetes-validations"

// limits compares what markers set with the schema: the default, the
// enumeration, the rules, and all else where the type itself adds nothing to it.
func (c *comparison) limits(t *apiTypes, pos token.Pos, m map[string]marker, s map[string]any, name string, all bool) {
	keys := []string{"default", "enum", rulesKey}
	if all {
		keys = append(keys, limited()...)
	}
	for _, key := range keys {
		title := key
		switch {
		case key == rulesKey:
			title = "XValidation"
		case key == "format" && kindOf(s) != "string":
			continue // numbers have the format of their Go type
		case key != "default":
			title = strings.ToUpper(key[:1]) + key[1:]
		}
		mark, marked := m[title]
		value, set := s[key]
		if !marked && !set {
			continue
		}
		at := pos
		if marked {
			at = mark.pos
		}
		ok := marked == set
		if ok {
			ok = sameMarker(key, mark.value, value)
		}
		c.hold(ok, topLevel(name), func() difference {
			typed, schema := "none", "none"
			if marked {
				typed = mark.value
			}
			if set {
				schema = show(value)
			}
			return difference{t.place(at), fmt.Sprintf("%s of %s is %s in the API types and %s in the schema", key, name, typed, schema), "the same " + key + " in both: state it in the annotation of the property and generate all copies again"}
		})
	}
}

// sameMarker tells whether the text of a marker stands for a value. A list or an
// object is compared only as to whether it is empty.
func sameMarker(key, text string, value any) bool {
	text = strings.TrimSpace(text)
	var got, want []string
	list, _ := value.([]any)
	switch key {
	case "enum":
		for _, v := range list {
			want = append(want, fmt.Sprint(v))
		}
		for _, p := range strings.Split(text, ";") {
			got = append(got, unquoted(p))
		}
		return slices.Equal(got, want)
	case rulesKey:
		for _, v := range list {
			want = append(want, fmt.Sprint(requirement.Field(v, "rule")))
		}
		for _, m := range markerRule.FindAllStringSubmatch(text, -1) {
			got = append(got, unquoted(m[1]))
		}
		slices.Sort(got)
		slices.Sort(want)
		return slices.Equal(got, want)
	}
	switch v := value.(type) {
	case []any:
		return (text == "{}" || text == "[]") == (len(v) == 0)
	case map[string]any:
		return (text == "{}") == (len(v) == 0)
	case string:
		return unquoted(text) == v
	}
	var scalar any
	if err := json.Unmarshal([]byte(text), &scalar); err != nil {
		return false
	}
	return reflect.DeepEqual(scalar, value)
}

var markerRule = regexp.MustCompile(`rule=("(?:[^"\\]|\\.)*")`)

// unquoted is a Go string literal's text, or the text itself where it is none.
func unquoted(s string) string {
	if t, err := strconv.Unquote(s); err == nil {
		return t
	}
	return s
}
