// Package matrix makes the points at which a requirement is judged: named axes,
// constraints, the full product, or a pairwise cover where the product is too
// large. Everything is deterministic: the same matrix gives the same points in
// the same order.
package matrix

import (
	"fmt"
	"sort"
	"strings"
)

// Axis is a named set of values, in the order in which they are to be shown.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// Setting is one axis at one value.
type Setting struct{ Axis, Value string }

// Point is one setting for each axis, in the order of the axes.
type Point []Setting

// Get returns the value at an axis, "" where the point has no such axis.
func (p Point) Get(axis string) string {
	for _, s := range p {
		if s.Axis == axis {
			return s.Value
		}
	}
	return ""
}

// String is the stable name of the point: axis=value,axis=value.
func (p Point) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.Axis + "=" + s.Value
	}
	return strings.Join(parts, ",")
}

// Matrix is a product of axes. Where, when set, says which combinations exist.
type Matrix struct {
	Axes  []Axis
	Where func(Point) bool
	// Pairwise prunes the product to points in which every pair of values that
	// Where allows occurs, and every value at least once.
	Pairwise bool
}

// MaxProduct bounds a full product; a larger one has to be declared pairwise.
const MaxProduct = 20000

// Points returns the points of the matrix in order. An axis without values, a
// name used twice, and a matrix that leaves no point are errors.
func (m Matrix) Points() ([]Point, error) {
	seen := map[string]bool{}
	for _, a := range m.Axes {
		if len(a.Values) == 0 {
			return nil, fmt.Errorf("axis %s has no values", a.Name)
		}
		if seen[a.Name] {
			return nil, fmt.Errorf("axis %s is named twice", a.Name)
		}
		seen[a.Name] = true
	}
	var points []Point
	var err error
	if m.Pairwise && len(m.Axes) > 2 {
		points = m.pairwise()
	} else if points, err = m.product(); err != nil {
		return nil, err
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("the constraints leave no case")
	}
	return points, nil
}

func (m Matrix) allowed(p Point) bool { return m.Where == nil || m.Where(p) }

func (m Matrix) product() ([]Point, error) {
	total := 1
	for _, a := range m.Axes {
		if total *= len(a.Values); total > MaxProduct {
			return nil, fmt.Errorf("the product of the axes has more than %d points: prune it pairwise", MaxProduct)
		}
	}
	var points []Point
	index := make([]int, len(m.Axes))
	for {
		if p := m.point(index); m.allowed(p) {
			points = append(points, p)
		}
		i := len(index) - 1
		for ; i >= 0; i-- {
			if index[i]++; index[i] < len(m.Axes[i].Values) {
				break
			}
			index[i] = 0
		}
		if i < 0 {
			return points, nil
		}
	}
}

func (m Matrix) point(index []int) Point {
	p := make(Point, len(index))
	for i, v := range index {
		p[i] = Setting{m.Axes[i].Name, m.Axes[i].Values[v]}
	}
	return p
}

type pair struct{ a, av, b, bv int }

// pairwise covers pairs greedily: each new point starts from the first pair
// that is not covered and takes, axis by axis, the value that covers most. A
// point that Where refuses is repaired by trying the other values in turn;
// pairs that no allowed point holds are given up.
func (m Matrix) pairwise() []Point {
	open := map[pair]bool{}
	var order []pair
	for a := range m.Axes {
		for b := a + 1; b < len(m.Axes); b++ {
			for av := range m.Axes[a].Values {
				for bv := range m.Axes[b].Values {
					p := pair{a, av, b, bv}
					open[p] = true
					order = append(order, p)
				}
			}
		}
	}
	var points []Point
	seen := map[string]bool{}
	add := func(index []int) {
		p := m.point(index)
		if name := p.String(); !seen[name] {
			seen[name] = true
			points = append(points, p)
		}
		for a := range index {
			for b := a + 1; b < len(index); b++ {
				delete(open, pair{a, index[a], b, index[b]})
			}
		}
	}
	// The first values are the defaults: the point that users have first.
	if first := make([]int, len(m.Axes)); m.allowed(m.point(first)) {
		add(first)
	}
	for _, p := range order {
		if !open[p] {
			continue
		}
		if index := m.complete(p, open); index != nil {
			add(index)
		} else {
			delete(open, p)
		}
	}
	return points
}

// complete returns an allowed point that holds pair p and covers many open
// pairs, nil where none is allowed.
func (m Matrix) complete(p pair, open map[pair]bool) []int {
	index := make([]int, len(m.Axes))
	set := make([]bool, len(m.Axes))
	index[p.a], index[p.b] = p.av, p.bv
	set[p.a], set[p.b] = true, true
	var fill func(i int) bool
	tries := 0
	fill = func(i int) bool {
		for i < len(index) && set[i] {
			i++
		}
		if i == len(index) {
			tries++
			return m.allowed(m.point(index))
		}
		type choice struct{ value, gain int }
		choices := make([]choice, len(m.Axes[i].Values))
		for v := range choices {
			choices[v] = choice{value: v}
			for j := range index {
				if !set[j] || j == i {
					continue
				}
				q := pair{i, v, j, index[j]}
				if j < i {
					q = pair{j, index[j], i, v}
				}
				if open[q] {
					choices[v].gain++
				}
			}
		}
		sort.SliceStable(choices, func(x, y int) bool { return choices[x].gain > choices[y].gain })
		set[i] = true
		for _, c := range choices {
			index[i] = c.value
			if fill(i + 1) {
				return true
			}
			if tries > 2000 {
				break
			}
		}
		set[i] = false
		return false
	}
	if !fill(0) {
		return nil
	}
	return index
}
