package reports_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"proofplane/reports"
)

// without returns the points that are not in a subset.
func without(all, subset [][]reports.Setting) [][]reports.Setting {
	return slices.DeleteFunc(slices.Clone(all), func(p []reports.Setting) bool {
		return slices.ContainsFunc(subset, func(q []reports.Setting) bool { return slices.Equal(p, q) })
	})
}

func TestFold(t *testing.T) {
	all := points(
		"chart=a,x=1,y=p", "chart=a,x=1,y=q",
		"chart=a,x=2,y=p", "chart=a,x=2,y=q",
		"chart=a,x=3,y=p", "chart=a,x=3,y=q",
		"chart=b,x=1,z=m", "chart=b,x=1,z=n",
		"chart=c",
		"chart=d,w=1", "chart=d,w=2", "chart=d,w=3", "chart=d,w=4", "chart=d,w=5", "chart=d,w=6",
	)
	one := all[:6]
	two := points("chart=a,x=1", "chart=b,x=1", "chart=a,x=2", "chart=b,x=2")
	for name, c := range map[string]struct {
		show, others [][]reports.Setting
		want         string
	}{
		"all":                             {all, nil, "always"},
		"the only case, without settings": {[][]reports.Setting{nil}, nil, "always"},
		"a chart":                         {all[:6], all[6:], "chart=a, whatever the rest"},
		"a chart without axes":            {all[8:9], without(all, all[8:9]), "chart=c"},
		"two charts":                      {all[6:9], without(all, all[6:9]), "chart=b|c, whatever the rest"},
		"an axis fixed":                   {all[:2], all[2:], "chart=a, x=1, whatever the rest"},
		"an axis at two values":           {all[:4], all[4:], "chart=a, x=1|2, whatever the rest"},
		"axes that only one chart has":    {all[3:4], without(all, all[3:4]), "x=2, y=q"},
		"an axis that only one chart has": {all[6:7], without(all, all[6:7]), "z=m"},
		"many values":                     {all[9:14], without(all, all[9:14]), "w=1|2|3 and 2 more"},
		"many charts":                     {points("chart=a,x=1", "chart=b,x=1", "chart=c,x=1", "chart=d,x=1"), points("chart=e,x=1"), "chart=a|b|c and 1 more"},
		"scattered over all values":       {points("chart=a,x=1,y=p", "chart=a,x=2,y=q", "chart=a,x=3,y=p"), points("chart=a,x=1,y=q", "chart=a,x=2,y=p", "chart=a,x=3,y=q", "chart=b"), "chart=a, 3 of 6 such cases"},
		"scattered over some values":      {points("chart=a,x=1,y=p", "chart=a,x=2,y=q"), without(all, points("chart=a,x=1,y=p", "chart=a,x=2,y=q")), "chart=a, x=1|2, 2 of 4 such cases"},
		"an axis of some charts":          {points("chart=a,x=1,y=p", "chart=b,x=1,z=m"), without(all, points("chart=a,x=1,y=p", "chart=b,x=1,z=m")), "x=1, y=p, z=m, whatever the rest"},
		"a value of one of two charts":    {append(points("chart=c"), all[0], all[1]), without(all[:9], append(points("chart=c"), all[0], all[1])), "chart=a|c, x=1, whatever the rest"},
		"the only chart":                  {one[:2], one[2:], "x=1, whatever the rest"},
		"nothing separates":               {points("chart=a,x=1,y=p", "chart=a,x=2,y=q", "chart=a,x=3,y=q"), without(one, points("chart=a,x=1,y=p", "chart=a,x=2,y=q", "chart=a,x=3,y=q")), "3 of 6 cases"},
		"every chart, one value":          {two[:2], two[2:], "x=1, whatever the rest"},
		"a value that looks like several": {[][]reports.Setting{{{Axis: "x", Value: "a,ab"}}, {{Axis: "x", Value: "b"}}}, points("x=3"), `x="a,ab"|b`},
		"no chart axis":                   {points("x=1"), points("x=2"), "x=1"},
		"a point without settings":        {[][]reports.Setting{nil}, points("chart=a"), "1 of 2 cases"},

		// What is refused was not judged, and decides nothing: gpu is forced by
		// hami, and the chart refuses one without the other.
		"an implicit force": {
			points("chart=a,hami=true,gpu=true,v=1", "chart=a,hami=true,gpu=true,v=2"),
			points("chart=a,hami=false,gpu=true,v=1", "chart=a,hami=false,gpu=false,v=2"),
			"hami=true, whatever the rest",
		},
		"a conjunction": {
			points("chart=a,x=1,y=1,z=1", "chart=a,x=1,y=1,z=2"),
			points("chart=a,x=1,y=2,z=1", "chart=a,x=1,y=2,z=2", "chart=a,x=2,y=1,z=1", "chart=a,x=2,y=1,z=2", "chart=a,x=2,y=2,z=1"),
			"x=1, y=1, whatever the rest",
		},
		"an axis that a later pair makes needless": {
			// s excludes most, but x and y exclude all.
			points("s=1,x=1,y=1", "s=2,x=1,y=1"),
			points("s=3,x=2,y=1", "s=3,x=2,y=1", "s=3,x=1,y=2", "s=1,x=2,y=1", "s=1,x=1,y=2"),
			"x=1, y=1, whatever the rest",
		},
		"more than three axes": {
			points("x=1,y=1,z=1,w=1"),
			points("x=2,y=1,z=1,w=1", "x=1,y=2,z=1,w=1", "x=1,y=1,z=2,w=1", "x=1,y=1,z=1,w=2"),
			"x=1, y=1, z=1, 1 of 2 such cases",
		},
		"an axis with fewer values says it better": {
			points("chart=a,x=1,y=1", "chart=a,x=2,y=1"), points("chart=a,x=3,y=2"), "y=1, whatever the rest",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := reports.Fold(c.show, c.others).String()
			NewWithT(t).Expect(got).To(Equal(c.want))
			NewWithT(t).Expect(got).NotTo(ContainSubstring("(none)"))
		})
	}
}

// A case that was not judged is no case that passed.
func TestSituationComparesWithJudgedCasesOnly(t *testing.T) {
	g := NewWithT(t)
	events := []reports.Event{opened(), {Requirement: &reports.Requirement{ID: "SVC-01", Severity: "must", Planned: 6}}}
	for i, c := range []struct {
		point   string
		verdict reports.Verdict
	}{
		{"chart=a,x=1,y=1", reports.Fail}, {"chart=a,x=2,y=1", reports.Fail}, {"chart=a,x=1,y=2", reports.Pass},
		{"chart=a,x=3,y=1", reports.Skipped}, {"chart=b,x=1,y=1", reports.Blocked}, {"chart=c,x=1,y=1", reports.Error},
	} {
		e := &reports.Case{Requirement: "SVC-01", Index: i, Name: "SVC-01/" + c.point, Settings: settings(c.point), Verdict: c.verdict, Reason: "because"}
		if c.verdict == reports.Fail {
			e.Reason, e.Findings = "", []reports.Finding{{Fingerprint: "f", Message: "m"}}
		}
		events = append(events, reports.Event{Case: e})
	}
	f := build(t, append(events, ended())).Requirements[0].Findings[0]
	g.Expect(f.When).To(Equal("y=1, whatever the rest"))
	g.Expect(f.Situation).To(Equal(reports.Situation{Axes: []reports.Shared{{Axis: "y", Values: []string{"1"}}}, Rest: "whatever the rest"}))
}

func TestLongValuesAreCutOnATerminalOnly(t *testing.T) {
	g := NewWithT(t)
	long := strings.Repeat("é", 20) + "|" + strings.Repeat("é", 18)
	events := single("SVC-01/chart="+long, reports.Finding{Fingerprint: "f", Message: "m"})
	events[2].Case.Settings = settings("chart=" + long)
	events = slices.Insert(events, 3, reports.Event{Case: &reports.Case{Requirement: "SVC-01", Index: 1, Name: "SVC-01/chart=b", Settings: settings("chart=b"), Verdict: reports.Pass}})
	r := build(t, events)
	g.Expect(r.Requirements[0].Findings[0].When).To(Equal(`chart="` + long + `"`))
	g.Expect(r.Requirements[0].Findings[0].Situation.Axes[0].Values).To(Equal([]string{long}))
	text := string(terminal(t, r, reports.View{}))
	g.Expect(text).To(ContainSubstring("when    chart=\"" + strings.Repeat("é", 20) + "|" + strings.Repeat("é", 16) + "…\" (1 case)\n"))
}

// large is the stream of a run with many cases and findings: charts with axes of
// their own, findings with many instances.
func large(cases, findings int) []reports.Event {
	const requirements = 5
	events := []reports.Event{opened()}
	cases, findings = cases/requirements, findings/requirements
	for r := range requirements {
		id := fmt.Sprintf("SVC-%02d", r)
		events = append(events, reports.Event{Requirement: &reports.Requirement{ID: id, Family: "svc", Severity: "must", Planned: cases}})
		for i := range cases {
			chart := i % 50
			c := &reports.Case{Requirement: id, Index: i, ID: fmt.Sprintf("%s#%08x", id, i), Verdict: reports.Pass, Assertions: 3}
			c.Settings = append(c.Settings, reports.Setting{Axis: "chart", Value: fmt.Sprintf("apps/chart-%d", chart)})
			for a := range 20 {
				c.Settings = append(c.Settings, reports.Setting{Axis: fmt.Sprintf("values.of.%d.axis.%d", chart, a), Value: fmt.Sprint((i/50 + i/(a+1)) % 4)})
			}
			var name []string
			for _, s := range c.Settings {
				name = append(name, s.Axis+"="+s.Value)
			}
			c.Name = id + "/" + strings.Join(name, ",")
			for f := range 4 {
				n := chart + 50*f
				if n >= findings || (i/50)%(f+2) != 0 {
					continue
				}
				c.Verdict = reports.Fail
				finding := reports.Finding{
					Fingerprint: fmt.Sprintf("%s-%d", id, n), Chart: "packages/" + c.Settings[0].Value, Object: "Service tenant/a",
					Place: fmt.Sprintf("packages/apps/templates/a.yaml:%d", n), Message: strings.Repeat("a word ", 30), Want: "another",
				}
				for k := range n % 10 {
					finding.Also = append(finding.Also, reports.Instance{Chart: finding.Chart, Object: "Secret tenant/a", Place: fmt.Sprintf("packages/b.yaml:%d", k)})
				}
				c.Findings = append(c.Findings, finding)
			}
			events = append(events, reports.Event{Case: c})
		}
	}
	return append(events, ended())
}

func BenchmarkReport(b *testing.B) {
	events := large(10_000, 500)
	for b.Loop() {
		r, err := reports.Build(events)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, q := range r.Requirements {
			n += len(q.Findings)
		}
		if n != 500 {
			b.Fatalf("%d findings", n)
		}
		if err := r.Write(b.TempDir()); err != nil {
			b.Fatal(err)
		}
		if err := r.Terminal(&strings.Builder{}, reports.View{All: true}); err != nil {
			b.Fatal(err)
		}
	}
}
