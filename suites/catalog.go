// Package suites lists every requirement of the product.
package suites

import (
	"proofplane/suites/etcd"
	"proofplane/suites/grd"
	"proofplane/suites/iso"
	"proofplane/suites/pkg"
	"proofplane/suites/rel"
	"proofplane/suites/requirement"
	"proofplane/suites/sec"
	"proofplane/suites/svc"
	"proofplane/suites/val"
)

// Catalog returns all requirements, by family and number.
func Catalog() []*requirement.Requirement {
	return []*requirement.Requirement{
		etcd.ETCD01, // without a datastore nothing but the beacon
		etcd.ETCD02, // a tenant uses its own module, else the nearest ancestor's
		etcd.ETCD05, // references resolve
		grd.GRD01,   // a module lives under its own name
		grd.GRD02,   // a pinned addon has a node to run on
		grd.GRD03,   // hooks end in time and may do what they do
		iso.ISO04,   // a namespace carries the labels of all its ancestors
		pkg.PKG01,   // a toggle leads to something installed, or to a message
		pkg.PKG02,   // what is emitted is complete
		pkg.PKG03,   // kinds are provided before they are used
		pkg.PKG04,   // a missing module costs nothing but the module
		pkg.PKG05,   // values that are set have an effect
		rel.REL03,   // releases of served kinds are representable
		rel.REL04,   // one owner for each Helm storage record
		rel.REL10,   // accepted names stay legal
		sec.SEC06,   // published kinds can be created by whom it is promised
		svc.SVC01,   // every Service can have a backend
		svc.SVC02,   // what is proxied has a Service, and nothing else has
		svc.SVC03,   // routes lead to Services
		val.VAL01,   // generated copies agree
		val.VAL02,   // charts render or refuse, and never break
		val.VAL04,   // what is rendered is valid
		val.VAL05,   // every value has an effect
		val.VAL07,   // two instances share nothing
		val.VAL08,   // what is pulled is pinned
		val.VAL11,   // strings stay the strings that they are
	}
}
