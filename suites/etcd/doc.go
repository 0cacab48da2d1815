// Package etcd holds the family ETCD: tenants without a datastore of their own,
// and modules that are inherited.
package etcd
