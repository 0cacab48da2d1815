package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// JSON returns report.json.
func (r *Report) JSON() ([]byte, error) {
	var flat, out bytes.Buffer
	enc := json.NewEncoder(&flat)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	out.Grow(2 * flat.Len()) // a report can be large, and grows by copies otherwise
	err := json.Indent(&out, flat.Bytes(), "", " ")
	return out.Bytes(), err
}

// writers are the files that Write makes; the event stream is written while the
// run goes on.
var writers = []struct {
	name  string
	write func(*Report) ([]byte, error)
}{
	{"report.json", (*Report).JSON},
	{"junit.xml", (*Report).JUnit},
	{"report.md", (*Report).Markdown},
}

// EventsFile is the name of the event stream in an output folder.
const EventsFile = "events.jsonl"

// Clear removes the reports of an earlier run from a folder, so that a run that
// is killed leaves none that looks like its own.
func Clear(dir string) error {
	for _, w := range writers {
		if err := os.Remove(filepath.Join(dir, w.name)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// Write writes every format into a folder. Each file appears whole or not at
// all.
func (r *Report) Write(dir string) error {
	for _, w := range writers {
		data, err := w.write(r)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		if err := writeWhole(filepath.Join(dir, w.name), data); err != nil {
			return err
		}
	}
	return nil
}

func writeWhole(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".proofplane-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the write's own error is the one to tell
	}
	return err
}
