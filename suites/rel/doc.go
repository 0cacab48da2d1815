// Package rel holds the family REL: release identity and the round trip through
// the aggregated API.
package rel
