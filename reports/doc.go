// Package reports holds the event stream of a run, the report that is made of
// it, and one writer for each format. It stands on the ground: it knows
// verdicts, findings and text, and nothing about trees, charts or suites.
//
// Every report is a pure function of the stream: Build(events) gives the same
// report whether the run has just ended, was killed, or is read back from
// events.jsonl.
package reports
