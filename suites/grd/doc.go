// Package grd holds the family GRD: guards, hooks, waits.
package grd
