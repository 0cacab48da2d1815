package val

import (
	"fmt"
	"maps"
	"net/mail"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"proofplane/fixtures/render"
	"proofplane/suites/requirement"
)

// textKind is what YAML takes a text for that is not quoted.
type textKind int

const (
	boolText textKind = iota
	nullText
	numberText
	dateText
	syntaxText
)

// yamlText is a string that YAML reads as something else where it is not quoted.
type yamlText struct {
	kind textKind
	text string
}

// yamlTexts are tried in this order; what a finding cites comes first.
func yamlTexts() []yamlText {
	var out []yamlText
	add := func(kind textKind, texts ...string) {
		for _, t := range texts {
			out = append(out, yamlText{kind, t})
		}
	}
	add(boolText, "no", "true", "n", "y", "on", "off")
	add(numberText, "1e3", "1.10", "0x1f", "0o17", "12_3")
	add(nullText, "null", "~")
	add(dateText, "2001-01-01")
	add(syntaxText, "text #1", `"quoted" text`, "it's", "key: value", "*/5 * * * *", "@daily", "!mark", "%percent", "&amp", "two\nlines")
	return out
}

// textLeaf is a string that a chart is given: a value, a key of a mapping, or
// the name of its instance.
type textLeaf struct {
	schemaLeaf
	use  textUse
	mark string // a value that is found again in what is rendered
}

type textUse int

const (
	valueText textUse = iota
	keyText           // the path is that of the mapping
	nameText          // no path
)

// releaseName is how the name of an instance is called among the values.
const releaseName = "release name"

func (l textLeaf) title() string {
	switch l.use {
	case nameText:
		return "the " + releaseName
	case keyText:
		return "a key of " + l.name()
	}
	return "value " + l.name()
}

// group is the value of the axis that a leaf belongs to.
func (l textLeaf) group() string {
	if l.use == nameText {
		return releaseName
	}
	return l.path[0]
}

// textLeaves returns the strings that a schema offers, in order: scalars, items
// of lists, and the keys and entries of mappings. Enumerations are left out, and
// so is what may be a number.
func textLeaves(s map[string]any) []textLeaf {
	var out []textLeaf
	seen := map[string]bool{}
	add := func(l textLeaf) {
		id := fmt.Sprint(l.use, l.key())
		if !seen[id] && !l.inert {
			seen[id] = true
			l.mark = markFor(l, len(out))
			out = append(out, l)
		}
	}
	below := func(l schemaLeaf, name string, sub map[string]any) schemaLeaf {
		return schemaLeaf{append(slices.Clone(l.path), name), append(slices.Clone(l.parents), sub), l.inert}
	}
	for _, l := range schemaLeaves(s) {
		for i := 1; i < len(l.path); i++ {
			if l.parents[i-1]["properties"] == nil && l.parents[i-1]["type"] != "array" {
				add(textLeaf{schemaLeaf: schemaLeaf{l.path[:i], l.parents[:i], l.inert}, use: keyText})
			}
		}
		items, _ := l.schema()["items"].(map[string]any)
		entries, isMap := l.schema()["additionalProperties"].(map[string]any)
		switch {
		case takesText(l.schema()):
			add(textLeaf{schemaLeaf: l})
		case l.schema()["type"] == "array" && takesText(items):
			add(textLeaf{schemaLeaf: below(l, "0", items)})
		case l.schema()["type"] == "object" && isMap:
			add(textLeaf{schemaLeaf: l, use: keyText})
			if takesText(entries) {
				add(textLeaf{schemaLeaf: below(l, requirement.ExampleName, entries)})
			}
		case l.free():
			add(textLeaf{schemaLeaf: below(l, requirement.ExampleName, map[string]any{"type": "string"})})
		}
	}
	return out
}

// takesText tells whether a schema takes any text, and not a quantity.
func takesText(s map[string]any) bool {
	quantity, _ := s["x-kubernetes-int-or-string"].(bool)
	return s["type"] == "string" && s["enum"] == nil && !quantity
}

// unlikelyNumber begins marks where letters are not allowed; with two dots it is
// no number to YAML.
const unlikelyNumber = "7531.9."

// markFor returns a string that the schema of a leaf allows and that stands
// nowhere else; "" where there is none.
func markFor(l textLeaf, n int) string {
	if m := fmt.Sprintf("%s%02d", unlikelyNumber, n%100); !l.allows(unlikely) && l.allows(m) {
		return m
	}
	word := unlikely + string(rune('a'+n/26%26)) + string(rune('a'+n%26))
	for _, form := range []string{"%s", "%s.example.org", "https://%s.example.org", "%s@example.org", "/%s", "%s:80"} {
		if m := fmt.Sprintf(form, word); l.allows(m) {
			return m
		}
	}
	return ""
}

// entries is the schema of what a mapping holds.
func (l textLeaf) entries() map[string]any {
	if l.use != keyText {
		return nil
	}
	entries, _ := l.schema()["additionalProperties"].(map[string]any)
	return entries
}

// allows tells whether the schema of a leaf allows a text. Schemas do not say
// what the keys of a mapping may be, but that none is empty or spans lines.
func (l textLeaf) allows(text string) bool {
	if l.use == keyText {
		names, _ := l.schema()["propertyNames"].(map[string]any)
		return !strings.Contains(text, "\n") && allowsText(names, text)
	}
	return allowsText(l.schema(), text)
}

func allowsText(s map[string]any, text string) bool {
	length := float64(utf8.RuneCountInString(text))
	if n, ok := s["minLength"].(float64); ok && length < n {
		return false
	}
	if n, ok := s["maxLength"].(float64); ok && length > n {
		return false
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, any(text)) {
		return false
	}
	if p, ok := s["pattern"].(string); ok {
		// A pattern that Go cannot read is taken to allow nothing: what is
		// refused must not be judged.
		if re, err := regexp.Compile(p); err != nil || !re.MatchString(text) {
			return false
		}
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		all, _ := s[word].([]any)
		fits := 0
		for _, a := range all {
			if sub, ok := a.(map[string]any); ok && allowsText(sub, text) && (sub["type"] == nil || sub["type"] == "string") {
				fits++
			}
		}
		if len(all) > 0 && (fits == 0 || word == "allOf" && fits < len(all) || word == "oneOf" && fits != 1) {
			return false
		}
	}
	format, _ := s["format"].(string)
	return hasFormat(format, text)
}

// hasFormat tells whether a text has a format of JSON schema, as far as the API
// server checks it.
func hasFormat(format, text string) bool {
	var err error
	switch format {
	case "ipv4", "ipv6", "ip":
		_, err = netip.ParseAddr(text)
	case "cidr":
		_, err = netip.ParsePrefix(text)
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	case "duration":
		_, err = time.ParseDuration(text)
	case "email":
		_, err = mail.ParseAddress(text)
	case "hostname":
		return len(validation.IsDNS1123Subdomain(text)) == 0
	case "uri", "url":
		return strings.Contains(text, "://")
	case "uuid", "mac", "byte":
		return false
	}
	return err == nil
}

// assignment gives leaves their texts.
type assignment map[int]string

// laid returns the values of a context with texts laid over, and the name of the
// instance where that is one of them.
func (t *texts) laid(context map[string]any, a assignment) (values map[string]any, name string) {
	current := render.MergeValues(t.chart.Values, context)
	out := maps.Clone(context)
	if out == nil {
		out = map[string]any{}
	}
	var keys []int
	for i, l := range t.leaves {
		text, ok := a[i]
		switch {
		case !ok:
		case l.use == nameText:
			name = text
		case l.use == keyText:
			keys = append(keys, i)
		default:
			top := set(current, l.schemaLeaf, text)[l.path[0]]
			current[l.path[0]], out[l.path[0]] = top, top
		}
	}
	// The deepest first: their paths name what lies above as it was.
	slices.SortStableFunc(keys, func(i, j int) int { return len(t.leaves[j].path) - len(t.leaves[i].path) })
	for _, i := range keys {
		l := t.leaves[i].schemaLeaf
		have, _ := at(current, l).(map[string]any)
		entry := have[requirement.ExampleName]
		if entry == nil {
			entry = requirement.Example(t.leaves[i].entries(), l.last(), requirement.ExampleName)
		}
		// What the chart has by default goes: one entry keeps its place in what
		// is rendered, whatever it is called.
		only := map[string]any{a[i]: entry}
		if defaults, ok := at(t.chart.Values, l).(map[string]any); ok {
			for k := range defaults {
				only[k] = nil
			}
		}
		top := set(current, l, only)[l.path[0]]
		current[l.path[0]], out[l.path[0]] = top, top
		if t.renamed {
			for k, v := range out {
				out[k] = renamed(v, requirement.ExampleName, a[i])
			}
		}
	}
	return out, name
}

// renamed is a value with a text in place of another one, wherever that is an
// item of a list.
func renamed(v any, from, to string) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, x := range t {
			out[k] = renamed(x, from, to)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, x := range t {
			if out[i] = renamed(x, from, to); x == from {
				out[i] = to
			}
		}
		return out
	}
	return v
}
