// Package sec holds the family SEC: what tenants may see and do.
package sec
