package prover

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"proofplane/fixtures/faults"
	"proofplane/suites"
	"proofplane/suites/matrix"
	"proofplane/suites/requirement"
)

// TestGrid is the proof that every requirement can fail, and fails on the
// faults that name it only.
func TestGrid(t *testing.T) {
	g := NewWithT(t)
	all, err := faults.All()
	g.Expect(err).NotTo(HaveOccurred())
	if racing {
		// The race detector makes it many times slower, and a few trees show what
		// all do.
		all = all[:4]
	}
	grid, err := Prove(t.Context(), suites.Catalog(), all, Selection{}, runtime.GOMAXPROCS(0), func(line string) { t.Log(line) })
	g.Expect(err).NotTo(HaveOccurred())
	if racing {
		for _, r := range grid.Rows {
			g.Expect(r.Verdict).To(Equal(Proven), r.summary())
		}
		return
	}
	var table bytes.Buffer
	g.Expect(grid.Table(&table)).To(Succeed())
	g.Expect(grid.Verdict).To(Equal(Proven), table.String())
	for _, c := range grid.Requirements {
		g.Expect(c.Alone).NotTo(BeEmpty(), "%s: no fault names it alone", c.Requirement)
	}
}

// check is a requirement on one subject of a given name.
func check(id string, judge func(*requirement.Check)) *requirement.Requirement {
	return &requirement.Requirement{
		ID: id, Statement: id, Severity: requirement.Must, Tiers: []requirement.Tier{requirement.Render},
		Plan: func(*requirement.Env) (requirement.Plan, error) {
			return requirement.Plan{Subjects: []requirement.Subject{{Name: "tree", Matrix: matrix.Matrix{}}}}, nil
		},
		Judge: func(_ context.Context, c *requirement.Check) { judge(c) },
	}
}

// spoilt tells whether the tree has the fault of these tests.
func spoilt(c *requirement.Check) bool {
	return fmt.Sprint(c.Tree.Chart("packages/apps/redis").Values["replicas"]) == "7"
}

func fault(id string, requirements ...string) *faults.Fault {
	return &faults.Fault{
		ID: id, Name: id, Description: id, Requirements: requirements,
		Edits: []faults.Edit{{Path: "packages/apps/redis/values.yaml", Find: "replicas: 1", Replace: "replicas: 7"}},
	}
}

func TestOutcomes(t *testing.T) {
	red := check("ABC-01", func(c *requirement.Check) {
		c.Assert(!spoilt(c), func() requirement.Finding {
			return requirement.Finding{Place: "values.yaml:1", Message: "seven"}
		})
	})
	green := check("ABC-02", func(c *requirement.Check) { c.Assert(true, nil) })
	breaks := check("ABC-03", func(c *requirement.Check) {
		if spoilt(c) {
			panic("seven")
		}
		c.Assert(true, nil)
	})
	blocked := check("ABC-04", func(c *requirement.Check) {
		if spoilt(c) {
			c.Block("seven")
		}
		c.Assert(true, nil)
	})
	skipped := check("ABC-05", func(c *requirement.Check) { c.Skip("nothing here") })
	list := func(r ...*requirement.Requirement) []*requirement.Requirement { return r }

	for name, tt := range map[string]struct {
		catalog  []*requirement.Requirement
		names    []string
		row      Verdict
		grid     Verdict
		cells    map[Outcome][]string
		unproven []string
		text     string
	}{
		"caught":                     {list(red, skipped), []string{"ABC-01"}, Proven, NotProven, map[Outcome][]string{Caught: {"ABC-01"}}, []string{"ABC-05"}, "ABC-05: no fault turns it red"},
		"caught, no other":           {list(red), []string{"ABC-01"}, Proven, Proven, map[Outcome][]string{Caught: {"ABC-01"}}, []string{}, "PROVEN: 1 of 1 faults, 1 of 1 requirements"},
		"missed":                     {list(green), []string{"ABC-02"}, NotProven, NotProven, map[Outcome][]string{Missed: {"ABC-02"}}, []string{"ABC-02"}, "missed by ABC-02: all of its 1 cases hold"},
		"stray":                      {list(red, green), []string{"ABC-02"}, NotProven, NotProven, map[Outcome][]string{Missed: {"ABC-02"}, Stray: {"ABC-01"}}, []string{"ABC-01", "ABC-02"}, "stray ABC-01: values.yaml:1: seven"},
		"breaks, not named":          {list(red, breaks), []string{"ABC-01"}, Error, NotProven, map[Outcome][]string{Caught: {"ABC-01"}, Unjudged: {"ABC-03"}}, []string{"ABC-03"}, "ABC-03 could not judge: ABC-03/chart=tree: the check itself broke: seven"},
		"breaks, named":              {list(breaks), []string{"ABC-03"}, Error, NotProven, map[Outcome][]string{Unjudged: {"ABC-03"}}, []string{"ABC-03"}, "ABC-03 could not judge"},
		"blocked, not named":         {list(red, blocked), []string{"ABC-01"}, Proven, NotProven, map[Outcome][]string{Caught: {"ABC-01"}}, []string{"ABC-04"}, "ABC-04: no fault turns it red"},
		"blocked, named":             {list(blocked), []string{"ABC-04"}, NotProven, NotProven, map[Outcome][]string{Missed: {"ABC-04"}}, []string{"ABC-04"}, "missed by ABC-04: it is blocked: ABC-04/chart=tree: seven"},
		"nothing to judge, is named": {list(skipped), []string{"ABC-05"}, NotProven, NotProven, map[Outcome][]string{Missed: {"ABC-05"}}, []string{"ABC-05"}, "it has nothing to judge: ABC-05/chart=tree: nothing here"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			grid, err := Prove(t.Context(), tt.catalog, []*faults.Fault{fault("abc-01-x", tt.names...)}, Selection{}, 1, nil)
			g.Expect(err).NotTo(HaveOccurred())
			row := grid.Rows[0]
			g.Expect(row.Verdict).To(Equal(tt.row))
			g.Expect(grid.Verdict).To(Equal(tt.grid))
			g.Expect(grid.Unproven).To(Equal(tt.unproven))
			for _, o := range []Outcome{Caught, Missed, Stray, Unjudged} {
				g.Expect(row.of(o)).To(Equal(tt.cells[o]), string(o))
			}
			var b bytes.Buffer
			g.Expect(grid.Table(&b)).To(Succeed())
			g.Expect(b.String()).To(ContainSubstring(tt.text))
		})
	}
}

func TestPlatformMustBeGreen(t *testing.T) {
	for name, tt := range map[string]struct {
		judge func(*requirement.Check)
		want  string
	}{
		"red":             {func(c *requirement.Check) { c.Fail(requirement.Finding{Place: "a.yaml:3", Message: "wrong"}) }, "ABC-01 is red: a.yaml:3: wrong"},
		"breaks":          {func(*requirement.Check) { panic("no") }, "ABC-01 could not judge: ABC-01/chart=tree: the check itself broke: no"},
		"blocked":         {func(c *requirement.Check) { c.Block("no") }, "ABC-01 is blocked: ABC-01/chart=tree: no"},
		"asserts nothing": {func(*requirement.Check) {}, "ABC-01 could not judge: ABC-01/chart=tree: the case asserted nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := Prove(t.Context(), []*requirement.Requirement{check("ABC-01", tt.judge)}, []*faults.Fault{fault("abc-01-x", "ABC-01")}, Selection{}, 1, nil)
			g.Expect(err).To(MatchError(And(ContainSubstring("the reference platform is not green"), ContainSubstring(tt.want))))
		})
	}
}

func TestFaultThatCannotBeJudged(t *testing.T) {
	ok := check("ABC-01", func(c *requirement.Check) { c.Assert(true, nil) })
	for name, tt := range map[string]struct {
		edit faults.Edit
		want string
	}{
		"cannot be laid over": {faults.Edit{Path: "packages/apps/redis/values.yaml", Find: "replicas: 99", Replace: "x"}, "fault abc-01-x: edit packages/apps/redis/values.yaml: the text must stand there once, and stands there 0 times: replicas: 99"},
		"spoils the index":    {faults.Edit{Path: "packages/apps/redis/values.yaml", Find: "replicas: 1", Replace: "replicas: [1"}, "part of the tree cannot be read: packages/apps/redis/values.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := fault("abc-01-x", "ABC-01")
			f.Edits = []faults.Edit{tt.edit}
			grid, err := Prove(t.Context(), []*requirement.Requirement{ok}, []*faults.Fault{f}, Selection{Faults: []string{f.ID}}, 1, nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(grid.Verdict).To(Equal(Error))
			g.Expect(grid.Rows[0].Err).To(ContainSubstring(tt.want))
		})
	}
}

func TestSelection(t *testing.T) {
	g := NewWithT(t)
	red := check("ABC-01", func(c *requirement.Check) {
		c.Assert(!spoilt(c), func() requirement.Finding { return requirement.Finding{Message: "seven"} })
	})
	green := check("ABC-02", func(c *requirement.Check) { c.Assert(true, nil) })
	catalog := []*requirement.Requirement{red, green}
	all := []*faults.Fault{fault("abc-01-x", "ABC-01"), fault("abc-02-y", "ABC-02")}
	prove := func(s Selection) (*Grid, error) { return Prove(t.Context(), catalog, all, s, 2, nil) }

	grid, err := prove(Selection{Faults: []string{"abc-01-x"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(grid.Verdict).To(Equal(Proven), "with some faults only, others may prove the rest")
	g.Expect(grid.Rows).To(HaveLen(1))
	g.Expect(grid.Requirements).To(Equal([]*Column{{Requirement: "ABC-01", Faults: []string{"abc-01-x"}, Alone: []string{"abc-01-x"}}}))

	grid, err = prove(Selection{Requirements: []string{"abc-01"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(grid.Rows).To(HaveLen(2), "the faults that do not name it must not turn it red")
	g.Expect(grid.Rows[1].of(Stray)).To(Equal([]string{"ABC-01"}))
	g.Expect(grid.Rows[1].Names).To(BeEmpty())
	var out struct {
		Verdict Verdict
		Faults  []struct{ Cells []Cell }
	}
	var b bytes.Buffer
	g.Expect(grid.JSON(&b)).To(Succeed())
	g.Expect(json.Unmarshal(b.Bytes(), &out)).To(Succeed())
	g.Expect(out.Verdict).To(Equal(NotProven))
	g.Expect(out.Faults[1].Cells[0].Findings[0].Message).To(Equal("seven"))

	var bad *UsageError
	_, err = prove(Selection{Faults: []string{"abc-09-z"}})
	g.Expect(err).To(BeAssignableToTypeOf(bad))
	g.Expect(err).To(MatchError(ContainSubstring(`there is no fault "abc-09-z"`)))
	_, err = prove(Selection{Requirements: []string{"ABC-09"}})
	g.Expect(err).To(BeAssignableToTypeOf(bad))
	_, err = Prove(t.Context(), catalog, []*faults.Fault{fault("abc-03-z", "ABC-03")}, Selection{}, 1, nil)
	g.Expect(err).To(MatchError("faults name requirements that are not in the catalogue: ABC-03"))
	_, err = Prove(t.Context(), catalog, nil, Selection{}, 1, nil)
	g.Expect(err).To(MatchError("there is no fault to prove with"))
	_, err = Prove(t.Context(), nil, nil, Selection{}, 1, nil)
	g.Expect(err).To(MatchError("there is no requirement to prove"))
}

func TestStopsWhenAsked(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all := []*faults.Fault{fault("abc-01-a", "ABC-01"), fault("abc-01-b", "ABC-01"), fault("abc-01-c", "ABC-01")}
	var lines []string
	_, err := Prove(ctx, []*requirement.Requirement{check("ABC-01", func(c *requirement.Check) {
		c.Assert(!spoilt(c), func() requirement.Finding { return requirement.Finding{} })
	})},
		all, Selection{}, 1, func(line string) {
			lines = append(lines, line)
			if strings.HasPrefix(line, "1/3") {
				cancel()
			}
		})
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(err).To(MatchError(HavePrefix("stopped after 1 of 3 faults")))
	g.Expect(lines).To(HaveLen(2))
}
