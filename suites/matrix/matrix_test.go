package matrix

import (
	"fmt"
	"strings"
	"testing"
)

func axes(sizes ...int) []Axis {
	var out []Axis
	for i, n := range sizes {
		a := Axis{Name: fmt.Sprintf("a%d", i)}
		for v := range n {
			a.Values = append(a.Values, fmt.Sprintf("v%d", v))
		}
		out = append(out, a)
	}
	return out
}

func TestProductIsInOrderAndConstrained(t *testing.T) {
	m := Matrix{Axes: axes(2, 2), Where: func(p Point) bool { return p.String() != "a0=v1,a1=v0" }}
	points, err := m.Points()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range points {
		names = append(names, p.String())
	}
	if got := strings.Join(names, " "); got != "a0=v0,a1=v0 a0=v0,a1=v1 a0=v1,a1=v1" {
		t.Errorf("points = %s", got)
	}
}

func TestPairwiseCoversEveryAllowedPair(t *testing.T) {
	forbid := func(p Point) bool { return p.Get("a0") != "v1" || p.Get("a3") != "v2" }
	for _, m := range []Matrix{
		{Axes: axes(2, 3, 4, 3, 2, 2, 2), Pairwise: true},
		{Axes: axes(2, 3, 4, 3, 2, 2, 2), Pairwise: true, Where: forbid},
	} {
		points, err := m.Points()
		if err != nil {
			t.Fatal(err)
		}
		full := m
		full.Pairwise = false
		all, err := full.Points()
		if err != nil {
			t.Fatal(err)
		}
		if len(points) > len(all)/10 {
			t.Errorf("%d points of %d: not pruned", len(points), len(all))
		}
		pairs := func(ps []Point) map[string]bool {
			out := map[string]bool{}
			for _, p := range ps {
				for i := range p {
					for j := i + 1; j < len(p); j++ {
						out[p[i].Axis+p[i].Value+p[j].Axis+p[j].Value] = true
					}
				}
			}
			return out
		}
		want, got := pairs(all), pairs(points)
		for p := range want {
			if !got[p] {
				t.Errorf("pair %s is not covered", p)
			}
		}
		for p := range got {
			if !want[p] {
				t.Errorf("pair %s is forbidden", p)
			}
		}
		again, _ := m.Points()
		if fmt.Sprint(again) != fmt.Sprint(points) {
			t.Error("the points are not the same the second time")
		}
	}
}

func TestEmptyIsAnError(t *testing.T) {
	for name, m := range map[string]Matrix{
		"no values":  {Axes: []Axis{{Name: "a"}}},
		"twice":      {Axes: []Axis{{"a", []string{"x"}}, {"a", []string{"y"}}}},
		"no point":   {Axes: axes(2), Where: func(Point) bool { return false }},
		"too large":  {Axes: axes(9, 9, 9, 9, 9)},
		"no pairing": {Axes: axes(2, 2, 2), Pairwise: true, Where: func(Point) bool { return false }},
	} {
		if _, err := m.Points(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
