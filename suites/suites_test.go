// Package suites_test holds the catalogue as Ginkgo specs, for those who judge
// a platform from their own Go tooling:
//
//	go test ./suites                                    the reference platform
//	PROOFPLANE_TREE=/src/platform go test ./suites      a checkout
//	PROOFPLANE_TREE=… PROOFPLANE_REV=v1.3.0 go test ./suites
//	go test ./suites -ginkgo.label-filter='svc && must'
//	go test ./suites -ginkgo.focus='SVC-02.*redis' -ginkgo.v
//
// Labels are the family, the tiers and the severity of a requirement.
package suites_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"proofplane/fixtures/platform"
	"proofplane/fixtures/tree"
	"proofplane/reports"
	"proofplane/suites"
	"proofplane/suites/requirement"
	"proofplane/suites/runner"
)

// Variables of the environment that name a tree, and a git revision of it.
const (
	treeVariable = "PROOFPLANE_TREE"
	revVariable  = "PROOFPLANE_REV"
)

// load returns the tree that the environment names, else the reference
// platform.
func load() (*requirement.Env, error) {
	var files *tree.Files
	var src tree.Source
	var err error
	switch dir, rev := os.Getenv(treeVariable), os.Getenv(revVariable); {
	case dir == "" && rev != "":
		return nil, fmt.Errorf("%s needs %s: it names a revision of that repository", revVariable, treeVariable)
	case dir != "" && !filepath.IsAbs(dir):
		return nil, fmt.Errorf("%s=%s: use an absolute path, tests run in the folder of their package", treeVariable, dir)
	case dir == "":
		fsys, ferr := platform.FS()
		if ferr != nil {
			return nil, ferr
		}
		files, src, err = tree.OpenFS(fsys, "reference platform")
	case rev != "":
		files, src, err = tree.OpenRevision(dir, rev)
	default:
		files, src, err = tree.OpenDir(dir)
	}
	if err != nil {
		return nil, err
	}
	profile, err := tree.LoadProfile(tree.DefaultProfile)
	if err != nil {
		return nil, err
	}
	t, err := tree.Load(files, src, profile)
	if err != nil {
		return nil, err
	}
	return requirement.NewEnv(t, 1), nil
}

// TestConformance judges every case as a spec of its own.
func TestConformance(t *testing.T) {
	env, err := load()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := runner.Plan(env, suites.Catalog(), runner.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	specs(env, plan)
	RegisterFailHandler(Fail)
	RunSpecs(t, "conformance of "+env.Tree.Source.Name)
}

// specs describes the plan to Ginkgo.
func specs(env *requirement.Env, plan []*runner.Planned) {
	Describe("the tree", func() {
		It("can be read", func() {
			Expect(env.Tree.Problems).To(BeEmpty())
		})
	})
	for _, p := range plan {
		labels := Label(p.Family(), string(p.Severity))
		for _, tier := range p.Tiers {
			labels = append(labels, string(tier))
		}
		Describe(p.ID+" "+p.Statement, labels, func() {
			switch {
			case p.Err != nil:
				It("can be planned", func() { Fail(p.Err.Error()) })
			case len(p.Cases) == 0:
				It("has something to judge", func() { Skip(p.Skip) })
			}
			for _, c := range p.Cases {
				It(strings.TrimPrefix(c.Name(), p.ID+"/"), func(ctx SpecContext) {
					got := runner.Judge(ctx, env, c)
					switch got.Verdict {
					case reports.Skipped:
						Skip(got.Reason)
					case reports.Error, reports.Blocked:
						Fail(fmt.Sprintf("%s: %s", got.Verdict, got.Reason))
					}
					if got.Verdict == reports.Fail && !got.Breaks(string(p.Severity)) {
						AddReportEntry("should", describe(got))
						return
					}
					Expect(got.Findings).To(BeEmpty(), describe(got))
					Expect(got.Verdict).To(Equal(reports.Pass))
					Expect(got.Assertions).To(BeNumerically(">", 0))
				})
			}
		})
	}
}

// describe is what a failed case found, as text.
func describe(c *reports.Case) string {
	var b strings.Builder
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "%s: %s\n", f.Place, f.Message)
		if f.Object != "" {
			fmt.Fprintf(&b, "  object  %s\n", f.Object)
		}
		if f.Want != "" {
			fmt.Fprintf(&b, "  wanted  %s\n", f.Want)
		}
	}
	return b.String()
}

var idForm = regexp.MustCompile(`^[A-Z]{3,4}-[0-9]{2}$`)

func TestCatalogIsSane(t *testing.T) {
	all := suites.Catalog()
	if len(all) == 0 {
		t.Fatal("the catalogue is empty")
	}
	last := ""
	for _, r := range all {
		if !idForm.MatchString(r.ID) {
			t.Errorf("id %q is not of the form %s", r.ID, idForm)
		}
		if r.ID <= last {
			t.Errorf("%s comes after %s: ids are unique and in order", r.ID, last)
		}
		last = r.ID
		for name, text := range map[string]string{"Statement": r.Statement, "Origin": r.Origin, "Axes": r.Axes, "How": r.How, "Fix": r.Fix} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: %s is empty", r.ID, name)
			}
			if text != strings.TrimSpace(text) || strings.Contains(text, "\n") {
				t.Errorf("%s: %s is not one trimmed line: %q", r.ID, name, text)
			}
		}
		if r.Severity != requirement.Must && r.Severity != requirement.Should {
			t.Errorf("%s: severity %q", r.ID, r.Severity)
		}
		if !slices.Contains(r.Tiers, requirement.Render) {
			t.Errorf("%s: tiers %v, and none of them is render", r.ID, r.Tiers)
		}
		for i, tier := range r.Tiers {
			if !slices.Contains([]requirement.Tier{requirement.Render, requirement.Plane, requirement.Kind}, tier) || slices.Contains(r.Tiers[:i], tier) {
				t.Errorf("%s: tiers %v", r.ID, r.Tiers)
			}
		}
		if r.Plan == nil || r.Judge == nil {
			t.Errorf("%s: has no Plan or no Judge", r.ID)
			continue
		}
		if got := packageOf(r.Judge); got != "proofplane/suites/"+r.Family() {
			t.Errorf("%s: judged in %s, not in the folder of its family", r.ID, got)
		}
		file := filepath.Join(r.Family(), strings.ToLower(strings.ReplaceAll(r.ID, "-", ""))+".go")
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s: has no file of its own: %v", r.ID, err)
		}
	}
}

// packageOf is the import path of the package that a function is written in.
func packageOf(f any) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	slash := strings.LastIndex(name, "/") + 1
	pkg, _, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + pkg
}
