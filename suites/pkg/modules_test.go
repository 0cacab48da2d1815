package pkg

import (
	"io/fs"
	"strings"
	"testing"

	"proofplane/fixtures/platform"
)

// The example that explain names is there.
func TestExampleOfBothWays(t *testing.T) {
	fsys, err := platform.FS()
	if err != nil {
		t.Fatal(err)
	}
	data, err := fs.ReadFile(fsys, strings.TrimPrefix(exampleFile, "fixtures/platform/tree/"))
	if err != nil || !strings.Contains(string(data), `{{- define "`+exampleDefine+`" -}}`) {
		t.Errorf("%s holds no template %s (%v)", exampleFile, exampleDefine, err)
	}
	for _, r := range []string{PKG01.Fix, PKG04.Fix} {
		if !strings.Contains(r, exampleFile) {
			t.Errorf("%q names no example", r)
		}
	}
}
