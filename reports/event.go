package reports

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Format is the version of the event stream and of report.json. It grows when
// a field changes its meaning or goes; new fields leave it alone.
const Format = 1

// Verdict is how a case, or a requirement, ended.
type Verdict string

// The verdicts, worst first as Worst orders them.
const (
	Error   Verdict = "error"   // could not judge
	Fail    Verdict = "fail"    // the requirement does not hold
	Expired Verdict = "expired" // a waiver past its date
	Fixed   Verdict = "fixed"   // a waived failure that passes
	Blocked Verdict = "blocked" // a thing it needs failed
	Known   Verdict = "known"   // a waived failure
	Pass    Verdict = "pass"
	Skipped Verdict = "skipped" // with a reason
)

var order = []Verdict{Error, Fail, Expired, Fixed, Blocked, Known, Pass, Skipped}

// Verdicts returns all verdicts, worst first.
func Verdicts() []Verdict { return append([]Verdict(nil), order...) }

// Worst returns the worst of the verdicts, Skipped for none.
func Worst(vs ...Verdict) Verdict {
	for _, v := range order {
		for _, w := range vs {
			if v == w {
				return v
			}
		}
	}
	return Skipped
}

// Setting is one axis of a case at one value.
type Setting struct {
	Axis  string `json:"axis"`
	Value string `json:"value"`
}

// Finding is one thing that is wrong: what, where, and what would be right.
type Finding struct {
	// Fingerprint is stable between runs: it is made of the requirement, the
	// chart and the cause, not of the case or the line.
	Fingerprint string `json:"fingerprint"`
	Chart       string `json:"chart,omitempty"`  // folder in the tree
	Object      string `json:"object,omitempty"` // Kind namespace/name
	Place       string `json:"place,omitempty"`  // file:line in the tree
	// Through is the file:line of a shared helper that emitted the field, where
	// Place is its caller.
	Through string `json:"through,omitempty"`
	Message string `json:"message"`
	Want    string `json:"want,omitempty"` // what would satisfy the requirement
	// Severity is must or should; where it is empty, that of the requirement.
	// Only must breaks conformance.
	Severity string `json:"severity,omitempty"`
	// Weight orders the findings of a requirement that as many cases show, the
	// greater first.
	Weight int `json:"weight,omitempty"`
	// Also are further places that the same cause shows at, without that of the
	// finding itself, in the order in which they were seen.
	Also []Instance `json:"also,omitempty"`
}

// Instance is a place at which the cause of a finding shows.
type Instance struct {
	Chart  string `json:"chart,omitempty"`  // folder in the tree
	Object string `json:"object,omitempty"` // Kind namespace/name
	Place  string `json:"place,omitempty"`  // file:line in the tree
}

// Instance is the place that the finding itself names.
func (f Finding) Instance() Instance { return Instance{f.Chart, f.Object, f.Place} }

// Add notes one more instance. An object of the same kind at the same place of
// the same chart is the same one: names differ between situations.
func (f *Finding) Add(more Instance) {
	same := func(have Instance) bool {
		return have.Chart == more.Chart && have.Place == more.Place && kindOf(have.Object) == kindOf(more.Object)
	}
	if !same(f.Instance()) && !slices.ContainsFunc(f.Also, same) {
		f.Also = append(f.Also, more)
	}
}

func kindOf(object string) string {
	kind, _, _ := strings.Cut(object, " ")
	return kind
}

// Component is something that took part in the run, real or simulated.
type Component struct {
	Name    string `json:"name"`
	Real    bool   `json:"real"` // the thing itself, not a simulation of it
	Version string `json:"version,omitempty"`
	Note    string `json:"note,omitempty"`
}

// Problem is a part of the tree that could not be read.
type Problem struct {
	Place   string `json:"place"` // file or file:line in the tree
	Message string `json:"message"`
}

// Subject is what was judged.
type Subject struct {
	Tree     string    `json:"tree"`               // folder or address, as it was named
	Revision string    `json:"revision,omitempty"` // commit, where the tree has one
	Asked    string    `json:"asked,omitempty"`    // the revision as it was named
	Digest   string    `json:"digest"`             // sha256 over the files of the index
	Charts   int       `json:"charts"`             // number of charts in the tree
	Problems []Problem `json:"problems,omitempty"`
}

// Run opens a stream.
type Run struct {
	Format     int         `json:"format"`
	Tool       string      `json:"tool"` // name and version
	Subject    Subject     `json:"subject"`
	Platform   string      `json:"platform"` // profile of conventions
	Seed       int64       `json:"seed"`
	Tiers      []string    `json:"tiers"`             // tiers that were judged
	Filters    []string    `json:"filters,omitempty"` // as flags
	Components []Component `json:"components"`
	// Command judges the same tree again, as a POSIX shell reads it; with
	// --case and a name or an id it judges that case alone.
	Command string    `json:"command"`
	Started time.Time `json:"started"`
}

// Requirement announces a requirement and the number of its cases.
type Requirement struct {
	ID        string   `json:"id"`
	Family    string   `json:"family"`    // lower-case prefix of the ID
	Statement string   `json:"statement"` // what has to hold
	Severity  string   `json:"severity"`  // must or should
	Tiers     []string `json:"tiers"`     // tiers that can judge it
	Origin    string   `json:"origin"`    // where the requirement comes from
	Fix       string   `json:"fix"`       // how a failure is usually repaired
	Planned   int      `json:"planned"`   // number of cases
}

// Case is one requirement judged at one point of its matrix.
type Case struct {
	Requirement string    `json:"requirement"`
	Index       int       `json:"index"`        // within the requirement's plan
	Name        string    `json:"name"`         // stable between runs
	ID          string    `json:"id,omitempty"` // short, as stable as the name: SVC-02#3f9a1c7e
	Tier        string    `json:"tier"`
	Settings    []Setting `json:"settings,omitempty"` // none where the requirement has nothing to judge
	Verdict     Verdict   `json:"verdict"`
	Reason      string    `json:"reason,omitempty"` // of error, blocked and skipped
	Assertions  int       `json:"assertions"`       // number that were made
	Findings    []Finding `json:"findings,omitempty"`
	// Nanoseconds that it took; in the stream only, a report has them in its
	// Timing.
	Nanoseconds int64 `json:"nanoseconds,omitempty"`
}

// End closes a stream. A stream without one was killed.
type End struct {
	Interrupted bool      `json:"interrupted,omitempty"` // before all cases were judged
	Finished    time.Time `json:"finished"`
}

// Event is one line of the stream; exactly one field is set.
type Event struct {
	Run         *Run         `json:"run,omitempty"`
	Requirement *Requirement `json:"requirement,omitempty"`
	Case        *Case        `json:"case,omitempty"`
	End         *End         `json:"end,omitempty"`
}

// Stream collects events and appends each to a writer as one JSON line. It is
// safe for concurrent use. A write that fails is kept and returned by Err.
type Stream struct {
	mu     sync.Mutex
	w      io.Writer
	err    error
	events []Event
}

// NewStream returns a stream that writes to w, or only collects when w is nil.
func NewStream(w io.Writer) *Stream { return &Stream{w: w} }

// Emit appends an event. The stream keeps what its line says, which is another
// text where a string is not UTF-8: a report is the same when it is read back.
func (s *Stream) Emit(e Event) {
	data, err := json.Marshal(e)
	if err == nil {
		e = Event{}
		err = json.Unmarshal(data, &e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
	if s.err != nil {
		return
	}
	if err == nil && s.w != nil {
		_, err = s.w.Write(append(data, '\n'))
	}
	s.err = err
}

// Events returns what was emitted so far.
func (s *Stream) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Event(nil), s.events...)
}

// Err returns the first write that failed.
func (s *Stream) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// ReadEvents reads a stream back. A last line that was cut off in the middle,
// as a killed run leaves it, is dropped; any other line that is not an event is
// an error with its number.
func ReadEvents(r io.Reader) ([]Event, error) {
	br := bufio.NewReader(r)
	var events []Event
	for n := 1; ; n++ {
		line, err := br.ReadBytes('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return nil, err
		}
		var e Event
		if err := json.Unmarshal(line, &e); err == nil {
			events = append(events, e)
		} else if !last {
			return nil, fmt.Errorf("line %d: not an event: %w", n, err)
		}
		if last {
			return events, nil
		}
	}
}
