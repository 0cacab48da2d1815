package pkg

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"proofplane/suites/requirement"
)

// neededPackages are the packages that another emitted one depends on, those
// first that most packages wait for.
func neededPackages(e *requirement.Env) []string {
	most := map[string]int{}
	for _, preset := range e.PresetNames() {
		p, err := e.Packages(requirement.PlatformSituation{Preset: preset})
		if err != nil {
			continue
		}
		for _, n := range p.Names() {
			if direct, all := waiting(e, p, n); len(direct) > 0 {
				most[n] = max(most[n], len(all))
			}
		}
	}
	out := requirement.SortedKeys(most)
	sort.SliceStable(out, func(i, j int) bool { return most[out[i]] > most[out[j]] })
	return out
}

// waiting are the emitted packages that depend on one, and with those that
// depend on them all that wait for it.
func waiting(e *requirement.Env, p *requirement.Packages, name string) (direct, all []string) {
	held := map[string]bool{name: true}
	for more := true; more; {
		more = false
		for _, n := range p.Names() {
			_, v := p.Variant(e, n)
			if held[n] || v == nil || !slices.ContainsFunc(v.DependsOn, func(d string) bool { return held[d] }) {
				continue
			}
			held[n], more = true, true
			all = append(all, n)
			if slices.Contains(v.DependsOn, name) {
				direct = append(direct, n)
			}
		}
	}
	sort.Strings(direct)
	sort.Strings(all)
	return direct, all
}

// judgeDisabled disables a package that others need. Of the presets, that one
// is reported in which most is left waiting.
func judgeDisabled(c *requirement.Check) {
	name := c.Get("package")
	var worst *requirement.Packages
	var direct, all []string
	for _, preset := range c.PresetNames() {
		whole, err := c.Packages(requirement.PlatformSituation{Preset: preset})
		if err != nil || whole.Get(name) == nil {
			continue
		}
		needing, _ := waiting(c.Env, whole, name)
		if len(needing) == 0 {
			continue
		}
		p, err := c.Packages(requirement.PlatformSituation{Preset: preset, Disable: name})
		if err != nil {
			named := slices.ContainsFunc(needing, func(n string) bool { return strings.Contains(err.Error(), n) })
			c.Assert(named && strings.Contains(err.Error(), name), func() requirement.Finding {
				return requirement.Finding{
					Chart: c.Tree.Profile.PlatformChart, Place: c.Tree.Profile.PlatformChart, Cause: "refusal",
					Message: fmt.Sprintf("disabling %s is refused without naming it and what needs it: %v", name, err),
					Want:    "both packages in the message",
				}
			})
			continue
		}
		d, a := waiting(c.Env, p, name)
		c.Assertions++
		if len(a) > len(all) {
			worst, direct, all = whole, d, a
		}
	}
	switch {
	case worst != nil:
		indirect := ""
		if n := len(all) - len(direct); n > 0 {
			indirect = fmt.Sprintf(", and %d more behind %s", n, oneOrMore(len(direct), "it", "them"))
		}
		c.Fail(requirement.Finding{
			Result: worst.Result, Object: worst.Get(name), Path: []string{"metadata", "name"}, AtCaller: true,
			Severity: requirement.Should, Weight: len(all), Root: "disabled " + name,
			Message: fmt.Sprintf("disabling %s leaves %s waiting for it for ever%s", name, count(len(direct), "package", direct), indirect),
			Want:    "a refusal that names both, or the dependants left out too",
		})
	case c.Assertions == 0:
		c.Skip("nothing that is emitted needs %s", name)
	}
}

// count says how many there are of something and names the first three.
func count(n int, what string, names []string) string {
	more := ""
	if n > 3 {
		more = ", …"
	}
	return fmt.Sprintf("%d %s (%s%s)", n, oneOrMore(n, what, what+"s"), strings.Join(names[:min(3, n)], ", "), more)
}

func oneOrMore(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
