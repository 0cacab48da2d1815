package val

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// VAL01: the copies of a chart's schema agree.
var VAL01 = &requirement.Requirement{
	ID:        "VAL-01",
	Statement: "The generated copies agree: values.schema.json, definition schema, README parameter table, API types",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render},
	Origin:    "cozystack #2687: a schema was corrected in the generated files and not in what they are generated from; the next generate would have undone it",
	Axes:      "every chart that has a values.schema.json or a definition, and each copy of its schema: definition, README, values.yaml, API types",
	How:       "compares values.schema.json with each copy: the definition's schema as JSON; the README's parameters, their types and values; the defaults in values.yaml; the fields, types, defaults and limits of the Go types. Must where a copy lacks a parameter, has one too many, or states another type, default, value or limit; should where only a title or a description differs, or where the README leaves empty what has a default. All that differs in one copy of one chart is one finding, since one run of the generator mends it",
	Fix:       "change the annotations in values.yaml and generate all copies again; never edit a copy",
	Plan:      planVAL01,
	Judge: func(_ context.Context, c *requirement.Check) {
		cmp := newComparison(c)
		switch c.Get(copyAxis) {
		case copyDefinition:
			cmp.definitions()
		case copyReadme:
			cmp.readme()
		case copyDefaults:
			cmp.defaults()
		case copyTypes:
			cmp.types()
		}
		cmp.report()
	},
}

const (
	copyAxis       = "copy"
	copyDefinition = "definition"
	copyReadme     = "readme"
	copyDefaults   = "defaults"
	copyTypes      = "types"

	schemaFile = "values.schema.json"
	valuesFile = "values.yaml"
)

func planVAL01(e *requirement.Env) (requirement.Plan, error) {
	var p requirement.Plan
	for _, c := range e.Tree.Charts {
		defs := definitionsOf(e.Tree, c)
		if len(defs) == 0 && !e.Tree.Files.IsFile(path.Join(c.Dir, schemaFile)) {
			continue
		}
		axis := matrix.Axis{Name: copyAxis}
		if len(defs) > 0 {
			axis.Values = append(axis.Values, copyDefinition)
		}
		if data, err := e.Tree.Files.ReadFile(readmeOf(e.Tree, c)); err == nil {
			if _, heading := readTables(string(data), e.Tree.Profile.Copies.Readme.Section); heading > 0 {
				axis.Values = append(axis.Values, copyReadme)
			}
		}
		if e.Tree.Files.IsFile(path.Join(c.Dir, valuesFile)) {
			axis.Values = append(axis.Values, copyDefaults)
		}
		if f := typesOf(e.Tree, c); f != "" && e.Tree.Files.IsFile(f) {
			axis.Values = append(axis.Values, copyTypes)
		}
		if len(axis.Values) > 0 {
			p.Subjects = append(p.Subjects, requirement.Subject{Chart: c, Matrix: matrix.Matrix{Axes: []matrix.Axis{axis}}})
		}
	}
	if len(p.Subjects) == 0 {
		p.Skip = "no chart has a schema and a copy of it"
	}
	return p, nil
}

func definitionsOf(t *tree.Tree, c *tree.Chart) []*tree.Definition {
	var out []*tree.Definition
	for _, d := range t.Definitions {
		if t.DefinitionChart(d) == c {
			out = append(out, d)
		}
	}
	return out
}

func readmeOf(t *tree.Tree, c *tree.Chart) string {
	return path.Join(c.Dir, t.Profile.Copies.Readme.File)
}

// typesOf is the file in which the API types of a chart lie, "" where the
// platform has none.
func typesOf(t *tree.Tree, c *tree.Chart) string {
	conv := t.Profile.Copies.Types
	name := path.Base(c.Dir)
	if n, ok := conv.Names[name]; ok {
		name = n
	} else {
		name = strings.ReplaceAll(name, "-", "")
	}
	return strings.ReplaceAll(conv.File, "{chart}", name)
}

// schema is what the copies are compared with: the chart's own, else the
// definition's. Where neither can be read the case is blocked.
func (c *comparison) schema() (map[string]any, bool) {
	if s := c.Schema(c.Subject.Chart); s != nil {
		return s, true
	}
	c.Block("the schema of the chart cannot be read")
	return nil, false
}

func (c *comparison) definitions() {
	chart := c.Subject.Chart
	own := path.Join(chart.Dir, schemaFile)
	exists := c.Tree.Files.IsFile(own)
	c.hold(!exists || chart.Schema != nil, schemaFile, func() difference {
		message := schemaFile + " is not a JSON object"
		if chart.Err != nil {
			message = chart.Err.Error()
		}
		return difference{own, message, "a JSON schema"}
	})
	for _, d := range definitionsOf(c.Tree, chart) {
		place := fmt.Sprintf("%s:%d", d.File, max(d.SchemaLine, d.Line))
		switch {
		case d.SchemaText == "" && exists:
			c.hold(false, d.Name, func() difference {
				return difference{place, fmt.Sprintf("definition %s publishes no schema, the chart has one in %s", d.Name, own), "the schema of " + own}
			})
			continue
		case d.SchemaText == "":
			c.Skip("neither the chart nor its definition has a schema")
			continue
		}
		c.hold(d.Schema != nil, d.Name, func() difference {
			message := fmt.Sprintf("the schema of definition %s is not a JSON object", d.Name)
			var object map[string]any
			if err := json.Unmarshal([]byte(d.SchemaText), &object); err != nil {
				message += ": " + err.Error()
			}
			return difference{place, message, "a JSON schema"}
		})
		if d.Schema == nil || chart.Schema == nil {
			continue
		}
		lines := c.schemaLines(d)
		same := true
		compareJSON(chart.Schema, d.Schema, nil, func(p []string, a, b any) {
			same = false
			property, name := schemaPath(p)
			c.weigh(false, property, isText(p), func() difference {
				x, y := showBoth(a, b)
				return difference{
					fmt.Sprintf("%s:%d", d.File, lines(p)),
					fmt.Sprintf("%s is %s in %s and %s in definition %s", name, x, own, y, d.Name),
					"the same schema in both: generate the definition again",
				}
			})
		})
		if same {
			c.Assert(true, nil)
		}
	}
}

var blockScalar = regexp.MustCompile(`[|>][-+0-9]*\s*(#.*)?$`)

// schemaLines returns the line of a path of a definition's schema in its file.
func (c *comparison) schemaLines(d *tree.Definition) func([]string) int {
	base := d.SchemaLine
	if data, err := c.Tree.Files.ReadFile(d.File); err == nil {
		if lines := strings.Split(string(data), "\n"); base >= 1 && base <= len(lines) && blockScalar.MatchString(lines[base-1]) {
			base++
		}
	}
	var n yaml.Node
	if yaml.Unmarshal([]byte(d.SchemaText), &n) != nil {
		return func([]string) int { return base }
	}
	return func(p []string) int { return base - 1 + max(keyLine(&n, p), 1) }
}

// keyLine is the line of the deepest key of a path that a YAML document has, 0
// where it has none.
func keyLine(n *yaml.Node, path []string) int {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	line := 0
	for _, p := range path {
		var next *yaml.Node
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == p {
					line, next = n.Content[i].Line, n.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(p); err == nil && i < len(n.Content) {
				next = n.Content[i]
				line = next.Line
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return line
}

// absent is what stands for a key that one of two values does not have.
type absent struct{}

// compareJSON visits the paths at which two JSON values differ. White space in
// titles and descriptions and the order of required names say nothing.
func compareJSON(a, b any, p []string, visit func(p []string, a, b any)) {
	at := func(k string) []string { return append(p[:len(p):len(p)], k) }
	last := ""
	if len(p) > 0 {
		last = p[len(p)-1]
	}
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		for _, k := range requirement.SortedKeys(x) {
			if v, ok := y[k]; ok {
				compareJSON(x[k], v, at(k), visit)
			} else {
				visit(at(k), x[k], absent{})
			}
		}
		for _, k := range requirement.SortedKeys(y) {
			if _, ok := x[k]; !ok {
				visit(at(k), absent{}, y[k])
			}
		}
		return
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		if last == "required" && reflect.DeepEqual(stringSet(x), stringSet(y)) {
			return
		}
		for i := range x {
			compareJSON(x[i], y[i], at(strconv.Itoa(i)), visit)
		}
		return
	case string:
		y, ok := b.(string)
		if ok && (last == "title" || last == "description") && slices.Equal(strings.Fields(x), strings.Fields(y)) {
			return
		}
	}
	if !reflect.DeepEqual(a, b) {
		visit(p, a, b)
	}
}

func stringSet(list []any) map[string]bool {
	set := map[string]bool{}
	for _, v := range list {
		set[fmt.Sprint(v)] = true
	}
	return set
}

// isText tells whether a path of a JSON schema leads to a text for people, and
// not to a property of that name.
func isText(p []string) bool {
	n := len(p)
	return n > 0 && (p[n-1] == "title" || p[n-1] == "description") && (n == 1 || p[n-2] != "properties")
}

// schemaPath names a path of a JSON schema the way a parameter is named, with
// the keyword after it, and gives its top-level property.
func schemaPath(p []string) (property, name string) {
	i := 0
	for i < len(p) {
		switch {
		case p[i] == "properties" && i+1 < len(p):
			if property == "" {
				property = p[i+1]
			} else {
				name += "."
			}
			name += p[i+1]
			i += 2
			continue
		case p[i] == "items":
			name += "[i]"
			i++
			continue
		case p[i] == "additionalProperties":
			name += "[name]"
			i++
			continue
		}
		break
	}
	if property == "" {
		property = "(schema)"
	}
	if rest := strings.Join(p[i:], "."); rest != "" {
		if name != "" {
			name = rest + " of " + name
		} else {
			name = rest
		}
	}
	return property, name
}

// maxShown bounds a value in a message; maxAlike is how much of a text is shown
// in which it is like another.
const (
	maxShown = 100
	maxAlike = 40
)

// showBoth shows two values that differ; long texts from shortly before where
// they do.
func showBoth(a, b any) (string, string) {
	s, ok1 := a.(string)
	t, ok2 := b.(string)
	if !ok1 || !ok2 {
		return show(a), show(b)
	}
	x, y := []rune(s), []rune(t)
	alike := 0
	for alike < min(len(x), len(y)) && x[alike] == y[alike] {
		alike++
	}
	if cut := alike - maxAlike; cut > 0 {
		return show("…" + string(x[cut:])), show("…" + string(y[cut:]))
	}
	return show(a), show(b)
}

func show(v any) string {
	if _, ok := v.(absent); ok {
		return "absent"
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	s := []rune(string(data))
	if len(s) > maxShown {
		return string(s[:maxShown]) + "…"
	}
	return string(s)
}

// parameters visits every property of a schema under the name by which it is
// set: nested with dots, [i] for the items of a list, [name] for the values of
// a map. keys is the path in values, nil below lists and maps.
func parameters(s map[string]any, prefix string, keys []string, visit func(name string, keys []string, s map[string]any)) {
	props := requirement.Map(s, "properties")
	for _, n := range requirement.SortedKeys(props) {
		p, ok := props[n].(map[string]any)
		if !ok {
			continue
		}
		var at []string
		if keys != nil || prefix == "" {
			at = append(keys[:len(keys):len(keys)], n)
		}
		visit(prefix+n, at, p)
		switch {
		case len(requirement.Map(p, "properties")) > 0:
			parameters(p, prefix+n+".", at, visit)
		case len(requirement.Map(p, "items", "properties")) > 0:
			parameters(requirement.Map(p, "items"), prefix+n+"[i].", nil, visit)
		case len(requirement.Map(p, "additionalProperties", "properties")) > 0:
			parameters(requirement.Map(p, "additionalProperties"), prefix+n+"[name].", nil, visit)
		}
	}
}

// topLevel is the property that a parameter's name begins with.
func topLevel(name string) string {
	if i := strings.IndexAny(name, ".["); i >= 0 {
		return name[:i]
	}
	return name
}

func (c *comparison) defaults() {
	schema, ok := c.schema()
	if !ok {
		return
	}
	file := path.Join(c.Subject.Chart.Dir, valuesFile)
	data, err := c.Tree.Files.ReadFile(file)
	if err != nil {
		c.Err = err
		return
	}
	var doc yaml.Node
	var values map[string]any
	if err := errors.Join(yaml.Unmarshal(data, &doc), yaml.Unmarshal(data, &values)); err != nil {
		c.Block("%s cannot be read: %v", file, err)
		return
	}
	c.Assert(true, nil) // it can be read, and so compared
	injected := []string{c.Tree.Profile.Injected.Cluster, c.Tree.Profile.Injected.Namespace}
	unlisted(schema, values, nil, func(keys []string) {
		c.hold(slices.Contains(injected, keys[0]), keys[0], func() difference {
			return difference{
				fmt.Sprintf("%s:%d", file, keyLine(&doc, keys)),
				fmt.Sprintf("%s sets %s, the schema does not have it", valuesFile, strings.Join(keys, ".")),
				"a property for every value: annotate it and generate the schema again",
			}
		})
	})
	parameters(schema, "", nil, func(name string, keys []string, s map[string]any) {
		def, ok := s["default"]
		if !ok || keys == nil {
			return
		}
		parent, _ := requirement.Field(values, keys[:len(keys)-1]...).(map[string]any)
		value, ok := parent[keys[len(keys)-1]]
		if !ok || value == nil {
			return // no default of the chart's
		}
		if _, ok := value.(map[string]any); ok && requirement.Map(s, "properties") != nil {
			return // the properties have defaults of their own
		}
		c.hold(sameDefault(def, value, s), topLevel(name), func() difference {
			return difference{
				fmt.Sprintf("%s:%d", file, keyLine(&doc, keys)),
				fmt.Sprintf("%s is %s in %s, its default in the schema is %s", name, show(value), valuesFile, show(def)),
				"one default: generate the schema again, or give the property its own",
			}
		})
	})
}

// unlisted visits the values that a schema has no property for, where it lists
// properties and leaves no room for others.
func unlisted(s, values map[string]any, keys []string, visit func(keys []string)) {
	props := requirement.Map(s, "properties")
	if props == nil || s["additionalProperties"] != nil || s["x-kubernetes-preserve-unknown-fields"] == true {
		return
	}
	for _, k := range requirement.SortedKeys(values) {
		at := append(keys[:len(keys):len(keys)], k)
		p, ok := props[k]
		if !ok {
			visit(at)
			continue
		}
		sub, _ := p.(map[string]any)
		if v, ok := values[k].(map[string]any); ok {
			unlisted(sub, v, at, visit)
		}
	}
}

// sameDefault compares as JSON. A quantity may be a number or its text.
func sameDefault(def, value any, s map[string]any) bool {
	data, err := json.Marshal(value)
	if err != nil {
		return false
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return false
	}
	return reflect.DeepEqual(def, v) || kindOf(s) == intOrString && fmt.Sprint(def) == fmt.Sprint(v)
}
