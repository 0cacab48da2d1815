package reports

import (
	"fmt"
	"io"
	"strings"
)

// page writes to a terminal.
type page struct {
	View
	w   io.Writer
	err error
}

// textWidth is where texts are wrapped; a command is copied, so it gets all of
// the width that a line may have.
const (
	textWidth = 120
	lineWidth = 200
)

// entry writes a named part of a finding, unless it is empty.
func (p *page) entry(name, text string) {
	if text != "" {
		p.text(painted(fmt.Sprintf("    %-8s", name)), strings.Repeat(" ", 12), text)
	}
}

// painted is text that may hold escape sequences of our own.
type painted string

// width is the number of columns.
func (t painted) width() int {
	n, escape := 0, false
	for _, c := range t {
		switch {
		case c == '\x1b':
			escape = true
		case escape:
			escape = c != 'm'
		default:
			n++
		}
	}
	return n
}

// text writes a text as one paragraph behind lead; further lines begin with
// hang. Control characters, as a tree may hold them, do not reach the terminal.
func (p *page) text(lead painted, hang, text string) {
	line, width, begun := string(lead), lead.width(), false
	for word := range strings.FieldsSeq(clean(text)) {
		rs := []rune(word)
		switch {
		case !begun:
			begun = true
		case width+1+len(rs) > textWidth:
			p.line(line)
			line, width = hang, len(hang)
		default:
			line, width = line+" ", width+1
		}
		// A word that has no room in a line of its own is broken.
		for width+len(rs) > lineWidth {
			room := max(lineWidth-width, 0)
			p.line(line + string(rs[:room]))
			line, width, rs = hang, len(hang), rs[room:]
		}
		line, width = line+string(rs), width+len(rs)
	}
	p.line(line)
}

// command writes a command for a POSIX shell, in lines that can be copied as
// they are. A word is left whole.
func (p *page) command(lead, command string) {
	hang := strings.Repeat(" ", len(lead))
	line := lead
	for i, word := range shellWords(clean(command)) {
		switch {
		case i == 0:
		case len([]rune(line+" "+word)) > lineWidth-len(" \\"):
			p.line(line + " \\")
			line = hang
		default:
			line += " "
		}
		line += word
	}
	p.line(line)
}

// shellWords splits what Quote made at the spaces outside quotes.
func shellWords(command string) []string {
	var words []string
	begin, quoted := 0, false
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '\\':
			i++
		case c == ' ':
			words = append(words, command[begin:i])
			begin = i + 1
		}
	}
	return append(words, command[begin:])
}

func (p *page) line(text string) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, text)
	}
}

func (p *page) paint(v Verdict, text string) painted {
	if !p.Color {
		return painted(text)
	}
	code := "33"
	switch v {
	case Pass:
		code = "32"
	case Fail, Error, Expired, Fixed:
		code = "31"
	case Skipped:
		code = "36"
	}
	return painted("\x1b[1;" + code + "m" + text + "\x1b[0m")
}
