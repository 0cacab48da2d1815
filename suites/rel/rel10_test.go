package rel

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestLongest(t *testing.T) {
	g := NewWithT(t)
	for limit := 3; limit <= 46; limit++ {
		calls := 0
		got := longest(3, 46, func(n int) bool { calls++; return n <= limit })
		g.Expect(got).To(Equal(limit))
		g.Expect(calls).To(BeNumerically("<", 8))
	}
	g.Expect(characters(1)).To(Equal("1 character"))
	g.Expect(characters(37)).To(Equal("37 characters"))
}
