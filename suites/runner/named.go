package runner

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"proofplane/suites/requirement"
)

// IsCase says whether a word names a case, not a requirement.
func IsCase(word string) bool { return strings.ContainsAny(word, "/#") }

// requirementOf is the part of a case's name or id that names its requirement.
func requirementOf(name string) string {
	if i := strings.IndexAny(name, "/#"); i >= 0 {
		return name[:i]
	}
	return name
}

// minDigits is how many digits of an id have to be given.
const minDigits = 6

var digits = regexp.MustCompile(fmt.Sprintf("^[0-9a-f]{%d,%d}$", minDigits, requirement.IDDigits))

// named returns the cases that names stand for: a name is whole; an id, in upper
// or lower case, may lack its last digits while only one case begins so. A
// requirement that could not be planned has no cases to look for.
func named(plan []*Planned, names []string) (map[*requirement.Case]bool, error) {
	out := map[*requirement.Case]bool{}
	byName, byID := map[string]*requirement.Case{}, map[string][]*requirement.Case{}
	for _, p := range plan {
		for _, c := range p.Cases {
			byName[c.Name()] = c
			id := c.ID()
			for n := len(id) - requirement.IDDigits + minDigits; n <= len(id); n++ {
				byID[strings.ToUpper(id[:n])] = append(byID[strings.ToUpper(id[:n])], c)
			}
		}
	}
	for _, name := range names {
		if slices.ContainsFunc(plan, func(p *Planned) bool { return p.Err != nil && strings.EqualFold(p.ID, requirementOf(name)) }) {
			continue
		}
		if c := byName[name]; c != nil {
			out[c] = true
			continue
		}
		id, hash, short := strings.Cut(name, "#")
		if strings.Contains(id, "/") {
			short = false // a name with a # in a value
		}
		if short && !digits.MatchString(strings.ToLower(hash)) {
			return nil, &UsageError{fmt.Sprintf("there is no case %q: after # an id has %d to %d digits of 0-9a-f, as `proofplane list --cases` shows them", name, minDigits, requirement.IDDigits)}
		}
		var found []*requirement.Case
		if short {
			found = byID[strings.ToUpper(name)]
		}
		switch len(found) {
		case 0:
			return nil, &UsageError{fmt.Sprintf("there is no case %q in this tree: `proofplane list --cases` shows those there are", name)}
		case 1:
			out[found[0]] = true
		default:
			return nil, &UsageError{fmt.Sprintf("%q is the beginning of %d cases: give all of %s", name, len(found), alternatives(found))}
		}
	}
	return out, nil
}

// alternatives names some cases: by id, or by name where the ids are the same.
func alternatives(cases []*requirement.Case) string {
	var ids, names []string
	for _, c := range cases {
		ids = append(ids, c.ID())
		names = append(names, c.Name())
	}
	if slices.Sort(ids); len(slices.Compact(slices.Clone(ids))) < len(ids) {
		ids = names
	}
	const most = 4
	if len(ids) > most {
		ids = append(ids[:most], "…")
	}
	return strings.Join(ids, " or ")
}
