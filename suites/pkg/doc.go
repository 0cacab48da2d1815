// Package pkg holds the family PKG: packages, bundles and what they produce.
package pkg
