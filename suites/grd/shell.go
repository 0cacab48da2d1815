package grd

import (
	"regexp"
	"slices"
	"strings"
)

// Word is one word of a shell command. Known is false where it holds an
// expansion whose value the script does not tell; Text is what stands around
// it then.
type Word struct {
	Text   string
	Known  bool
	Quoted bool
}

// Command is a simple command of a shell script, without redirections and
// reserved words.
type Command struct {
	Words []Word
	// Line of the script, from 1.
	Line int
	// Sometimes is set for a command that not every run comes to: one in a
	// branch, a function, or behind ||.
	Sometimes bool
}

// Name is the command's first word.
func (c Command) Name() string {
	if len(c.Words) == 0 || !c.Words[0].Known {
		return ""
	}
	return c.Words[0].Text
}

// Loop is a while or until loop.
type Loop struct {
	Until     bool
	Line      int
	Condition []Command
	Body      []Command
}

// Script is what a shell script does, as far as it can be read without running
// it: no aliases, no eval.
type Script struct {
	Commands []Command
	Loops    []*Loop
}

// ParseShell reads a shell script. env are variables that it starts with.
func ParseShell(text string, env map[string]string) *Script {
	l := &lexer{vars: shellVars(text, env)}
	l.run(text, 1)
	return l.script()
}

var (
	assignment = regexp.MustCompile(`(?m)(?:^|[;&|({\s])([A-Za-z_]\w*)\+?=`)
	plainValue = regexp.MustCompile("(?m)^[ \t]*(?:export[ \t]+|readonly[ \t]+)?([A-Za-z_]\\w*)=(?:\"([^\"$`\\\\\n]*)\"|'([^'\n]*)'|([^\\s\"'$`;|&()<>]*))[ \t]*(?:;.*|#.*)?$")
	otherwise  = regexp.MustCompile(`(?m)\b(?:for|read(?:[ \t]+-\w+)*|local|getopts\s+\S+)[ \t]+([A-Za-z_][\w \t]*)`)
	wordName   = regexp.MustCompile(`^[A-Za-z_]\w*`)
)

// shellVars are the variables that are given one plain value and no other.
func shellVars(text string, env map[string]string) map[string]string {
	times := map[string]int{}
	for _, m := range assignment.FindAllStringSubmatch(text, -1) {
		times[m[1]]++
	}
	vars := map[string]string{}
	for k, v := range env {
		if times[k] == 0 {
			vars[k] = v
		}
	}
	for _, m := range plainValue.FindAllStringSubmatch(text, -1) {
		if times[m[1]] == 1 {
			vars[m[1]] = m[2] + m[3] + m[4]
		}
	}
	for _, m := range otherwise.FindAllStringSubmatch(text, -1) {
		for _, name := range strings.Fields(m[1]) {
			delete(vars, name)
		}
	}
	return vars
}

// token is a command as it is written, or the end of one.
type token struct {
	words []Word
	line  int
	or    bool // it stands behind ||
	end   string
}

type lexer struct {
	vars   map[string]string
	tokens []token
	or     bool
}

// run splits text into tokens. What $( ) and ` ` hold comes before the command
// that uses it.
func (l *lexer) run(text string, line int) {
	var words []Word
	var b strings.Builder
	inWord, known, quoted := false, true, false
	skip := false // the next word is the target of a redirection
	at := line
	var heredocs []string
	endWord := func() {
		if inWord && !skip {
			words = append(words, Word{Text: b.String(), Known: known, Quoted: quoted})
		}
		if inWord {
			skip = false
		}
		b.Reset()
		inWord, known, quoted = false, true, false
	}
	endCommand := func(op string) {
		endWord()
		skip = false
		l.tokens = append(l.tokens, token{words: words, line: at, or: l.or, end: op})
		if len(words) > 0 || op == "||" {
			l.or = op == "||"
		}
		words, at = nil, line
	}
	expand := func(i int) int { // text[i] is $ or `; returns the last index used
		j, value, ok := l.expansion(text, i, line)
		b.WriteString(value)
		inWord, known = true, known && ok
		return j
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !inWord && len(words) == 0 {
			at = line
		}
		switch {
		case c == '\\':
			if i++; i >= len(text) {
				break
			}
			if text[i] == '\n' {
				line++
				break
			}
			b.WriteByte(text[i])
			inWord = true
		case c == '\'':
			j := strings.IndexByte(text[i+1:], '\'')
			if j < 0 {
				j = len(text) - i - 1
			}
			part := text[i+1 : min(i+1+j, len(text))]
			b.WriteString(part)
			line += strings.Count(part, "\n")
			inWord, quoted = true, true
			i += j + 1
		case c == '"':
			inWord, quoted = true, true
			for i++; i < len(text) && text[i] != '"'; i++ {
				switch text[i] {
				case '\\':
					if i++; i < len(text) && text[i] != '\n' {
						b.WriteByte(text[i])
					} else {
						line++
					}
				case '$', '`':
					j := expand(i)
					line += strings.Count(text[i:min(j+1, len(text))], "\n")
					i = j
				case '\n':
					line++
					fallthrough
				default:
					b.WriteByte(text[i])
				}
			}
		case c == '$' || c == '`':
			j := expand(i)
			line += strings.Count(text[i:min(j+1, len(text))], "\n")
			i = j
		case c == '#' && !inWord:
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case c == '\n':
			endCommand("\n")
			line++
			for _, end := range heredocs {
				for i+1 < len(text) {
					rest := text[i+1:]
					got, _, more := strings.Cut(rest, "\n")
					i += len(got)
					if more {
						i++
						line++
					}
					if strings.TrimLeft(got, "\t") == end {
						break
					}
				}
			}
			heredocs = nil
		case c == ' ' || c == '\t' || c == '\r':
			endWord()
		case c == '<' || c == '>' || c == '&' && i+1 < len(text) && text[i+1] == '>':
			if inWord && !quoted && strings.Trim(b.String(), "0123456789") == "" {
				b.Reset()
				inWord = false
			}
			endWord()
			if strings.HasPrefix(text[i:], "<<") && !strings.HasPrefix(text[i:], "<<<") {
				m := heredoc.FindStringSubmatch(text[i:])
				if m != nil {
					heredocs = append(heredocs, m[1])
					i += len(m[0]) - 1
					break
				}
			}
			for i+1 < len(text) && strings.IndexByte("<>&", text[i+1]) >= 0 {
				i++
			}
			skip = true
		case c == ';' || c == '&' || c == '|':
			op := string(c)
			for i+1 < len(text) && text[i+1] == c {
				op += string(c)
				i++
			}
			endCommand(op)
		case c == '(' || c == ')':
			endCommand(string(c))
		default:
			b.WriteByte(c)
			inWord = true
		}
	}
	endCommand("")
}

var heredoc = regexp.MustCompile(`^<<-?[ \t]*["'\\]?([A-Za-z_]\w*)["']?`)

// expansion reads the expansion that begins at text[i] and returns the index of
// its last byte, and its value where that is known.
func (l *lexer) expansion(text string, i, line int) (int, string, bool) {
	if text[i] == '`' {
		j := strings.IndexByte(text[i+1:], '`')
		if j < 0 {
			return len(text) - 1, "", false
		}
		l.nested(text[i+1:i+1+j], line)
		return i + 1 + j, "", false
	}
	rest := text[i+1:]
	switch {
	case strings.HasPrefix(rest, "(("):
		if j := strings.Index(rest, "))"); j >= 0 {
			return i + 1 + j + 1, "", false
		}
		return len(text) - 1, "", false
	case strings.HasPrefix(rest, "("):
		j := closing(rest)
		l.nested(rest[1:j], line)
		return min(i+1+j, len(text)-1), "", false
	case strings.HasPrefix(rest, "{"):
		j := strings.IndexByte(rest, '}')
		if j < 0 {
			return len(text) - 1, "", false
		}
		v, ok := l.vars[rest[1:j]]
		return i + 1 + j, v, ok
	}
	if name := wordName.FindString(rest); name != "" {
		v, ok := l.vars[name]
		return i + len(name), v, ok
	}
	if rest != "" && strings.IndexByte("0123456789@*#?$!-", rest[0]) >= 0 {
		return i + 1, "", false
	}
	return i, "$", true
}

// nested reads the script of a command substitution.
func (l *lexer) nested(text string, line int) {
	or := l.or
	l.run(text, line)
	l.or = or
}

// closing returns the index of the parenthesis that closes the one at s[0], or
// the length of s.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\'':
			j := strings.IndexByte(s[i+1:], '\'')
			if j < 0 {
				return len(s)
			}
			i += j + 1
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				switch {
				case s[i] == '\\':
					i++
				case strings.HasPrefix(s[i:], "$("):
					i += 1 + closing(s[i+1:])
				}
			}
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// script strips reserved words from the tokens and finds the loops.
func (l *lexer) script() *Script {
	s := &Script{}
	var loops []*Loop // that are open; nil for a for loop
	inCondition := false
	depth := 0
	function := 0 // depth of the open function plus one
	for n := 0; n < len(l.tokens); n++ {
		t := l.tokens[n]
		words := t.words
	reserved:
		for len(words) > 0 && words[0].Known && !words[0].Quoted {
			switch words[0].Text {
			case "if", "!", "time":
			case "then":
				depth++
			case "elif":
				depth--
			case "else":
			case "fi", "esac":
				depth--
			case "case":
				depth++
				words = nil
				break reserved
			case "while", "until":
				lp := &Loop{Until: words[0].Text == "until", Line: t.line}
				if len(words) > 1 && words[1].Text == "!" && words[1].Known {
					lp.Until = !lp.Until
				}
				s.Loops = append(s.Loops, lp)
				loops = append(loops, lp)
				inCondition = true
			case "for", "select":
				loops = append(loops, nil)
				words = nil
				break reserved
			case "do":
				inCondition = false
			case "done":
				if len(loops) > 0 {
					loops = loops[:len(loops)-1]
				}
			case "{":
			case "}":
				if function == depth && function > 0 {
					function = 0
					depth--
				}
			default:
				break reserved
			}
			words = words[1:]
		}
		// name ( ) { opens a function.
		if len(words) == 1 && t.end == "(" && n+1 < len(l.tokens) && l.tokens[n+1].end == ")" && len(l.tokens[n+1].words) == 0 {
			depth++
			function = depth
			continue
		}
		if len(words) == 0 {
			continue
		}
		c := Command{Words: words, Line: t.line, Sometimes: depth > 0 || t.or}
		s.Commands = append(s.Commands, c)
		for i, lp := range loops {
			switch {
			case lp == nil:
			case inCondition && i == len(loops)-1:
				lp.Condition = append(lp.Condition, c)
			default:
				lp.Body = append(lp.Body, c)
			}
		}
	}
	return s
}

var leaves = []string{"break", "exit", "return"}

// Endless tells whether a loop certainly has no bound of its own: it waits for
// something outside the script and nothing in it leaves the loop. A loop that
// compares numbers, reads a file, or leaves on its own account is not.
func (l *Loop) Endless() bool {
	for _, c := range slices.Concat(l.Condition, l.Body) {
		if slices.Contains(leaves, c.Name()) {
			return false
		}
	}
	if len(l.Condition) == 0 {
		return false
	}
	first := l.Condition[0]
	switch name := first.Name(); {
	case name == "":
		return false
	case name == "true" || name == ":":
		return !l.Until
	case name == "false":
		return l.Until
	case name == "[" || name == "[[" || name == "test":
		for _, w := range first.Words {
			if slices.Contains([]string{"-lt", "-le", "-gt", "-ge", "-eq", "-ne", "<", ">"}, w.Text) {
				return false
			}
		}
		return l.Until
	case name == "read" || strings.Contains(name, "="):
		return false
	}
	return l.Until
}
