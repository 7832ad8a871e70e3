// Package porter turns a harness run directory into a recipe, a workload file
// and a report that says where every single field came from.
//
// Artifacts give evidence, evidence gives fields, and everything that leaves the package (both YAML
// files, the provenance report, the list of open questions) is a view of the same fields. What
// can't be known is asked for, never guessed in silence. The package prints nothing, starts
// nothing, and knows neither the terminal nor the scheduler; given the same directory and options
// it produces the same bytes on any machine.
package porter

import (
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/proof"
)

// Evidence is one place in the run directory that a value rests on.
type Evidence = harness.Evidence

// Artifact is one file that a port looks for.
type Artifact = harness.Artifact

// Proof shows that a port loses nothing.
type Proof = proof.Proof

// ProofRow is a difference that the proof found, or several that are alike.
type ProofRow = proof.Row

// File says which of the two written files a field belongs to.
type File string

// The two files.
const (
	Recipe   File = "recipe"
	Workload File = "workload"
)

// Class says how much a field's value can be trusted.
type Class string

// The classes, from the firmest to the one that must be answered.
const (
	Copied     Class = "copied"     // as found
	Translated Class = "translated" // as found, changed by a named rule
	Inferred   Class = "inferred"   // concluded from what was found
	Default    Class = "default"    // fixed, or the fallback where nothing was found
	Guessed    Class = "guessed"    // can't be found in a run directory
	Missing    Class = "todo"       // placeholder
)

var classes = []Class{Copied, Translated, Inferred, Default, Guessed, Missing}

// Field is one leaf of a written file; a list counts as one leaf.
type Field struct {
	File    File   `json:"file"`
	Written string `json:"path"` // as the written file spells it
	// Path is dotted, in the spelling of schema 1; keys that hold a dot are quoted.
	Path  string `json:"canonical"`
	Value string `json:"value"` // YAML text of the value, on one line
	Class Class  `json:"class"`
	// Rule is the translation, inference or default that was applied; empty for a plain copy.
	Rule     string     `json:"rule,omitempty"`
	Why      string     `json:"why,omitempty"` // reason for the rule
	Evidence []Evidence `json:"evidence"`      // what the value rests on, most telling first

	base    string       // field of the schema table; empty in a workload
	written string       // its path, as the file is written
	sub     []*yaml.Node // keys below it
	node    *yaml.Node   // value, as it is written
}

// TodoKind ranks an open question.
type TodoKind string

// The kinds: a must-fix makes the recipe unusable, a confirm asks a person to
// look, a note tells what happened.
const (
	MustFix TodoKind = "must-fix"
	Confirm TodoKind = "confirm"
	Note    TodoKind = "note"
)

// Todo is an open question or a remark about the port.
type Todo struct {
	// ID is the same whenever the question comes up again: file:path, with
	// #topic where it does not ask for the field's value, or run#topic where no
	// field is concerned. Paths in it are those of schema 1, whatever is written.
	ID         string      `json:"id"`
	Kind       TodoKind    `json:"kind"`
	File       File        `json:"file,omitempty"` // empty where no written file is concerned
	Path       string      `json:"path,omitempty"` // as in [Field]; empty where no field is concerned
	Message    string      `json:"message"`        // one line: what is open and what to do
	Evidence   []Evidence  `json:"evidence,omitempty"`
	Candidates []Candidate `json:"candidates,omitempty"` // values that would answer it
}

// Candidate is a possible answer to a [Todo]. Size and Modified are those of a
// file; they are zero for other values.
type Candidate struct {
	Value    string    `json:"value"`
	Size     int64     `json:"size,omitempty"` // bytes
	Modified time.Time `json:"-"`              // depends on the machine
}

// Dropped is an input that was left out on purpose.
type Dropped struct {
	From     string   `json:"from"` // what it belonged to, such as "prefill environment"
	Name     string   `json:"name"`
	Rule     string   `json:"rule"`
	Why      string   `json:"why"`
	Evidence Evidence `json:"evidence"`
}

// Result is a finished port.
type Result struct {
	Source    string // last two elements of the run directory's path
	Schema    int    // recipe layout, 1 or 2
	Artifacts []Artifact
	Fields    []Field // recipe first, each file in the order in which it is written
	Dropped   []Dropped
	Proof     Proof
	Todos     []Todo   // open
	Answered  []Todo   // closed by one of the answers
	Answers   []Answer // all that were given, sorted by ID; some may fit no question
	Notices   []string // depend on this machine; meant for the screen, never stored

	// Datasets is the index in which the datasets were looked for, for another port
	// that is to look there again; nil if they were not looked for.
	Datasets     *Datasets
	DatasetNames []string // base names of the datasets, as far as an artifact names them

	recipe, workload []byte // rendered for the proof and the estimate; nil: not yet
}

// Summary counts the fields by class.
func (r *Result) Summary() map[Class]int {
	n := make(map[Class]int, len(classes))
	for _, f := range r.Fields {
		n[f.Class]++
	}
	return n
}

// SummaryLine is the summary in one line, classes in fixed order, zeros left out.
func (r *Result) SummaryLine() string {
	n := r.Summary()
	var parts []string
	for _, c := range classes {
		if n[c] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[c], c))
		}
	}
	return strings.TrimSuffix(fmt.Sprintf("%d fields: %s", len(r.Fields), strings.Join(parts, ", ")), ": ")
}

// CountOpen returns the number of open questions of a kind.
func (r *Result) CountOpen(kind TodoKind) int {
	n := 0
	for _, t := range r.Todos {
		if t.Kind == kind {
			n++
		}
	}
	return n
}
