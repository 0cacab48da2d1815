//go:build race

package prover

const racing = true
