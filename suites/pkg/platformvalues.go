package pkg

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"proofplane/fixtures/render"
	"proofplane/suites/requirement"
)

// platformLeaf is a value of the platform chart.
type platformLeaf struct {
	path   []string
	line   int
	others []any // what it is changed to, likely ones first
	blank  bool  // an empty string
	free   bool  // an empty mapping
	on     any   // what switches it on: true for false, an alternative
	named  []string
}

// quoted finds the alternatives in a comment: "a", "b", or a | b.
var (
	quoted = regexp.MustCompile(`"([A-Za-z0-9][A-Za-z0-9.-]*)"`)
	barred = regexp.MustCompile(`([A-Za-z0-9.-]+)(?: \||$)`)
)

func platformLeaves(e *requirement.Env) ([]platformLeaf, string, error) {
	file := path.Join(e.Tree.PlatformChart().Dir, "values.yaml")
	data, err := e.Tree.Files.ReadFile(file)
	if err != nil {
		return nil, file, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, file, err
	}
	var packages []any
	for _, src := range e.Tree.Packages {
		packages = append(packages, src.Name)
	}
	var out []platformLeaf
	var walk func(n *yaml.Node, p []string)
	walk = func(n *yaml.Node, p []string) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, v := n.Content[i], n.Content[i+1]
			at := append(slices.Clone(p), key.Value)
			if v.Kind == yaml.MappingNode && len(v.Content) > 0 {
				walk(v, at)
				continue
			}
			l := platformLeaf{path: at, line: key.Line}
			var value any
			if v.Decode(&value) != nil {
				continue
			}
			for _, m := range quoted.FindAllStringSubmatch(key.HeadComment+" "+v.LineComment, 6) {
				l.named = append(l.named, m[1])
			}
			if strings.Contains(v.LineComment, " | ") {
				for _, m := range barred.FindAllStringSubmatch(v.LineComment, 6) {
					l.named = append(l.named, m[1])
				}
			}
			l.change(value)
			if _, ok := value.([]any); ok {
				l.others = append(l.others, packages)
			}
			out = append(out, l)
		}
	}
	if len(doc.Content) > 0 && doc.Content[0].Kind == yaml.MappingNode {
		walk(doc.Content[0], nil)
	}
	return out, file, nil
}

const probe = "proofplane"

// change fills in what a value is changed to.
func (l *platformLeaf) change(value any) {
	switch v := value.(type) {
	case bool:
		l.others = []any{!v, v} // a preset may hold either
		if !v {
			l.on = true
		}
		l.named = nil
	case int:
		l.others = []any{v + 1}
	case float64:
		l.others = []any{v + 1}
	case string:
		l.named = slices.DeleteFunc(l.named, func(n string) bool { return n == v })
		l.blank = v == ""
		if l.blank {
			l.named = nil // examples, not alternatives
		}
		l.others = []any{v + probe}
		for _, n := range l.named {
			l.others = append(l.others, n)
		}
	case []any:
		l.others = []any{append(slices.Clone(v), probe), append(slices.Clone(v), map[string]any{"name": probe})}
	case map[string]any:
		l.free = true
		l.others = []any{map[string]any{probe: probe}, map[string]any{probe: map[string]any{probe: probe}}}
	default:
		l.blank = true
		l.others = []any{probe, true, map[string]any{probe: probe}}
	}
}

// platformContexts are the situations in which values may come alive: every
// preset with all optional packages, as it is and with everything switched on
// that can be.
func platformContexts(e *requirement.Env, leaves []platformLeaf) []requirement.PlatformSituation {
	var plain, most []requirement.PlatformSituation
	for _, preset := range e.PresetNames() {
		s := requirement.PlatformSituation{Preset: preset, Enabled: requirement.AllPackages}
		if _, err := e.Packages(s); err != nil {
			continue
		}
		plain = append(plain, s)
		for _, l := range leaves {
			if l.on == nil || l.path[0] == strings.Split(e.Tree.Profile.BundlesKey, ".")[0] {
				continue
			}
			with := s
			with.Values = render.MergeValues(s.Values, requirement.At(l.on, l.path...))
			if _, err := e.Packages(with); err == nil {
				s = with
			}
		}
		most = append(most, s)
	}
	return append(plain, most...)
}

// besides are the contexts with a single other value changed, those that stand
// near to a value first: a switch, an alternative, or a blank beside it.
func besides(e *requirement.Env, contexts []requirement.PlatformSituation, leaves []platformLeaf, l platformLeaf) []requirement.PlatformSituation {
	var out []requirement.PlatformSituation
	add := func(s requirement.PlatformSituation, values map[string]any) {
		s.Values = render.MergeValues(s.Values, values)
		if _, err := e.Packages(s); err == nil {
			out = append(out, s)
		}
	}
	blanks := map[string]any{}
	for _, o := range leaves {
		if o.blank && len(o.path) == len(l.path) && slices.Equal(o.path[:len(o.path)-1], l.path[:len(l.path)-1]) {
			blanks = render.MergeValues(blanks, requirement.At(probe, o.path...))
		}
	}
	for _, s := range contexts {
		if len(blanks) > 0 {
			add(s, blanks)
		}
		for _, o := range leaves {
			for _, n := range o.named {
				add(s, requirement.At(n, o.path...))
			}
			if o.on != nil {
				add(s, requirement.At(o.on, o.path...))
			}
		}
	}
	return out
}
