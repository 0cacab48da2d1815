package val

import (
	"fmt"
	"strings"

	"proofplane/suites/requirement"
)

// difference is one thing in which a copy is not what the schema says.
type difference struct{ place, message, want string }

// comparison gathers the differences between a chart's schema and one copy, by
// the top-level property that they are about.
type comparison struct {
	*requirement.Check
	differences, slight map[string][]difference
}

func newComparison(c *requirement.Check) *comparison {
	return &comparison{Check: c, differences: map[string][]difference{}, slight: map[string][]difference{}}
}

// hold counts an assertion about a property.
func (c *comparison) hold(ok bool, property string, d func() difference) {
	c.weigh(ok, property, false, d)
}

// weigh is hold for what may be slight: nobody is told anything wrong then.
func (c *comparison) weigh(ok bool, property string, slight bool, d func() difference) {
	into := c.differences
	if slight {
		into = c.slight
	}
	if ok {
		c.Assert(true, nil)
		return
	}
	into[property] = append(into[property], d())
}

func (c *comparison) report() {
	c.tell(c.differences, requirement.Must, map[string]string{
		copyDefinition: "the API accepts and fills in other values than the chart",
		copyReadme:     "its readers are told what does not hold",
		copyDefaults:   "what holds depends on how the chart is installed",
		copyTypes:      "clients in Go send and read something else",
	}[c.Get(copyAxis)])
	c.tell(c.slight, requirement.Should, "the copy says less than the schema")
}

// tell reports all differences of the copy as one finding: the first in full,
// and where the others are. then is what comes of them.
func (c *comparison) tell(differences map[string][]difference, severity requirement.Severity, then string) {
	properties := requirement.SortedKeys(differences)
	more := -1
	for _, p := range properties {
		more += len(differences[p])
	}
	for _, p := range properties {
		d := differences[p][0]
		message := d.message
		if more > 0 {
			message += fmt.Sprintf(", and %s (%s)", count(more, "more difference"), strings.Join(properties, ", "))
		}
		c.Fail(requirement.Finding{
			Place: d.place, Subject: p, Severity: severity, Want: d.want, Message: message + ": " + then,
			Root: strings.Join([]string{c.Subject.Chart.Dir, c.Get(copyAxis), string(severity)}, " "),
		})
	}
}

// count writes a number of things: 1 thing, 2 things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
