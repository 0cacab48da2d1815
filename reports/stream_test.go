package reports_test

import (
	"fmt"
	"strings"
	"time"

	"proofplane/reports"
)

var started = time.Date(2026, 3, 14, 9, 26, 53, 589793238, time.UTC)

// settings reads "chart=a,x=1".
func settings(text string) []reports.Setting {
	var out []reports.Setting
	for s := range strings.SplitSeq(text, ",") {
		axis, value, _ := strings.Cut(s, "=")
		out = append(out, reports.Setting{Axis: axis, Value: value})
	}
	return out
}

func points(texts ...string) [][]reports.Setting {
	var out [][]reports.Setting
	for _, t := range texts {
		out = append(out, settings(t))
	}
	return out
}

func opened() reports.Event {
	return reports.Event{Run: &reports.Run{Format: reports.Format, Tool: "proofplane test", Command: "proofplane run", Started: started}}
}

func ended() reports.Event {
	return reports.Event{End: &reports.End{Finished: started.Add(time.Minute)}}
}

// small is a whole stream with a requirement of each severity named, and one
// case for each of its verdicts.
func small(requirements map[string][]reports.Verdict) []reports.Event {
	events := []reports.Event{opened()}
	for severity, verdicts := range requirements {
		id := strings.ToUpper(severity) + "-01"
		events = append(events, reports.Event{Requirement: &reports.Requirement{ID: id, Severity: severity, Planned: len(verdicts)}})
		for i, v := range verdicts {
			c := &reports.Case{Requirement: id, Index: i, Name: fmt.Sprintf("%s/chart=a,n=%d", id, i), Verdict: v, Settings: settings(fmt.Sprintf("chart=a,n=%d", i))}
			switch v {
			case reports.Fail:
				c.Findings = []reports.Finding{{Fingerprint: "f", Message: "wrong"}}
			case reports.Error, reports.Blocked, reports.Skipped:
				c.Reason = "because"
			}
			events = append(events, reports.Event{Case: c})
		}
	}
	return append(events, ended())
}

// single is a stream with one failing case.
func single(name string, f reports.Finding) []reports.Event {
	return []reports.Event{
		opened(),
		{Requirement: &reports.Requirement{ID: "SVC-01", Family: "svc", Statement: "it holds", Severity: "must", Planned: 1}},
		{Case: &reports.Case{Requirement: "SVC-01", Name: name, Settings: settings("chart=a"), Verdict: reports.Fail, Assertions: 1, Findings: []reports.Finding{f}}},
		ended(),
	}
}

// rich is the stream of the golden files.
func rich() []reports.Event {
	events := []reports.Event{{Run: &reports.Run{
		Format: reports.Format,
		Tool:   "proofplane 1.2.3",
		Subject: reports.Subject{
			Tree: "/src/platform", Revision: "9cb4f2922d1e0c7fb2a1c53c5d0e3a4b5c6d7e8f", Asked: "main",
			Digest: "sha256:0123abcd", Charts: 3,
			Problems: []reports.Problem{
				{Place: "packages/apps/broken/Chart.yaml:3", Message: "not YAML: mapping values\nare not allowed here"},
				{Place: "packages/apps/odd/values.yaml", Message: "no <schema> next to it"},
			},
		},
		Platform: "cozystack", Seed: 7, Tiers: []string{"render"}, Filters: []string{"--family", "svc|val"},
		Components: []reports.Component{
			{Name: "Helm engine", Real: true, Version: "v3.18.0"},
			{Name: "cluster", Note: "a state | not a server"},
		},
		Command: "proofplane run --tree /src/platform", Started: started,
	}}}
	ns := int64(0)
	requirement := func(r reports.Requirement) {
		r.Family = strings.ToLower(r.ID[:3])
		r.Tiers = []string{"render"}
		events = append(events, reports.Event{Requirement: &r})
	}
	index := 0
	judged := func(id, point string, v reports.Verdict, reason string, fs ...reports.Finding) {
		ns += 1_000_000
		events = append(events, reports.Event{Case: &reports.Case{
			Requirement: id, Index: index, Name: id + "/" + point, ID: fmt.Sprintf("%s#%08x", id, index), Tier: "render", Settings: settings(point),
			Verdict: v, Reason: reason, Assertions: 2, Findings: fs, Nanoseconds: ns,
		}})
		index++
	}

	requirement(reports.Requirement{ID: "SVC-02", Statement: "a database | its service select the same pods", Severity: "must", Origin: "docs/services.md", Fix: "share the labels", Planned: 9})
	labels := reports.Finding{
		Fingerprint: "00000000000000a1", Chart: "packages/apps/kubernetes", Object: "Service tenant/api", Place: "packages/apps/kubernetes/templates/api.yaml:12",
		Through: "packages/library/lib/templates/_selector.tpl:3",
		Also:    []reports.Instance{{Chart: "packages/apps/kubernetes", Object: "Service tenant/etcd", Place: "packages/apps/kubernetes/templates/etcd.yaml:4"}, {Chart: "packages/apps/tenant"}},
		Message: "the selector app=api\nselects no pod of *this* release", Want: "a selector that is\na subset of the pod's labels",
	}
	port := reports.Finding{
		Fingerprint: "00000000000000a2", Chart: "packages/apps/redis", Place: "packages/apps/redis/templates/service.yaml:7",
		Message: "port `redis` is not a port of the container", Want: "6379",
	}
	for _, etcd := range []string{"none", "own", "shared"} {
		for _, size := range []string{"s", "m"} {
			point := "chart=apps/kubernetes,etcd=" + etcd + ",size=" + size
			if etcd == "none" {
				judged("SVC-02", point, reports.Fail, "", labels)
			} else {
				judged("SVC-02", point, reports.Pass, "")
			}
		}
	}
	judged("SVC-02", "chart=apps/redis,replicas=1", reports.Fail, "", port)
	judged("SVC-02", "chart=apps/redis,replicas=2", reports.Fail, "", port)
	judged("SVC-02", "chart=apps/redis,replicas=3", reports.Pass, "")

	index = 0
	requirement(reports.Requirement{ID: "PKG-01", Statement: "a package says its version", Severity: "should", Origin: "docs/packages.md", Fix: "set appVersion", Planned: 2})
	judged("PKG-01", "chart=apps/redis", reports.Fail, "", reports.Finding{
		Fingerprint: "00000000000000b1", Chart: "packages/apps/redis", Message: "appVersion is empty",
	})
	judged("PKG-01", "chart=apps/kubernetes", reports.Pass, "")

	requirement(reports.Requirement{ID: "RBC-01", Statement: "no role grants everything", Severity: "must", Planned: 1})
	events = append(events, reports.Event{Case: &reports.Case{
		Requirement: "RBC-01", Name: "RBC-01", Tier: "render", Verdict: reports.Skipped, Reason: "the tree has no role",
	}})

	index = 0
	requirement(reports.Requirement{ID: "VAL-03", Statement: "defaults satisfy the schema", Severity: "must", Planned: 4})
	judged("VAL-03", "chart=apps/kubernetes,values=default", reports.Error, "template: api.yaml:3:\n  nil pointer <nil>")
	judged("VAL-03", "chart=apps/kubernetes,values=full", reports.Error, "template: api.yaml:3:\n  nil pointer <nil>")
	judged("VAL-03", "chart=apps/redis,values=default", reports.Blocked, "the schema of apps/odd is missing")
	judged("VAL-03", "chart=apps/redis,values=full", reports.Pass, "")
	return append(events, ended())
}
