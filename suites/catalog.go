// Package suites lists every requirement of the product.
package suites

import (
	"proofplane/suites/etcd"
	"proofplane/suites/pkg"
	"proofplane/suites/rel"
	"proofplane/suites/requirement"
)

// Catalog returns all requirements, by family and number.
func Catalog() []*requirement.Requirement {
	return []*requirement.Requirement{
		etcd.ETCD01, // without a datastore nothing but the beacon
		etcd.ETCD02, // a tenant uses its own module, else the nearest ancestor's
		etcd.ETCD05, // references resolve
		pkg.PKG01,   // a toggle leads to something installed, or to a message
		pkg.PKG02,   // what is emitted is complete
		pkg.PKG04,   // a missing module costs nothing but the module
		rel.REL03,   // releases of served kinds are representable
		rel.REL04,   // one owner for each Helm storage record
		rel.REL10,   // accepted names stay legal
	}
}
