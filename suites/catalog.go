// Package suites lists every requirement of the product.
package suites

import (
	"proofplane/suites/rel"
	"proofplane/suites/requirement"
)

// Catalog returns all requirements, by family and number.
func Catalog() []*requirement.Requirement {
	return []*requirement.Requirement{
		rel.REL03, // releases of served kinds are representable
		rel.REL04, // one owner for each Helm storage record
		rel.REL10, // accepted names stay legal
	}
}
