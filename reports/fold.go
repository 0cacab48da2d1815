package reports

import (
	"fmt"
	"slices"
	"strings"
)

// Situation describes the cases that show a finding by what tells them from the
// other judged ones.
type Situation struct {
	// Axes are three at most, in the order of the case's settings.
	Axes []Shared `json:"axes,omitempty"`
	// Rest is what is to be said beside them: "always", "whatever the rest", or
	// how many of the judged cases that fit the axes show the finding.
	Rest string `json:"rest,omitempty"`
}

// Shared is an axis with the values that it has in cases that show a finding.
type Shared struct {
	Axis   string   `json:"axis"`
	Values []string `json:"values"` // sorted
}

// maxAxes is how many axes a reader takes in.
const maxAxes = 3

// maxValues is how many values of an axis are named.
const maxValues = 3

// String is the situation as one line with values in full.
func (s Situation) String() string { return s.text(whole) }

// whole keeps a value.
func whole(value string) string { return value }

// text is the situation as one line. value writes a value; one that could be
// taken for several is quoted.
func (s Situation) text(value func(string) string) string {
	var parts []string
	for _, a := range s.Axes {
		var vs []string
		for _, v := range a.Values[:min(len(a.Values), maxValues)] {
			v = value(v)
			if strings.ContainsAny(v, ",| ") {
				v = `"` + v + `"`
			}
			vs = append(vs, v)
		}
		part := a.Axis + "=" + strings.Join(vs, "|")
		if more := len(a.Values) - maxValues; more > 0 {
			part += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, part)
	}
	if s.Rest != "" {
		parts = append(parts, s.Rest)
	}
	return strings.Join(parts, ", ")
}

// counts says whether the text tells how many cases there are.
func (s Situation) counts() bool { return strings.Contains(s.Rest, " of ") }

// Fold describes points that show something by the axes that decide: those whose
// values in these points exclude the points that do not show it. Cases that were
// not judged belong to neither: an axis at which every other value is refused
// decides nothing. A point that has no such axis fits any of its values where
// that is so in a point that shows it, and none otherwise.
func Fold(show, others [][]Setting) Situation {
	t := tabulate(slices.Concat(show, others))
	in := make([]bool, len(show)+len(others))
	for i := range show {
		in[i] = true
	}
	return t.fold(in)
}

// table holds points by numbers, for comparing many of them.
type table struct {
	axes   []string
	values [][]string // by axis; value 0 stands for a point without the axis
	rows   [][]int32  // by point: the value of each axis
}

func tabulate(points [][]Setting) *table {
	t := &table{}
	axes := map[string]int{}
	var numbers []map[string]int32
	for _, p := range points {
		for _, s := range p {
			a, ok := axes[s.Axis]
			if !ok {
				a = len(t.axes)
				axes[s.Axis] = a
				t.axes = append(t.axes, s.Axis)
				t.values = append(t.values, []string{""})
				numbers = append(numbers, map[string]int32{})
			}
			if _, ok := numbers[a][s.Value]; !ok {
				numbers[a][s.Value] = int32(len(t.values[a]))
				t.values[a] = append(t.values[a], s.Value)
			}
		}
	}
	cells := make([]int32, len(points)*len(t.axes))
	for _, p := range points {
		row := cells[:len(t.axes):len(t.axes)]
		cells = cells[len(t.axes):]
		for _, s := range p {
			a := axes[s.Axis]
			row[a] = numbers[a][s.Value]
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// decider is an axis with the values that it has in the points that show
// something.
type decider struct {
	axis   int
	fits   []bool // by value
	values int    // that fit, without 0
}

// fold describes the points of which in says true, among all of the table.
func (t *table) fold(in []bool) Situation {
	var show, others [][]int32
	for i, row := range t.rows {
		if in[i] {
			show = append(show, row)
		} else {
			others = append(others, row)
		}
	}
	if len(others) == 0 {
		return Situation{Rest: "always"}
	}
	deciders := t.deciders(show)
	chosen, left := choose(deciders, others)
	slices.SortFunc(chosen, func(a, b decider) int { return a.axis - b.axis })
	var s Situation
	named := map[int]bool{}
	for _, d := range chosen {
		named[d.axis] = true
		a := Shared{Axis: t.axes[d.axis]}
		for v := 1; v < len(d.fits); v++ {
			if d.fits[v] {
				a.Values = append(a.Values, t.values[d.axis][v])
			}
		}
		slices.Sort(a.Values)
		s.Axes = append(s.Axes, a)
	}
	switch {
	case left > 0 && len(chosen) > 0:
		s.Rest = fmt.Sprintf("%d of %d such cases", len(show), len(show)+left)
	case left > 0:
		s.Rest = fmt.Sprintf("%d of %d cases", len(show), len(show)+left)
	case slices.ContainsFunc(deciders, func(d decider) bool { return !named[d.axis] && d.values > 1 }):
		s.Rest = "whatever the rest"
	}
	return s
}

// deciders returns the axes of the points that show something.
func (t *table) deciders(show [][]int32) []decider {
	var out []decider
	for a, values := range t.values {
		d := decider{axis: a, fits: make([]bool, len(values))}
		for _, row := range show {
			if v := row[a]; !d.fits[v] {
				d.fits[v] = true
				if v > 0 {
					d.values++
				}
			}
		}
		if d.values > 0 {
			out = append(out, d)
		}
	}
	return out
}

// choose takes the axis that excludes most of the other points that are left,
// until none is left or there are enough axes, and drops those that a later one
// made needless. It returns how many points are left.
func choose(deciders []decider, others [][]int32) (chosen []decider, left int) {
	rest := others
	for len(chosen) < maxAxes && len(rest) > 0 {
		var best decider
		most := 0
		for _, d := range deciders {
			out := 0
			for _, row := range rest {
				if !d.fits[row[d.axis]] {
					out++
				}
			}
			// The chart comes first and stays before an axis that says as much; of
			// others the one with fewer values says it more clearly.
			if out > most || out > 0 && out == most && best.axis > 0 && d.values < best.values {
				best, most = d, out
			}
		}
		if most == 0 {
			break
		}
		chosen = append(chosen, best)
		rest = fitting([]decider{best}, rest)
		for i := 0; i < len(chosen); {
			without := slices.Delete(slices.Clone(chosen), i, i+1)
			if len(fitting(without, others)) == len(rest) {
				chosen = without
				continue
			}
			i++
		}
	}
	return chosen, len(rest)
}

// fitting returns the rows whose values fit every axis of ds.
func fitting(ds []decider, rows [][]int32) [][]int32 {
	var out [][]int32
	for _, row := range rows {
		if !slices.ContainsFunc(ds, func(d decider) bool { return !d.fits[row[d.axis]] }) {
			out = append(out, row)
		}
	}
	return out
}
