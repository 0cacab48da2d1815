package grd

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseShell(t *testing.T) {
	for _, tt := range []struct{ script, want string }{
		{"a b 'c d' \"e $X\" >f 2>&1 # g", "a|b|c d|e ?@1"},
		{"X=1\na $X ${X} $Y", "X=1@1 a|1|1|?@2"},
		{"X=1\nX=2\na $X", "X=1@1 X=2@2 a|?@3"},
		{"for X in 1 2; do a \"$X\"; done", "a|?@1"},
		{"if a; then b; else c; fi; d", "a@1 b*@1 c*@1 d@1"},
		{"a || b\nc && d", "a@1 b*@1 c@2 d@2"},
		{"f() {\n  a\n}\nb", "a*@2 b@4"},
		{"case $x in\n a) b ;;\nesac\nc", "a*@2 b*@2 c@4"},
		{"a \"$(b \"c\" | d)\" `e`", "b|c@1 d@1 e@1 a|?|?@1"},
		{"cat <<EOF\na\nEOF\nb", "cat@1 b@4"},
		{"a \\\n  b\nc", "a|b@1 c@3"},
		{"a $((1 + 2))", "a|?@1"},
	} {
		var got []string
		for _, c := range ParseShell(tt.script, nil).Commands {
			var words []string
			for _, w := range c.Words {
				if !w.Known {
					w.Text += "?"
				}
				words = append(words, w.Text)
			}
			mark := ""
			if c.Sometimes {
				mark = "*"
			}
			got = append(got, fmt.Sprintf("%s%s@%d", strings.Join(words, "|"), mark, c.Line))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.script, s, tt.want)
		}
	}
}

func TestEndless(t *testing.T) {
	for script, want := range map[string]bool{
		"until curl x; do sleep 1; done":                        true,
		"while ! curl x; do sleep 1; done":                      true,
		"until [ -s f ]; do sleep 1; done":                      true,
		"while true; do sleep 1; done":                          true,
		"while :; do curl x && break; done":                     false,
		"until curl x; do if y; then exit 1; fi; done":          false,
		"until [ $i -ge 5 ]; do a; done":                        false,
		"while read -r a; do b; done":                           false,
		"while [ -f x ]; do sleep 1; done":                      false,
		"until out=$(a); do sleep 1; done":                      false,
		"until a; do sleep 1; done; for i in 1; do break; done": true,
	} {
		loops := ParseShell(script, nil).Loops
		if len(loops) != 1 || loops[0].Endless() != want {
			t.Errorf("%q: %d loops, endless %v", script, len(loops), !want)
		}
	}
}
