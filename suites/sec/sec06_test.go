package sec

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"proofplane/fixtures/platform"
	"proofplane/fixtures/tree"
	"proofplane/reports"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
)

// judged06 judges SEC-06 on a tree: its findings, each once, and how many
// cases passed.
func judged06(t *testing.T, fsys fs.FS) (findings []string, passed int) {
	t.Helper()
	profile, err := tree.LoadProfile(tree.DefaultProfile)
	if err != nil {
		t.Fatal(err)
	}
	files, src, err := tree.OpenFS(fsys, "test")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := tree.Load(files, src, profile)
	if err != nil {
		t.Fatal(err)
	}
	env := requirement.NewEnv(tr, 1)
	plan, err := runner.Plan(env, []*requirement.Requirement{SEC06}, runner.Filter{})
	if err != nil || plan[0].Err != nil {
		t.Fatal(err, plan[0].Err)
	}
	seen := map[string]bool{}
	for _, c := range plan[0].Cases {
		out := runner.Judge(context.Background(), env, c)
		if out.Verdict == reports.Pass {
			passed++
		} else if out.Verdict != reports.Fail {
			t.Fatalf("%s: %s %s", out.Name, out.Verdict, out.Reason)
		}
		for _, f := range out.Findings {
			if !seen[f.Fingerprint] {
				findings = append(findings, f.Place+" "+f.Message)
			}
			seen[f.Fingerprint] = true
		}
	}
	return findings, passed
}

func TestSEC06Reference(t *testing.T) {
	fsys, err := platform.FS()
	if err != nil {
		t.Fatal(err)
	}
	if findings, passed := judged06(t, fsys); len(findings) > 0 || passed < 10 {
		t.Errorf("%d passed, findings %v", passed, findings)
	}
}

const roles06 = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "cozy:tenant:admin", labels: {rbac.cozystack.io/aggregate-to-tenant-super-admin: "true"}}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {rbac.cozystack.io/aggregate-to-tenant-admin: "true"}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "cozy:tenant:super-admin"}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {rbac.cozystack.io/aggregate-to-tenant-super-admin: "true"}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: admin-base, labels: {rbac.cozystack.io/aggregate-to-tenant-admin: "true"}}
rules:
- apiGroups: [apps.cozystack.io]
  resources: [redises, queues/status, queues]
  verbs: [create, update, patch, delete]
- apiGroups: [core.cozystack.io]
  resources: [tenantmodules]
  verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: super-base, labels: {rbac.cozystack.io/aggregate-to-tenant-super-admin: "true"}}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
`

func TestSEC06(t *testing.T) {
	definition := func(kind, plural, chart string) string {
		return "kind: ApplicationDefinition\nmetadata: {name: " + chart + "}\nspec:\n  application: {kind: " + kind + ", plural: " + plural + "}\n  release: {chart: {name: " + chart + "}}\n"
	}
	good := map[string]string{
		"packages/apps/redis/Chart.yaml":                 "name: redis\nversion: 0.0.0\n",
		"packages/apps/queue/Chart.yaml":                 "name: queue\nversion: 0.0.0\n",
		"packages/apps/tenant/Chart.yaml":                "name: tenant\nversion: 0.0.0\n",
		"packages/extra/etcd/Chart.yaml":                 "name: etcd\nversion: 0.0.0\n",
		"packages/system/basics/Chart.yaml":              "name: basics\nversion: 0.0.0\n",
		"packages/system/basics/templates/roles.yaml":    roles06,
		"packages/system/definitions/cozyrds/redis.yaml": definition("Redis", "redises", "redis"),
		"packages/system/definitions/cozyrds/queue.yaml": definition("Queue", "queues", "queue"),
		"packages/system/definitions/cozyrds/t.yaml":     definition("Tenant", "tenants", "tenant"),
		"packages/system/definitions/cozyrds/etcd.yaml":  definition("Etcd", "etcds", "etcd") + "  dashboard: {module: true}\n",
	}
	for name, tt := range map[string]struct{ old, new, want string }{
		"all agree":                        {},
		"kind that admins lack":            {"[redises, queues/status, queues]", "[redises]", "level admin may not create, update, patch or delete queues.apps.cozystack.io"},
		"subresource is no right":          {"[redises, queues/status, queues]", "[redises, queues/status]", "level admin may not create, update, patch or delete queues"},
		"verb that admins lack":            {"[create, update, patch, delete]", "[create, update, patch]", "level admin may not delete"},
		"names narrow a rule":              {"verbs: [create, update, patch, delete]", "resourceNames: [a]\n  verbs: [create, update, patch, delete]", "level admin may not create"},
		"null names narrow nothing":        {"verbs: [create, update, patch, delete]", "resourceNames: null\n  verbs: [create, update, patch, delete]", ""},
		"no names narrow nothing":          {"verbs: [create, update, patch, delete]", "resourceNames: []\n  verbs: [create, update, patch, delete]", ""},
		"a null name is a name":            {"verbs: [create, update, patch, delete]", "resourceNames: [null]\n  verbs: [create, update, patch, delete]", "level admin may not create"},
		"kinds that are gone":              {"queues]", "queues, foos, bars]", "names foos.apps.cozystack.io and bars.apps.cozystack.io, which nothing publishes"},
		"kind that is gone":                {"queues]", "queues, foos]", "ClusterRole admin-base names foos.apps.cozystack.io"},
		"resource the API never had":       {"[tenantmodules]", "[tenantmodule]", "names tenantmodule.core.cozystack.io"},
		"modules are for the highest only": {`[{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`, `[{apiGroups: [apps.cozystack.io], resources: [tenants], verbs: ["*"]}]`, "level super-admin may not create, update, patch or delete etcds"},
		"aggregation that misses":          {"aggregate-to-tenant-super-admin: \"true\"}}\naggregationRule", "other: \"true\"}}\naggregationRule", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := fstest.MapFS{}
			for p, data := range good {
				if tt.old != "" && strings.HasSuffix(p, "roles.yaml") {
					if !strings.Contains(data, tt.old) {
						t.Fatalf("%s does not hold %q", p, tt.old)
					}
					data = strings.Replace(data, tt.old, tt.new, 1)
				}
				m[p] = &fstest.MapFile{Data: []byte(data)}
			}
			findings, passed := judged06(t, m)
			switch {
			case tt.want == "":
				if len(findings) > 0 || passed != 7 {
					t.Errorf("%d passed, findings %v", passed, findings)
				}
			case len(findings) == 0 || !strings.Contains(strings.Join(findings, "\n"), tt.want):
				t.Errorf("findings %q, want one with %q", findings, tt.want)
			}
		})
	}
}
