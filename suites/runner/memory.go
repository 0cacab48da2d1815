package runner

import (
	"os"
	"runtime/debug"
)

// Memory settings of a run, see TuneMemory.
const (
	gcPercent   = 400
	memoryLimit = 1536 << 20 // bytes
)

// TuneMemory sets the garbage collector for a program that runs cases and ends:
// most of its heap are renders that it keeps, so it collects seldom until it
// nears a limit. GOGC and GOMEMLIMIT, where set, are left alone.
func TuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
