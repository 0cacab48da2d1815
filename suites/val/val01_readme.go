package val

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"proofplane/suites/requirement"
)

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
		c.weigh(from == "" || r.value == "" || sameValue(r.value, value), topLevel(name), from != valuesFile && r.value == emptyText, func() difference {
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

// emptyText is what READMEs write for a parameter without a default.
const emptyText = `""`

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
		return text == v || v == "" && text == emptyText || strings.Trim(text, `"`) == v
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
