package val

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"proofplane/fixtures/render"
	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// VAL11: strings stay the strings that they are.
var VAL11 = &requirement.Requirement{
	ID:        "VAL-11",
	Statement: "A string that schema and API accept arrives as the same string: nothing unquoted turns into a boolean, number, null, date or YAML syntax on its way through templates, nested values and scripts",
	Severity:  requirement.Must,
	Tiers:     []requirement.Tier{requirement.Render, requirement.Plane},
	Origin:    "field bug: an instance called n got the label false, and the API server refused the object that carries it",
	Axes:      "every application chart, each property on top of its schema that holds strings, keys of mappings or lists of them, and the name of the instance where users choose it",
	How: "finds where a string arrives: with everything switched on, with the defaults and at every alternative it is given a word that stands nowhere else, and each field, key, value of a nested release, and field of a YAML or JSON document inside a text that holds the word is a place. Then it is given " + citedTexts() +
		", those of them that its schema allows and that are legal where they arrive, and each place has to hold the text as a string. A place that a template makes something else of (a hash, a cut, another form) is not judged, quantities and enumerations are left out, and a refusal with a message is right. " +
		"must where users make the string up: the name of an instance, a key of a mapping whose entries are mappings, and what becomes part of the name or a label of an object, where it turns into another type; and a value that a Secret holds, for passwords hold anything: there any text but one of two lines. One finding a template. should, one finding a chart, everywhere else: a class, an address or an image has to name something that exists, so that such a text is contrived",
	Fix: "write | quote behind the value, or hand the whole mapping to toYaml; in JSON and in scripts toJson, and never \"{{ … }}\" around a text that may hold a quote",
	Plan: func(e *requirement.Env) (requirement.Plan, error) {
		return e.Subjects(func(c *tree.Chart) bool { return c.Application && len(chartTexts(e, c)) > 0 }, func(c *tree.Chart) matrix.Matrix {
			var groups []string
			for _, l := range chartTexts(e, c) {
				if g := l.group(); !slices.Contains(groups, g) {
					groups = append(groups, g)
				}
			}
			return matrix.Matrix{Axes: []matrix.Axis{{Name: "string", Values: groups}}}
		}, "no application chart is given a string"), nil
	},
	Judge: judgeVAL11,
}

func citedTexts() string {
	var out []string
	for _, y := range yamlTexts() {
		out = append(out, strconv.Quote(y.text))
	}
	return strings.Join(out[:len(out)-1], ", ") + " and " + out[len(out)-1]
}

func judgeVAL11(_ context.Context, c *requirement.Check) {
	t := textsOf(c.Env, c.Subject.Chart)
	if t.err != nil {
		c.Block("the chart renders neither with its defaults nor with anything switched on: %s", t.err)
		return
	}
	allowed := false
	for i, l := range t.leaves {
		if l.group() != c.Get("string") {
			continue
		}
		allowed = allowed || l.mark != ""
		c.Assertions += t.judged[i]
		for _, list := range t.byPlace(i) {
			t.report(c, i, list)
		}
	}
	switch {
	case c.Assertions > 0:
	case !allowed:
		c.Skip("the schema allows no text that could be taken for anything but a string")
	default:
		c.Skip("nothing that is rendered holds it as it is")
	}
}

// byPlace returns what a leaf lost, by the place where it did, must before
// should: one place may have both.
func (t *texts) byPlace(leaf int) [][]lostText {
	var keys []string
	groups := map[string][]lostText{}
	for _, l := range t.lost {
		if l.leaf != leaf {
			continue
		}
		at := l.place
		if l.object != nil {
			at = t.locate(l)
		}
		l.place = at
		k := string(t.severity(l)) + " " + at
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], l)
	}
	slices.SortStableFunc(keys, strings.Compare)
	var out [][]lostText
	musts := map[string]bool{}
	for _, k := range keys {
		severity, at, _ := strings.Cut(k, " ")
		if severity == string(requirement.Must) {
			musts[at] = true
		} else if musts[at] {
			continue // the same line is mended by the same edit
		}
		out = append(out, groups[k])
	}
	return out
}

// locate returns the line that writes what was lost. Renders do not know the line
// of a field in a document inside a text, nor that of a key which a template
// makes: it is looked for below the line that begins the text or the mapping.
func (t *texts) locate(l lostText) string {
	last := l.path[len(l.path)-1]
	path := l.path
	holds := func(line string) bool { return madeKey.MatchString(line) }
	if i := slices.Index(path, inText); i >= 0 {
		path = path[:i]
		holds = func(line string) bool { return strings.Contains(line, last) && strings.Contains(line, "{{") }
	} else if !isMarked(last) {
		return t.Engine.Locate(l.result, l.object, path...)
	}
	at := t.Engine.Locate(l.result, l.object, path...)
	file, n, lines := t.lines(at)
	for m := max(0, n-1); n > 0 && m < len(lines) && m < n+linesBelow; m++ {
		if holds(lines[m]) {
			return fmt.Sprintf("%s:%d", file, m+1)
		}
	}
	return at
}

// linesBelow is how far below its first line a text or a mapping is searched.
const linesBelow = 100

// madeKey is a line that begins with a key which a template makes.
var madeKey = regexp.MustCompile(`^\s*["']?\{\{-?\s*[$.(][^}]*\}\}[^:]*:(\s|$)`)

// lines returns the file of a place, its line, from 1, and all lines of the file;
// 0 where the place names none.
func (t *texts) lines(place string) (file string, n int, all []string) {
	file, number, _ := strings.Cut(place, ":")
	n, err := strconv.Atoi(number)
	data, rerr := t.Tree.Files.ReadFile(file)
	if err != nil || rerr != nil {
		return file, 0, nil
	}
	all = strings.Split(string(data), "\n")
	if n > len(all) {
		n = 0
	}
	return file, n, all
}

// severity is must for what users make up, and must not have to be careful with.
func (t *texts) severity(l lostText) requirement.Severity {
	leaf := t.leaves[l.leaf]
	entries, _ := leaf.entries()["properties"].(map[string]any)
	switch {
	case leaf.use == valueText && t.secret[l.leaf] && !strings.Contains(l.text.text, "\n"):
		return requirement.Must
	case l.text.kind == syntaxText:
		return requirement.Should
	case leaf.use == nameText, t.named[l.leaf], leaf.use == keyText && len(entries) > 0:
		return requirement.Must
	}
	return requirement.Should
}

// report makes one finding of what a leaf lost at one place.
func (t *texts) report(c *requirement.Check, leaf int, list []lostText) {
	l := list[0]
	f := requirement.Finding{
		Result: l.result, Object: l.object, Place: l.place, Subject: l.name, Severity: t.severity(l),
		Want: "the same text, as a string: quoted, or written by toYaml",
	}
	var parts []string
	kinds := map[textKind]bool{}
	for _, x := range list {
		if !kinds[x.text.kind] && len(parts) < 3 {
			kinds[x.text.kind] = true
			parts = append(parts, fmt.Sprintf("%q %s", x.text.text, x.what))
		}
	}
	where := ""
	if l.object != nil {
		where = " in " + strings.ReplaceAll(marks.ReplaceAllString(strings.Join(l.path, "."), "*"), "."+inText, "")
	}
	f.Message = fmt.Sprintf("%s stands unescaped%s: %s; %s", t.leaves[leaf].title(), where, strings.Join(parts, ", "), t.consequence(l))
	f.Root = c.Subject.Chart.Dir
	if f.Severity == requirement.Must {
		f.Root = fileOf(l.place)
	}
	f.Root += " " + string(f.Severity)
	c.Assertions-- // it is one of the places that were counted
	c.Fail(f)
}

// consequence says why it matters.
func (t *texts) consequence(l lostText) string {
	switch {
	case l.object == nil:
		return "the release fails without a word about the value"
	case l.broken:
		return "the release fails"
	case strings.HasPrefix(l.what, "breaks the document"):
		return "what reads it fails"
	case l.path[0] == "metadata", requirement.Builtin(l.object.Unstructured) && !slices.Contains(l.path, inText):
		return "the API server refuses the " + l.object.GetKind()
	case render.IsHelmRelease(l.object.Unstructured):
		return "the chart that it installs gets another value"
	case slices.Contains(l.path, inText):
		return "what reads the " + l.object.GetKind() + " gets another value"
	}
	return "the API server refuses the " + l.object.GetKind() + ", or its controller gets another value"
}
