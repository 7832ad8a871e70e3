// Package figurefile reads figures of a run that other sources state: files of figures in YAML or
// JSON, Markdown tables, and the exports of other benchmark tools. Of an export it reads the values
// that mean the same as a figure of this program, and lists the others. Errors name file, line and
// column.
package figurefile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Set is a set of figures in a file.
type Set struct {
	Name       string            // of the column of a table; empty if the file has a single set
	About      map[string]string // identity of the run, by the keys in File.About
	Statistics json.RawMessage   // the figures under the keys of the client's statistics file
	StatedBy   string            // who states the figures, such as "the client"
	Stated     map[string]Stated // by metric key; a metric without an entry has only a value
	Notes      []string          // values that were not read, and facts that the reader must know
}

// Stated is what a file says about a figure besides its value.
type Stated struct {
	Reasons []results.Reason
	AtLeast bool    // the true value is at least the stated one
	Width   float64 // half the width of the stated interval; 0: none

	Provisional bool // the phase had not ended
}

// Apply adds what was stated to a figure.
func (s Stated) Apply(f *results.Figure) {
	for _, r := range s.Reasons {
		f.Reasons = append(f.Reasons, r)
		if r.Class == results.Invalid {
			f.Class, f.Invalid = results.Invalid, cmp.Or(f.Invalid, r.Text)
		}
	}
	f.Provisional = s.Provisional
	switch {
	case s.AtLeast:
		f.AtLeast, f.Low = true, f.Value
	case s.Width > 0 && f.Class != results.Invalid:
		f.Class, f.Low, f.High = results.Uncertain, f.Value-s.Width, f.Value+s.Width
	}
}

// File names a file and the set of figures in it.
type File struct {
	Path         string   // for messages
	Choice       string   // number (from 1) or name of the set; empty for the only one
	About        []string // allowed keys of the section "about"
	IsStatistics bool     // the name is that of a statistics file
}

// Parse reads the chosen set of figures. The format is determined by the content, not the file name.
func (f File) Parse(data []byte) (Set, error) {
	data = smallfile.TrimBOM(data)
	trimmed := bytes.TrimSpace(data)
	switch {
	case len(trimmed) == 0:
		return Set{}, f.fail(position{}, "is empty; it must hold figures under the keys of the client's statistics file")
	case trimmed[0] == '{':
		return f.parseJSON(data)
	}
	if tables := findTables(string(data)); len(tables) > 0 {
		return f.parseMarkdown(tables)
	}
	root, err := readYAML(data)
	if err != nil {
		return Set{}, f.failed(err)
	}
	if err := f.onlyChoice("a file of figures"); err != nil {
		return Set{}, err
	}
	return f.parseFigures(root)
}

func (f File) parseJSON(data []byte) (Set, error) {
	roots, err := readJSON(data)
	if err != nil {
		return Set{}, f.failed(err)
	}
	for _, root := range roots {
		if root.kind != mapping {
			return Set{}, f.fail(root.position, "is not a JSON object")
		}
	}
	if tool := toolOf(roots[0]); tool != nil {
		return f.parseExport(tool, roots)
	}
	if len(roots) > 1 {
		return Set{}, f.fail(roots[1].position,
			"data after the JSON object; only exports of benchmark tools may have several")
	}
	if err := f.onlyChoice("a file of figures"); err != nil {
		return Set{}, err
	}
	if f.IsStatistics || isStatistics(roots[0]) {
		return f.parseStatistics(roots[0], data)
	}
	return f.parseFigures(roots[0])
}

// isStatistics reports whether an object has all parts of the client's statistics file. Newer
// clients may add keys to it, so it is not checked like a file of figures.
func isStatistics(root node) bool {
	for _, key := range []string{
		"phase", "concurrency", "requests", "measurement_duration_s", "tokens_server", "throughput", "ttft_s",
	} {
		if root.get(key).kind == none {
			return false
		}
	}
	return root.get("about").kind == none
}

func (f File) parseStatistics(root node, data []byte) (Set, error) {
	set := Set{StatedBy: "the client", Statistics: data}
	for _, field := range root.get("about").fields {
		if err := f.readAbout(&set, field); err != nil {
			return Set{}, err
		}
	}
	return set, nil
}

// onlyChoice returns an error if a set other than the first is chosen in a file with a single one.
func (f File) onlyChoice(what string) error {
	if f.Choice == "" || f.Choice == "1" {
		return nil
	}
	return problem.Errorf(
		problem.FiguresAmbiguous,
		"%s: no set %q: %s has a single one; omit #%s",
		f.Path,
		f.Choice,
		what,
		f.Choice,
	)
}

// choose returns the index of the chosen set among those with the given names.
func (f File) choose(names []string, what string) (int, error) {
	if f.Choice == "" && len(names) == 1 {
		return 0, nil
	}
	if n, err := strconv.Atoi(f.Choice); err == nil && n >= 1 && n <= len(names) {
		return n - 1, nil
	}
	var available []string
	for i, name := range names {
		if f.Choice != "" && normalize(name) == normalize(f.Choice) {
			return i, nil
		}
		available = append(available, fmt.Sprintf("#%d %s", i+1, name))
	}
	found := "no set " + strconv.Quote(f.Choice)
	if f.Choice == "" {
		found = fmt.Sprintf("%d %s", len(names), what)
	}
	return 0, problem.Errorf(problem.FiguresAmbiguous,
		"%s: %s; append the number or the name of one, such as %s#1 (available: %s)",
		f.Path, found, f.Path, strings.Join(available, ", "))
}

// fail returns an error at a position of the file.
func (f File) fail(at position, format string, args ...any) error {
	return f.failed(&positionError{at, fmt.Sprintf(format, args...)})
}

// failed adds the path to an error.
func (f File) failed(err error) error {
	separator := ": "
	if e, ok := err.(*positionError); ok && e.at.line > 0 { //nolint:errorlint // made by this package, never wrapped
		separator = ":"
	}
	return problem.New(problem.FiguresInvalid, f.Path+separator+err.Error())
}

// positionError is an error at a position of a file.
type positionError struct {
	at   position
	text string
}

func (e *positionError) Error() string {
	if e.at.line == 0 {
		return e.text
	}
	return fmt.Sprintf("%d:%d: %s", e.at.line, e.at.column, e.text)
}

// errorAt returns an error at a position.
func errorAt(at position, format string, args ...any) error {
	return &positionError{at, fmt.Sprintf(format, args...)}
}
