package requirement

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"proofplane/fixtures/tree"
	"proofplane/suites/matrix"
)

// lookingTree has a chart that looks up, in this order: what it makes itself,
// what another chart makes, a list, two Secrets that nothing makes, of which it
// reads a key and not, a kind of the tree, a kind of nowhere, its own namespace,
// and an example entry's Secret.
func lookingTree(t *testing.T) *Env {
	t.Helper()
	chart := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("apiVersion: v2\nname: " + name + "\nversion: 0.0.0\n")}
	}
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: notices.example.org}\nspec:\n  group: example.org\n  scope: Namespaced\n  names:\n    kind: Notice\n    plural: notices\n" +
		"  versions:\n  - name: v1\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec: {type: object, required: [size], properties: {size: {type: integer, minimum: 3}, note: {type: string}}}\n"
	files, src, err := tree.OpenFS(fstest.MapFS{
		"packages/apps/web/Chart.yaml":                     chart("web"),
		"packages/apps/web/values.yaml":                    file("on: false\nusers: {}\n"),
		"packages/apps/web/values.schema.json":             file(`{"type":"object","properties":{"on":{"type":"boolean","default":false},"users":{"type":"object","additionalProperties":{"type":"object","properties":{"admin":{"type":"boolean"}}}}}}`),
		"packages/apps/web/templates/own.yaml":             file("{{- $old := lookup \"v1\" \"Secret\" .Release.Namespace \"own\" }}\napiVersion: v1\nkind: Secret\nmetadata: {name: own}\ndata: {found: {{ dig \"data\" \"found\" \"none\" $old | quote }}, upgrade: {{ .Release.IsUpgrade | quote }}}\n"),
		"packages/apps/web/templates/others.yaml":          file("{{- $x := lookup \"v1\" \"ConfigMap\" .Release.Namespace \"others\" }}{{ $all := lookup \"v1\" \"ConfigMap\" .Release.Namespace \"\" }}"),
		"packages/apps/web/templates/key.yaml":             file("{{- $s := lookup \"v1\" \"Secret\" .Release.Namespace \"key\" }}{{ if $s }}{{ $_ := $s.data.password }}{{ end }}"),
		"packages/apps/web/templates/any.yaml":             file("{{- range $k, $v := (lookup \"v1\" \"Secret\" .Release.Namespace \"any\").data }}{{ $_ := $k }}{{ end }}"),
		"packages/apps/web/templates/custom.yaml":          file("{{- $n := lookup \"example.org/v1\" \"Notice\" .Release.Namespace \"n\" }}{{ $m := lookup \"nowhere.org/v1\" \"Thing\" .Release.Namespace \"m\" }}{{ $ns := lookup \"v1\" \"Namespace\" \"\" .Release.Namespace }}"),
		"packages/apps/web/templates/users.yaml":           file("{{- range $u, $_ := .Values.users }}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: user-{{ $u }}}\ndata: {password: {{ dig \"data\" \"password\" \"bmV3\" (lookup \"v1\" \"Secret\" $.Release.Namespace (printf \"user-%s\" $u)) | quote }}}\n{{- end }}"),
		"packages/apps/peer/Chart.yaml":                    chart("peer"),
		"packages/apps/peer/templates/cm.yaml":             file("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: others}\ndata: {a: b}\n"),
		"packages/system/kinds/Chart.yaml":                 chart("kinds"),
		"packages/system/kinds/templates/crd.yaml":         file(crd),
		"packages/apps/plain/Chart.yaml":                   chart("plain"),
		"packages/apps/plain/templates/configuration.yaml": file("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n"),
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := tree.LoadProfile(tree.DefaultProfile)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tree.Load(files, src, profile)
	if err != nil {
		t.Fatal(err)
	}
	return NewEnv(loaded, 1)
}

func TestLookupsAreAxes(t *testing.T) {
	e := lookingTree(t)
	web := e.Tree.Chart("packages/apps/web")
	var got []string
	for _, l := range e.Lookups(web) {
		got = append(got, fmt.Sprintf("%s own=%t found=%d", l.Axis().Name, l.Own, len(l.Found)))
	}
	want := []string{
		"lookup.ConfigMap.* own=false found=2", // of both other charts
		"lookup.ConfigMap.others own=false found=1",
		"lookup.Secret.any own=false found=1",
		"lookup.Secret.own own=true found=1",
		"lookup.Notice.n own=false found=1",
		"lookup.Secret.user-demo own=true found=1",
		"lookup.Secret.user-demo2 own=true found=1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("lookups:\n%q\nwant\n%q", got, want)
	}
	axes := map[string][]string{}
	for _, a := range e.Sweep(web).Axes {
		axes[a.Name] = a.Values
	}
	if !slices.Equal(axes["lookup.Secret.own"], []string{Absent, Present}) || !slices.Equal(axes[EntriesAxis], []string{Empty, Some}) {
		t.Errorf("axes %v", axes)
	}
	if got := e.Lookups(e.Tree.Chart("packages/apps/plain")); got != nil {
		t.Errorf("a chart that looks nothing up has lookups %v", got)
	}
	points, err := e.Sweep(web).Points()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		if p.Get(APIsAxis) == noAPIs && p.Get("lookup.Notice.n") == Present {
			t.Errorf("%s has an object of a kind that is not served", p)
		}
	}
}

func TestLookupsFindWhatIsPresent(t *testing.T) {
	e := lookingTree(t)
	web := e.Tree.Chart("packages/apps/web")
	own := func(p ...matrix.Setting) map[string]any {
		for _, o := range e.Engine.Render(e.SweepInput(web, p)).Objects {
			if o.GetName() == "own" {
				return Map(o.Object, "data")
			}
		}
		t.Fatalf("%v: own is not rendered", p)
		return nil
	}
	if got := own(); got["found"] != "none" || got["upgrade"] != "false" {
		t.Errorf("absent: %v", got)
	}
	if got := own(matrix.Setting{Axis: "lookup.Secret.own", Value: Present}); got["found"] != "none" || got["upgrade"] != "true" {
		// What an earlier render made holds what it found: nothing.
		t.Errorf("present: %v", got)
	}
	in := e.SweepInput(web, matrix.Point{{Axis: "lookup.Notice.n", Value: Present}, {Axis: EntriesAxis, Value: Some}})
	for _, l := range e.Lookups(web) {
		if l.Kind != "Notice" {
			continue
		}
		o := in.State.Get(l.Key)
		if o == nil || Field(o.Object, "spec", "size") != float64(3) || Field(o.Object, "spec", "note") != "demo" || o.Object["status"] != nil {
			t.Errorf("the Notice is %v", o)
		}
	}
	users := 0
	for _, o := range e.Engine.Render(in).Objects {
		if _, ok := Map(o.Object, "data")["password"]; ok {
			users++
		}
	}
	if users != 2 {
		t.Errorf("%d users with entries, want 2", users)
	}
}
