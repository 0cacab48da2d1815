// Package iso holds the family ISO: what keeps tenants apart.
package iso
