package main

import (
	"strings"
	"testing"
)

func TestExplainACase(t *testing.T) {
	one := list(t, "--requirement", "SVC-02", "--cases")[0]
	name, id := one.Cases[len(one.Cases)-1], one.IDs[len(one.IDs)-1]
	text := call("explain", "svc-02")
	var want string
	for _, arg := range []string{name, id, strings.ToLower(id), id[:len(id)-2]} {
		o := call("explain", arg)
		if o.code != exitConformant || o.stderr != "" || !strings.HasPrefix(o.stdout, text.stdout) {
			t.Fatalf("explain %s: exit code %d\n%s%s", arg, o.code, o.stdout, o.stderr)
		}
		if want == "" {
			want = o.stdout
		}
		if o.stdout != want {
			t.Errorf("explain %s differs from explain %s", arg, name)
		}
	}
	for _, s := range strings.Split(strings.TrimPrefix(name, "SVC-02/"), ",") {
		if !strings.Contains(want, "\n  "+s+"\n") {
			t.Errorf("no line for %s:\n%s", s, want)
		}
	}
	if !strings.HasSuffix(want, "\n  proofplane run --case "+id+"\n") {
		t.Errorf("the command is not said:\n%s", want)
	}

	dir := reference(t, t.TempDir(), func(_, text string) string { return text })
	o := call("explain", "--tree", dir, "--seed", "7", id)
	if o.code != exitConformant || !strings.HasSuffix(o.stdout, "\n  proofplane run --tree "+dir+" --seed 7 --case "+id+"\n") {
		t.Errorf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
}

func TestExplainRefusesWhatIsNotThere(t *testing.T) {
	for _, c := range []struct {
		args  []string
		parts []string
	}{
		{[]string{"SVC-99"}, []string{`"SVC-99"`, "proofplane list"}},
		{[]string{"SVC-99#123456"}, []string{`"SVC-99"`, "proofplane list"}},
		{[]string{"SVC-02#00000000"}, []string{`"SVC-02#00000000"`, "list --cases"}},
		{[]string{"SVC-02#12345"}, []string{`"SVC-02#12345"`, "6 to 8 digits"}},
		{[]string{"SVC-02/chart=abc"}, []string{`"SVC-02/chart=abc"`, "list --cases"}},
		{[]string{"SVC-02#00000000", "--tree", "/nowhere"}, []string{"/nowhere"}},
		{[]string{"--tree", "", "SVC-02#00000000"}, []string{"--tree is empty"}},
	} {
		call(append([]string{"explain"}, c.args...)...).refused(t, exitUsage, c.parts...)
	}
}
