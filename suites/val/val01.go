package val

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
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
	How:       "compares values.schema.json with each copy: the definition's schema as JSON; the README's parameters, their types and values; the defaults in values.yaml; the fields, types, defaults and limits of the Go types",
	Fix:       "change the annotations in values.yaml and generate all copies again; never edit a copy",
	Plan:      planVAL01,
	Judge: func(_ context.Context, c *requirement.Check) {
		cmp := &comparison{Check: c, differences: map[string][]difference{}}
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

// difference is one thing in which a copy is not what the schema says.
type difference struct{ place, message, want string }

// comparison gathers the differences between a chart's schema and one copy, by
// the top-level property that they are about.
type comparison struct {
	*requirement.Check
	differences map[string][]difference
}

// hold counts an assertion about a property.
func (c *comparison) hold(ok bool, property string, d func() difference) {
	if ok {
		c.Assert(true, nil)
		return
	}
	c.differences[property] = append(c.differences[property], d())
}

// maxTold is how many differences of one property are told in full.
const maxTold = 3

func (c *comparison) report() {
	for _, property := range requirement.SortedKeys(c.differences) {
		all := c.differences[property]
		var told []string
		for _, d := range all[:min(len(all), maxTold)] {
			told = append(told, d.message)
		}
		message := strings.Join(told, "; ")
		if n := len(all) - maxTold; n > 0 {
			message += fmt.Sprintf("; and %d more", n)
		}
		c.Fail(requirement.Finding{
			Place: all[0].place, Subject: property, Cause: c.Get(copyAxis) + " " + property,
			Message: message, Want: all[0].want,
		})
	}
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
			c.hold(false, property, func() difference {
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

// row is a parameter in a README; typ and value are "" where they cannot be
// told.
type row struct {
	name, typ, value string
	line             int
}

var headingLine = regexp.MustCompile(`^(#+)\s+(.*\S)`)

// readTables reads the parameter tables below a heading: those with a Name and
// a Value. heading is its line, 0 where there is none.
func readTables(text, section string) (rows []row, heading int) {
	level, fenced := 0, false
	var header []string
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			header = nil
			continue
		}
		if m := headingLine.FindStringSubmatch(line); m != nil {
			if heading > 0 && len(m[1]) <= level {
				break
			}
			if heading == 0 && m[2] == section {
				heading, level = i+1, len(m[1])
			}
		}
		line = strings.TrimSpace(line)
		if heading == 0 || !strings.HasPrefix(line, "|") {
			header = nil
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for j := range cells {
			cells[j] = strings.TrimSpace(cells[j])
		}
		if header == nil {
			header = cells
			continue
		}
		name, ok := code(cells[0])
		value := column(header, cells, "Value")
		if header[0] != "Name" || value == nil || !ok {
			continue
		}
		r := row{name: name, line: i + 1}
		if t := column(header, cells, "Type"); t != nil {
			r.typ, _ = code(*t)
		}
		r.value, _ = code(*value)
		rows = append(rows, r)
	}
	return rows, heading
}

// column is the cell below a title. Cells are counted from the right: a text in
// the middle may hold the sign that parts them.
func column(header, cells []string, title string) *string {
	i := slices.Index(header, title)
	if i < 0 {
		return nil
	}
	j := len(cells) - (len(header) - i)
	if j < 0 {
		return nil
	}
	return &cells[j]
}

// code is what stands between backquotes, where a cell is nothing else.
func code(cell string) (string, bool) {
	if len(cell) < 2 || cell[0] != '`' || cell[len(cell)-1] != '`' || strings.Contains(cell[1:len(cell)-1], "`") {
		return "", false
	}
	return cell[1 : len(cell)-1], true
}

func (c *comparison) readme() {
	schema, ok := c.schema()
	if !ok {
		return
	}
	file := readmeOf(c.Tree, c.Subject.Chart)
	data, err := c.Tree.Files.ReadFile(file)
	if err != nil {
		c.Err = err
		return
	}
	rows, heading := readTables(string(data), c.Tree.Profile.Copies.Readme.Section)
	listed := map[string]row{}
	for _, r := range rows {
		listed[r.name] = r
	}
	place := func(line int) string { return fmt.Sprintf("%s:%d", file, line) }
	known := map[string]bool{}
	parameters(schema, "", nil, func(name string, keys []string, s map[string]any) {
		known[name] = true
		r, ok := listed[name]
		c.hold(ok, topLevel(name), func() difference {
			line := heading
			for i := len(name); i > 0 && line == heading; i = strings.LastIndexAny(name[:i], ".[") {
				if near, ok := listed[name[:i]]; ok {
					line = near.line
				}
			}
			return difference{place(line), fmt.Sprintf("the schema has %s (%s), the README does not list it", name, kindOf(s)), "a row for every parameter: generate the README again"}
		})
		if !ok {
			return
		}
		want, told := readmeType(r.typ, s)
		c.hold(want || !told, topLevel(name), func() difference {
			return difference{place(r.line), fmt.Sprintf("the README says that %s is of type %s, the schema says %s", name, r.typ, typeOf(s)), "the type that the schema has: generate the README again"}
		})
		value, from := readmeValue(c.Subject.Chart.Values, keys, s)
		c.hold(from == "" || r.value == "" || sameValue(r.value, value), topLevel(name), func() difference {
			return difference{place(r.line), fmt.Sprintf("the README says that %s is %s, %s says %s", name, r.value, from, show(value)), "one value in both: state it in the annotation of the property and generate all copies again"}
		})
	})
	for _, r := range rows {
		c.hold(known[r.name], topLevel(r.name), func() difference {
			return difference{place(r.line), fmt.Sprintf("the README lists %s, the schema does not have it", r.name), "only parameters of the schema: generate the README again"}
		})
	}
	if len(known) == 0 && len(rows) == 0 {
		c.Assert(true, nil) // both say that there is no parameter
	}
}

// Kinds of schemas: the JSON types, and these.
const (
	intOrString = "int-or-string"
	anything    = "any"
)

// kindOf is what a schema accepts, "" where it does not say it in one word.
func kindOf(s map[string]any) string {
	if s["x-kubernetes-int-or-string"] == true {
		return intOrString
	}
	if any, ok := s["anyOf"].([]any); ok && s["type"] == nil && len(any) == 2 {
		a, b := requirement.Field(any[0], "type"), requirement.Field(any[1], "type")
		if a == "integer" && b == "string" || a == "string" && b == "integer" {
			return intOrString
		}
	}
	if t, ok := s["type"].(string); ok {
		return t
	}
	if s["x-kubernetes-preserve-unknown-fields"] == true {
		return anything
	}
	return ""
}

// typeOf is kindOf with what lists and maps hold.
func typeOf(s map[string]any) string {
	switch k := kindOf(s); {
	case k == "array" && requirement.Map(s, "items") != nil:
		return "array of " + typeOf(requirement.Map(s, "items"))
	case k == "object" && requirement.Map(s, "additionalProperties") != nil:
		return "map of " + typeOf(requirement.Map(s, "additionalProperties"))
	default:
		return k
	}
}

// readmeType tells whether a type as READMEs write it is that of a schema. told
// is false where one of the two does not say it.
func readmeType(t string, s map[string]any) (ok, told bool) {
	t = strings.TrimPrefix(t, "*")
	kind := kindOf(s)
	if t == "" || kind == "" {
		return false, false
	}
	element := func(t, key string) (bool, bool) {
		e := requirement.Map(s, key)
		if e == nil || t == "object" {
			return true, true // of any structure
		}
		ok, told := readmeType(t, e)
		return ok || !told, true
	}
	if rest, found := strings.CutPrefix(t, "[]"); found {
		if kind != "array" {
			return false, true
		}
		return element(rest, "items")
	}
	if rest, found := strings.CutPrefix(t, "map[string]"); found {
		if kind != "object" {
			return kind == anything, true
		}
		return element(rest, "additionalProperties")
	}
	switch t {
	case "string", "duration", "time":
		return kind == "string", true
	case "int", "int32", "int64":
		return kind == "integer", true
	case "float32", "float64":
		return kind == "number", true
	case "bool":
		return kind == "boolean", true
	case "quantity", "intOrString":
		return kind == intOrString, true
	case "object":
		return kind == "object" || kind == anything, true
	}
	return false, false
}

// readmeValue is the value that a README should give for a parameter, and where
// it is from: values.yaml, else the schema's default. from is "" for what
// READMEs abridge: nothing, objects and lists of them.
func readmeValue(values map[string]any, keys []string, s map[string]any) (value any, from string) {
	value, from = s["default"], "the schema"
	if len(keys) > 0 {
		parent := requirement.Field(values, keys[:len(keys)-1]...)
		if m, ok := parent.(map[string]any); ok {
			if v, ok := m[keys[len(keys)-1]]; ok {
				value, from = v, valuesFile
			}
		}
	}
	switch v := value.(type) {
	case nil, map[string]any:
		return nil, ""
	case []any:
		for _, x := range v {
			switch x.(type) {
			case map[string]any, []any:
				return nil, ""
			}
		}
	}
	return value, from
}

// sameValue tells whether a README's text stands for a value.
func sameValue(text string, value any) bool {
	switch v := value.(type) {
	case string:
		return text == v || v == "" && text == `""` || strings.Trim(text, `"`) == v
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = fmt.Sprint(x)
		}
		return text == "["+strings.Join(parts, ", ")+"]"
	case bool:
		return text == strconv.FormatBool(v)
	}
	got, err1 := strconv.ParseFloat(text, 64)
	want, err2 := strconv.ParseFloat(fmt.Sprint(value), 64)
	if err1 == nil && err2 == nil {
		return got == want
	}
	return text == fmt.Sprint(value)
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
