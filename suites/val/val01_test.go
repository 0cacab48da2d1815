package val_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"

	"proofplane/fixtures/platform"
	"proofplane/fixtures/tree"
	"proofplane/reports"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
	"proofplane/suites/val"
)

const (
	demoDefinition = "packages/system/demo-rd/cozyrds/demo.yaml"
	demoReadme     = "packages/apps/demo-app/README.md"
	demoSchema     = "packages/apps/demo-app/values.schema.json"
	demoValues     = "packages/apps/demo-app/values.yaml"
	demoTypes      = "api/apps/v1alpha1/demoapp/types.go"
)

const demoSchemaText = `{"title":"Chart Values","type":"object","properties":{
"replicas":{"description":"Number of replicas.","type":"integer","default":2,"minimum":1},
"mode":{"description":"How it works, told at some length, with more words than a message has room for and in order that somebody reads it to the end.","type":"string","default":"fast","enum":["fast","safe"],"x-kubernetes-validations":[{"rule":"self == oldSelf","message":"mode is immutable"}]},
"parameters":{"type":"object","default":{},"additionalProperties":{"type":"string"}},
"resources":{"type":"object","default":{},"required":["cpu"],"properties":{
"cpu":{"default":1,"anyOf":[{"type":"integer"},{"type":"string"}],"x-kubernetes-int-or-string":true}}},
"users":{"type":"array","default":[],"items":{"type":"object","properties":{"name":{"type":"string"}}}}}}
`

const demoTypesText = `package demoapp

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
)

type Config struct {
	v1.TypeMeta ` + "`json:\",inline\"`" + `
	Spec ConfigSpec ` + "`json:\"spec,omitempty\"`" + `
}

type ConfigSpec struct {
	// Number of replicas.
	// +kubebuilder:default:=2
	// +kubebuilder:validation:Minimum=1
	Replicas int ` + "`json:\"replicas\"`" + `
	// +kubebuilder:default:="fast"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="mode is immutable"
	Mode Mode ` + "`json:\"mode\"`" + `
	// +kubebuilder:default:={}
	Parameters map[string]string ` + "`json:\"parameters,omitempty\"`" + `
	// +kubebuilder:default:={}
	Resources Resources ` + "`json:\"resources,omitempty\"`" + `
	// +kubebuilder:default:={}
	Users []User ` + "`json:\"users,omitempty\"`" + `
}

type Resources struct {
	// +kubebuilder:default:=1
	Cpu resource.Quantity ` + "`json:\"cpu\"`" + `
}

type User struct {
	Name string ` + "`json:\"name,omitempty\"`" + `
}

// +kubebuilder:validation:Enum="fast";"safe"
type Mode string
`

// demo is a platform of one application whose copies agree.
func demo() map[string]string {
	return map[string]string{
		"packages/apps/demo-app/Chart.yaml": "name: demo-app\nversion: 0.0.0\n",
		demoValues:                          "_cluster: {}\nreplicas: 2\nmode: fast\nparameters: {}\nresources:\n  cpu: \"1\"\nusers: []\n",
		demoSchema:                          demoSchemaText,
		demoReadme: "# Demo\n\n## Usage\n\n| Name | Value |\n| --- | --- |\n| `elsewhere` | `1` |\n\n## Parameters\n\n### All\n\n" +
			"| Name | Description | Type | Value |\n| --- | --- | --- | --- |\n" +
			"| `replicas` | Number of replicas. | `int` | `2` |\n" +
			"| `mode` | Either a | or b. | `string` | `fast` |\n" +
			"| `parameters` | Any. | `map[string]string` | `{}` |\n" +
			"| `resources` | Resources. | `object` | `{}` |\n" +
			"| `resources.cpu` | CPU. | `quantity` | `1` |\n" +
			"| `users` | Users. | `[]object` | `[]` |\n" +
			"| `users[i].name` | Name. | `string` | `\"\"` |\n\n## Examples\n\n| Name | Value |\n| --- | --- |\n| `other` | `1` |\n",
		demoTypes: demoTypesText,
		demoDefinition: "kind: ApplicationDefinition\nmetadata: {name: demo}\nspec:\n  application:\n    kind: Demo\n    openAPISchema: |-\n      " +
			strings.ReplaceAll(strings.TrimSpace(demoSchemaText), "\n", "\n      ") +
			"\n  release: {chartRef: {kind: ExternalArtifact, name: x-demo-default-demo}}\n",
		"packages/core/platform/sources/demo.yaml": "kind: PackageSource\nmetadata: {name: x.demo}\nspec:\n  variants:\n  - name: default\n    components:\n    - {name: demo, path: apps/demo-app}\n",
	}
}

func asFS(files map[string]string) fs.FS {
	m := fstest.MapFS{}
	for p, data := range files {
		m[p] = &fstest.MapFile{Data: []byte(data)}
	}
	return m
}

// judge01 judges every case of VAL-01 in a tree.
func judge01(g *WithT, fsys fs.FS) []*reports.Case {
	profile, err := tree.LoadProfile(tree.DefaultProfile)
	g.Expect(err).NotTo(HaveOccurred())
	files, src, err := tree.OpenFS(fsys, "test")
	g.Expect(err).NotTo(HaveOccurred())
	t, err := tree.Load(files, src, profile)
	g.Expect(err).NotTo(HaveOccurred())
	env := requirement.NewEnv(t, 1)
	plan, err := runner.Plan(env, []*requirement.Requirement{val.VAL01}, runner.Filter{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plan).To(HaveLen(1))
	g.Expect(plan[0].Err).NotTo(HaveOccurred())
	var out []*reports.Case
	for _, c := range plan[0].Cases {
		out = append(out, runner.Judge(context.Background(), env, c))
	}
	return out
}

func TestVAL01CopiesThatAgree(t *testing.T) {
	g := NewWithT(t)
	var names []string
	for _, c := range judge01(g, asFS(demo())) {
		g.Expect(c.Findings).To(BeEmpty(), c.Name)
		g.Expect(c.Verdict).To(Equal(reports.Pass), c.Name+" "+c.Reason)
		g.Expect(c.Assertions).To(BeNumerically(">", 0), c.Name)
		names = append(names, c.Name)
	}
	g.Expect(names).To(Equal([]string{
		"VAL-01/chart=apps/demo-app,copy=definition", "VAL-01/chart=apps/demo-app,copy=readme",
		"VAL-01/chart=apps/demo-app,copy=defaults", "VAL-01/chart=apps/demo-app,copy=types",
	}))
}

func TestVAL01ReferencePlatform(t *testing.T) {
	g := NewWithT(t)
	fsys, err := platform.FS()
	g.Expect(err).NotTo(HaveOccurred())
	cases := judge01(g, fsys)
	g.Expect(cases).NotTo(BeEmpty())
	for _, c := range cases {
		g.Expect(c.Findings).To(BeEmpty(), c.Name)
		g.Expect(c.Verdict).To(Equal(reports.Pass), c.Name+" "+c.Reason)
	}
}

func TestVAL01CopiesThatDoNotExist(t *testing.T) {
	g := NewWithT(t)
	files := demo()
	delete(files, demoTypes)
	delete(files, demoDefinition)
	files[demoReadme] = "# Demo\n"
	cases := judge01(g, asFS(files))
	g.Expect(cases).To(HaveLen(1))
	g.Expect(cases[0].Name).To(HaveSuffix("copy=defaults"))
}

func TestVAL01CopiesThatDisagree(t *testing.T) {
	slight := []string{"definition: end of a long text", "definition: text", "readme: value is left empty"}
	for _, tc := range []struct {
		name, file, old, new string // one replacement
		copy, place, message string // of the one finding
	}{
		{"definition: value", demoDefinition, `"default":2`, `"default":3`,
			"definition", demoDefinition + ":8", "default of replicas is 2 in " + demoSchema + " and 3 in definition demo"},
		{"definition: key is missing", demoDefinition, `,"minimum":1`, ``,
			"definition", demoDefinition + ":8", "minimum of replicas is 1 in " + demoSchema + " and absent"},
		{"definition: end of a long text", demoDefinition, "in order that somebody reads it to the end.", "in order that nobody reads it to the end.",
			"definition", demoDefinition + ":9", "that nobody reads"},
		{"definition: nested", demoDefinition, `"cpu":{"default":1,`, `"cpu":{`,
			"definition", demoDefinition + ":12", "default of resources.cpu is 1"},
		{"definition: text", demoDefinition, "Number of replicas.", "Count of replicas.",
			"definition", demoDefinition + ":8", "description of replicas"},
		{"definition: not JSON", demoDefinition, `"title":"Chart Values",`, `"title":"Chart Values"`,
			"definition", demoDefinition + ":6", "is not a JSON object: invalid character"},
		{"schema: not JSON", demoSchema, `"title":"Chart Values",`, `"title":"Chart Values"`,
			"definition", demoSchema, "schema.json:1"},
		{"definition: no schema", demoDefinition, "openAPISchema", "otherSchema",
			"definition", demoDefinition + ":1", "publishes no schema"},
		{"readme: type", demoReadme, "| `map[string]string` |", "| `map[string]int` |",
			"readme", demoReadme + ":17", "parameters is of type map[string]int, the schema says map of string"},
		{"readme: value", demoReadme, "| `fast` |", "| `slow` |",
			"readme", demoReadme + ":16", `mode is slow, values.yaml says "fast"`},
		{"readme: value of a parameter is empty", demoReadme, "| `fast` |", "| `\"\"` |",
			"readme", demoReadme + ":16", `mode is "", values.yaml says "fast"`},
		{"readme: value is left empty", demoReadme, "| Name. | `string` | `\"\"` |\n\n", "| Name. | `string` | `\"\"` |\n| `users[i].size` | Size. | `quantity` | `\"\"` |\n\n",
			"readme", demoReadme + ":22", `users[i].size is "", the schema says "1Gi"`},
		{"readme: row is missing", demoReadme, "| `resources.cpu` | CPU. | `quantity` | `1` |\n", "",
			"readme", demoReadme + ":18", "the schema has resources.cpu (int-or-string), the README does not list it"},
		{"readme: row too many", demoReadme, "| `users` |", "| `users[i].age` | Age. | `int` | `0` |\n| `users` |",
			"readme", demoReadme + ":20", "the README lists users[i].age"},
		{"defaults: value", demoValues, `cpu: "1"`, `cpu: "2"`,
			"defaults", demoValues + ":6", `resources.cpu is "2" in values.yaml, its default in the schema is 1`},
		{"defaults: unlisted", demoValues, "users: []", "users: []\nextra: 1",
			"defaults", demoValues + ":8", "values.yaml sets extra"},
		{"types: type", demoTypes, "Parameters map[string]string", "Parameters map[string]int",
			"types", demoTypes + ":22", "parameters[name] is of Go type int, the schema says string"},
		{"types: field is missing", demoTypes, "\tName string `json:\"name,omitempty\"`\n", "",
			"types", demoTypes + ":34", "the schema has users[i].name"},
		{"types: field too many", demoTypes, "type User struct {\n", "type User struct {\n\tAge int `json:\"age,omitempty\"`\n",
			"types", demoTypes + ":35", "type User has users[i].age"},
		{"types: required", demoTypes, "`json:\"cpu\"`", "`json:\"cpu,omitempty\"`",
			"types", demoTypes + ":31", "the schema requires resources.cpu"},
		{"types: default", demoTypes, "default:=2", "default:=4",
			"types", demoTypes + ":15", "default of replicas is 4 in the API types and 2 in the schema"},
		{"types: limit", demoTypes, "\t// +kubebuilder:validation:Minimum=1\n", "",
			"types", demoTypes + ":16", "minimum of replicas is none in the API types and 1"},
		{"types: enumeration", demoTypes, `"fast";"safe"`, `"fast";"sure"`,
			"types", demoTypes + ":38", `enum of mode is "fast";"sure"`},
		{"types: rule", demoTypes, "\t// +kubebuilder:validation:XValidation:rule=\"self == oldSelf\",message=\"mode is immutable\"\n", "",
			"types", demoTypes + ":19", "x-kubernetes-validations of mode is none"},
		{"types: not Go", demoTypes, "type User struct {", "type User struct",
			"types", demoTypes + ":35", "are not Go"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			files := demo()
			g.Expect(files[tc.file]).To(ContainSubstring(tc.old))
			files[tc.file] = strings.Replace(files[tc.file], tc.old, tc.new, 1)
			if tc.name == "readme: value is left empty" {
				files[demoSchema] = strings.Replace(files[demoSchema], `"name":{"type":"string"}`, `"name":{"type":"string"},"size":{"type":"string","default":"1Gi"}`, 1)
				files[demoReadme] = strings.Replace(files[demoReadme], "`quantity` | `\"\"`", "`string` | `\"\"`", 1)
			}
			for _, c := range judge01(g, asFS(files)) {
				if !strings.HasSuffix(c.Name, "copy="+tc.copy) {
					// What the replaced file is also a source of is not judged here.
					continue
				}
				g.Expect(c.Verdict).To(Equal(reports.Fail))
				g.Expect(c.Findings).To(HaveLen(1))
				f := c.Findings[0]
				g.Expect(f.Place).To(HavePrefix(tc.place))
				g.Expect(strings.TrimPrefix(f.Place, tc.place)).To(Or(BeEmpty(), HavePrefix(":")))
				g.Expect(f.Message).To(ContainSubstring(tc.message))
				g.Expect(f.Want).NotTo(BeEmpty())
				want := "must"
				if slices.Contains(slight, tc.name) {
					want = "should"
				}
				g.Expect(f.Severity).To(Equal(want))
				return
			}
			t.Fatalf("no case judges copy %s", tc.copy)
		})
	}
}

func TestVAL01SaysNothingTwice(t *testing.T) {
	g := NewWithT(t)
	files := demo()
	files[demoDefinition] = strings.NewReplacer("Chart Values", " Chart  Values", `"default":2,"minimum":1`, `"minimum":1,"default":2`).Replace(files[demoDefinition])
	files[demoReadme] = strings.NewReplacer("`users`", "`people`", "`users[i].name`", "`people[i].name`").Replace(files[demoReadme])
	for _, c := range judge01(g, asFS(files)) {
		if !strings.HasSuffix(c.Name, "copy=readme") {
			g.Expect(c.Verdict).To(Equal(reports.Pass), c.Name)
			continue
		}
		// One finding, whatever the number of properties and rows.
		g.Expect(c.Findings).To(HaveLen(1))
		f := c.Findings[0]
		g.Expect(f.Object).To(Equal("people"))
		g.Expect(f.Message).To(Equal("the README lists people, the schema does not have it, and 3 more differences (people, users): its readers are told what does not hold"))
		g.Expect(f.Also).To(Equal([]reports.Instance{{Chart: "packages/apps/demo-app", Object: "users", Place: demoReadme + ":9"}}))
	}
}
