package pkg

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

// judged03 judges PKG-03 on a tree and returns its cases by name.
func judged03(t *testing.T, fsys fs.FS) map[string]*reports.Case {
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
	plan, err := runner.Plan(env, []*requirement.Requirement{PKG03}, runner.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*reports.Case{}
	for _, c := range plan[0].Cases {
		e := runner.Judge(context.Background(), env, c)
		out[strings.TrimPrefix(e.Name, "PKG-03/")] = e
	}
	return out
}

const widgetCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
`

// packages03 is a tree with a package that defines a kind in each of the two
// ways that Helm knows, and one that uses both, in two variants.
func packages03(change map[string]string) fs.FS {
	files := map[string]string{
		"packages/system/maker/Chart.yaml":              "apiVersion: v2\nname: maker\nversion: 0.0.0\n",
		"packages/system/maker/crds/widgets.yaml":       widgetCRD,
		"packages/system/maker/templates/gadgets.yaml":  strings.NewReplacer("widgets", "gadgets", "Widget", "Gadget").Replace(widgetCRD),
		"packages/system/user/Chart.yaml":               "apiVersion: v2\nname: user\nversion: 0.0.0\n",
		"packages/system/user/templates/widget.yaml":    "apiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a}\n---\napiVersion: example.org/v1\nkind: Gadget\nmetadata: {name: a}\n",
		"packages/system/user/templates/runtime.yaml":   "apiVersion: elsewhere.example.org/v1\nkind: Unknown\nmetadata: {name: a}\n",
		"packages/core/platform/sources/maker.yaml":     source03("maker", "  - name: default\n    components:\n    - {name: maker, path: system/maker, install: {namespace: cozy-maker}}\n"),
		"packages/core/platform/sources/middle.yaml":    source03("middle", "  - name: default\n    dependsOn: [maker]\n    components: []\n"),
		"packages/core/platform/sources/user.yaml":      source03("user", "  - name: one\n    dependsOn: [middle]\n    components:\n    - {name: user, path: system/user, install: {}}\n  - name: two\n    dependsOn: [maker]\n    components:\n    - {name: user, path: system/user, install: {}}\n"),
		"packages/core/platform/sources/unrelated.yaml": source03("unrelated", "  - name: default\n    components:\n    - {name: user, path: system/user}\n"),
	}
	for name, text := range change {
		files[name] = text
	}
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func source03(name, variants string) string {
	return "apiVersion: cozystack.io/v1alpha1\nkind: PackageSource\nmetadata: {name: " + name + "}\nspec:\n  variants:\n" + variants
}

func TestPKG03Holds(t *testing.T) {
	cases := judged03(t, packages03(nil))
	for name, want := range map[string]reports.Verdict{
		"chart=user,variant=one":      reports.Pass,
		"chart=user,variant=two":      reports.Pass,
		"chart=maker,variant=default": reports.Skipped, // renders definitions, which are Kubernetes' own kind
	} {
		if c := cases[name]; c == nil || c.Verdict != want {
			t.Errorf("%s: %+v, want %s", name, c, want)
		}
	}
	if len(cases) != 3 {
		t.Errorf("%d cases: a package that installs nothing has none", len(cases))
	}
}

func TestPKG03MissingEdge(t *testing.T) {
	cases := judged03(t, packages03(map[string]string{
		"packages/core/platform/sources/middle.yaml": source03("middle", "  - name: default\n    components: []\n"),
	}))
	if c := cases["chart=user,variant=two"]; c.Verdict != reports.Pass {
		t.Errorf("the variant that names the provider: %+v", c)
	}
	c := cases["chart=user,variant=one"]
	if c.Verdict != reports.Fail || len(c.Findings) != 1 {
		t.Fatalf("the variant without an edge, want one finding for both kinds: %+v", c)
	}
	if f := c.Findings[0]; f.Place != "packages/core/platform/sources/user.yaml:6" || !strings.Contains(f.Message, "maker defines that kind") {
		t.Errorf("finding: %+v", f)
	}
}

// What is guarded, made by the chart itself, or there before all packages needs
// no edge.
func TestPKG03NeedsNoEdge(t *testing.T) {
	noEdge := source03("middle", "  - name: default\n    components: []\n")
	for name, change := range map[string]map[string]string{
		"guarded": {
			"packages/system/user/templates/widget.yaml": "{{- if .Capabilities.APIVersions.Has \"example.org/v1/Widget\" }}\napiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a}\n{{- end }}\n",
		},
		"own": {
			"packages/system/user/crds/widgets.yaml": widgetCRD,
			"packages/system/user/crds/gadgets.yaml": strings.NewReplacer("widgets", "gadgets", "Widget", "Gadget").Replace(widgetCRD),
		},
		"before all packages": {
			"packages/core/installer/Chart.yaml":        "apiVersion: v2\nname: installer\nversion: 0.0.0\n",
			"packages/core/installer/crds/widgets.yaml": widgetCRD,
			"packages/core/installer/crds/gadgets.yaml": strings.NewReplacer("widgets", "gadgets", "Widget", "Gadget").Replace(widgetCRD),
		},
	} {
		change["packages/core/platform/sources/middle.yaml"] = noEdge
		if c := judged03(t, packages03(change))["chart=user,variant=one"]; c.Verdict == reports.Fail {
			t.Errorf("%s: %+v", name, c.Findings)
		}
	}
}

func TestPKG03ReferencePlatform(t *testing.T) {
	fsys, err := platform.FS()
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for name, c := range judged03(t, fsys) {
		switch c.Verdict {
		case reports.Pass:
			passed++
		case reports.Skipped:
		default:
			t.Errorf("%s: %s %s %+v", name, c.Verdict, c.Reason, c.Findings)
		}
	}
	if passed == 0 {
		t.Error("no case passed")
	}
}

// The chart of a published application counts too, and where the provider needs
// the publisher no edge is asked for.
func TestPKG03Published(t *testing.T) {
	published := map[string]string{
		"packages/apps/app/Chart.yaml":                   "apiVersion: v2\nname: app\nversion: 0.0.0\n",
		"packages/apps/app/values.yaml":                  "more: false\n",
		"packages/apps/app/values.schema.json":           `{"type":"object","properties":{"more":{"type":"boolean","default":false}}}`,
		"packages/apps/app/templates/widget.yaml":        "{{- if .Values.more }}\napiVersion: example.org/v1\nkind: Widget\nmetadata: {name: a}\n{{- end }}\n",
		"packages/system/app-rd/Chart.yaml":              "apiVersion: v2\nname: app-rd\nversion: 0.0.0\n",
		"packages/system/app-rd/cozyrds/app.yaml":        "kind: ApplicationDefinition\nmetadata: {name: app}\nspec:\n  application: {kind: App}\n  release: {prefix: app-, chartRef: {kind: ExternalArtifact, name: app-default-app}}\n",
		"packages/core/platform/Chart.yaml":              "apiVersion: v2\nname: platform\nversion: 0.0.0\n",
		"packages/core/platform/values-a.yaml":           "maker: true\n",
		"packages/core/platform/values-b.yaml":           "maker: true\n",
		"packages/core/platform/templates/packages.yaml": "{{- range $n := ternary (list \"app\" \"maker\") (list \"app\") .Values.maker }}\n---\napiVersion: cozystack.io/v1alpha1\nkind: Package\nmetadata: {name: {{ $n }}}\n{{- end }}\n",
	}
	const source = "packages/core/platform/sources/app.yaml"
	app := func(needs string) string {
		return source03("app", "  - name: default\n    dependsOn: ["+needs+"]\n    components:\n    - {name: app, path: apps/app}\n    - {name: app-rd, path: system/app-rd, install: {}}\n")
	}
	for name, tt := range map[string]struct {
		change         map[string]string
		severity, want string // "" where the case passes
	}{
		"with the edge":           {map[string]string{source: app("maker")}, "", ""},
		"every preset emits both": {map[string]string{source: app("")}, "should", "dependsOn: maker"},
		"one preset has it not":   {map[string]string{source: app(""), "packages/core/platform/values-b.yaml": "maker: false\n"}, "must", "maker emitted too"},
		"an edge makes a circle": {map[string]string{source: app(""), "packages/core/platform/sources/maker.yaml": source03("maker",
			"  - name: default\n    dependsOn: [app]\n    components:\n    - {name: maker, path: system/maker, install: {namespace: cozy-maker}}\n")}, "should", "does not depend on app"},
	} {
		files := map[string]string{}
		for _, m := range []map[string]string{published, tt.change} {
			for f, text := range m {
				files[f] = text
			}
		}
		c := judged03(t, packages03(files))["chart=app,variant=default"]
		switch {
		case c == nil:
			t.Fatalf("%s: a package that publishes an application has no case", name)
		case tt.want == "":
			if c.Verdict != reports.Pass {
				t.Errorf("%s: %s %s %+v", name, c.Verdict, c.Reason, c.Findings)
			}
		case len(c.Findings) != 1 || c.Findings[0].Severity != tt.severity || !strings.Contains(c.Findings[0].Want, tt.want):
			t.Errorf("%s: %s %s %+v, want %s %q", name, c.Verdict, c.Reason, c.Findings, tt.severity, tt.want)
		}
	}
}
