// Package porter converts a harness run directory to a recipe, a workload file and a report of
// where each field comes from.
//
// Each field is derived from evidence in the artifacts. Both YAML files, the provenance report and
// the list of open questions are written from the same fields. A value that is not found becomes
// a question. The same directory and options give the same bytes on any machine, unless a launch line names an engine
// config outside of the directory that exists on one of them. The package prints nothing and starts no process.
package porter

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/proof"
)

// Evidence is the place in a run directory where a value was found.
type Evidence = harness.Evidence

// Artifact is a file that a run directory may contain.
type Artifact = harness.Artifact

// ArtifactPath returns the path of an artifact by its name in evidence. An artifact outside of the run directory has an
// absolute path as its name.
func ArtifactPath(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// Proof compares the old launch lines with the plan of the new recipe.
type Proof = proof.Proof

// ProofLine is the account of a line in a [Proof].
type ProofLine = proof.Line

// ProofRow is one difference in a [Proof], or a group of similar ones.
type ProofRow = proof.Row

// File is one of the two written files.
type File string

// The two files.
const (
	Recipe   File = "recipe"
	Workload File = "workload"
)

// Class tells how a field's value was obtained.
type Class string

// The classes, from the most to the least reliable.
const (
	Copied     Class = "copied"     // as found
	Translated Class = "translated" // as found, changed by a named rule
	Inferred   Class = "inferred"   // derived from what was found
	Default    Class = "default"    // fixed, or a fallback because nothing was found
	Guessed    Class = "guessed"    // not recorded in a run directory
	Missing    Class = "todo"       // a placeholder, which must be replaced
)

var classes = []Class{Copied, Translated, Inferred, Default, Guessed, Missing}

// Field is one leaf of a written file. A list is one leaf.
type Field struct {
	File    File   `json:"file"`
	Written string `json:"path"` // path in the written file
	// Path is the dotted path in recipe layout 1. Keys that contain a dot are quoted.
	Path  string `json:"canonical"`
	Value string `json:"value"` // YAML text of the value, on one line
	Class Class  `json:"class"`
	// Rule is the translation, inference or default that was applied; empty for a copy.
	Rule     string     `json:"rule,omitempty"`
	Why      string     `json:"why,omitempty"` // reason for the rule
	Evidence []Evidence `json:"evidence"`      // of the value, the most relevant first

	base    string       // field of the schema table; empty in a workload
	written string       // its path in the written file
	sub     []*yaml.Node // keys below it
	node    *yaml.Node   // value, as written
}

// TodoKind is the kind of a [Todo].
type TodoKind string

// The kinds, from the most to the least urgent.
const (
	MustFix TodoKind = "must-fix" // the recipe can't be used until it is answered
	Confirm TodoKind = "confirm"  // a person should check the value
	Note    TodoKind = "note"     // a remark; nothing to answer
)

// Todo is an open question or a remark about the port.
type Todo struct {
	// ID is stable between ports: file:path for a question about a field's value, file:path#topic for
	// another question about a field, and run#topic otherwise. Paths are those of recipe layout 1.
	ID         string      `json:"id"`
	Kind       TodoKind    `json:"kind"`
	File       File        `json:"file,omitempty"`    // empty if it is not about a written file
	Path       string      `json:"path,omitempty"`    // as in [Field]; empty if it is not about a field
	Message    string      `json:"message"`           // one line: what was found and what to do
	Fields     []string    `json:"fields,omitempty"`  // all fields that the answer is about, if there are several
	Steps      []string    `json:"steps,omitempty"`   // launches that it is about, such as CTX 0
	Details    []string    `json:"details,omitempty"` // what was found, a line each: differences, or a map of nodes
	Evidence   []Evidence  `json:"evidence,omitempty"`
	Candidates []Candidate `json:"candidates,omitempty"` // possible answers
}

// Candidate is a possible answer to a [Todo]. Size and Modified are zero unless it is a file.
type Candidate struct {
	Value    string    `json:"value"`
	Size     int64     `json:"size,omitempty"`   // bytes
	SHA256   string    `json:"sha256,omitempty"` // only of candidates of the same size
	Modified time.Time `json:"-"`                // depends on the machine
}

// Dropped is an input that is not carried over.
type Dropped struct {
	From     string   `json:"from"` // what it was part of, such as roles.prefill.env
	Name     string   `json:"name"`
	Rule     string   `json:"rule"`
	Why      string   `json:"why"`
	Evidence Evidence `json:"evidence"`
}

// Result is the outcome of a port.
type Result struct {
	Source    string // last two elements of the run directory's path
	Schema    int    // recipe layout, 1 or 2
	Artifacts []Artifact
	Fields    []Field // of the recipe, then of the workload, in the order of the written files
	Dropped   []Dropped
	Proof     Proof
	Todos     []Todo   // open questions and notes
	Answered  []Todo   // questions closed by an answer
	Answers   []Answer // all given answers, sorted by ID; some may match no question
	Notices   []string // depend on this machine; shown, but not stored

	// Datasets is the index that was searched for the datasets; nil if there was no search. It can be
	// passed to another port.
	Datasets     *Datasets
	DatasetNames []string // base names of the datasets that an artifact names

	recipe, workload []byte // rendered files; nil until they are rendered
}

// Summary returns the number of fields of each class.
func (r *Result) Summary() map[Class]int {
	n := make(map[Class]int, len(classes))
	for _, f := range r.Fields {
		n[f.Class]++
	}
	return n
}

// SummaryLine returns the summary as one line, without classes that have no field.
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

// CanAccept reports whether a question can be answered without a value. A must-fix question about a
// placeholder can't.
func (r *Result) CanAccept(t Todo) bool {
	return t.Kind != MustFix || !slices.ContainsFunc(r.Fields, func(f Field) bool {
		return f.Class == Missing && f.File == t.File && slices.Contains(t.touched(), f.Path)
	})
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
