package recipes

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says what a diagnostic means for a run.
type Severity string

// An Error stops a submit, a Warning does not, a Note only informs.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Diagnostic is one finding about a file that a user wrote. Editor gutter,
// check command and submit gate show the same list.
type Diagnostic struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`   // from 1; 0 when the finding has no place
	Column   int      `json:"column"` // from 1
	Path     string   `json:"path"`   // dotted, in the spelling of the user's file
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // what was found, and what is allowed
	Fix      string   `json:"fix,omitempty"`
	Edit     *Edit    `json:"edit,omitempty"` // the fix, where a program can make it
	Rule     string   `json:"rule,omitempty"` // which rule found it; empty for the shape of the file
}

// String is the diagnostic as compilers print theirs: file:line:col: severity: path: message.
func (d Diagnostic) String() string {
	s := d.File
	if d.Line > 0 {
		s += fmt.Sprintf(":%d:%d", d.Line, d.Column)
	}
	s += ": " + string(d.Severity) + ": "
	if d.Path != "" {
		s += d.Path + ": "
	}
	return s + d.Message
}

// Op is what an edit does.
type Op string

// The operations: give a value, remove an entry, give a key another name.
const (
	OpSet    Op = "set"
	OpUnset  Op = "unset"
	OpRename Op = "rename"
)

// Edit is one change of a file, as a program can make it.
type Edit struct {
	Op    Op     `json:"op"`
	Path  string `json:"path"`            // in the spelling of the file
	Value string `json:"value,omitempty"` // set: YAML text; rename: the key
	// Safe edits say what the file meant to say anyway (quotes, letter case), so
	// that nobody needs to be asked; the others are a choice.
	Safe bool `json:"safe"`
}

// Set offers an edit that gives the finding's own field a value, as YAML text.
func (d *Diagnostic) Set(value string, safe bool) {
	d.Edit = &Edit{Op: OpSet, Path: d.Path, Value: value, Safe: safe}
}

// Unset offers an edit that removes the finding's own field.
func (d *Diagnostic) Unset(safe bool) { d.Edit = &Edit{Op: OpUnset, Path: d.Path, Safe: safe} }

// Diagnostics is a list of findings.
type Diagnostics []Diagnostic

// Errors counts the findings that stop a submit.
func (ds Diagnostics) Errors() int { return ds.count(Error) }

// Warnings counts the findings that a user should look at.
func (ds Diagnostics) Warnings() int { return ds.count(Warning) }

func (ds Diagnostics) count(s Severity) int {
	n := 0
	for _, d := range ds {
		if d.Severity == s {
			n++
		}
	}
	return n
}

// BySeverity is the findings with the worst first, those of one severity in their order.
func (ds Diagnostics) BySeverity() Diagnostics {
	rank := []Severity{Error, Warning, Note}
	out := slices.Clone(ds)
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return slices.Index(rank, a.Severity) - slices.Index(rank, b.Severity)
	})
	return out
}

// Sort orders findings by file and place, so that two checks of one file print the same list.
func (ds Diagnostics) Sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Rule is one thing that goes wrong with recipes: the pitfall, and the fix.
// Those with an ID are found before anything is submitted.
type Rule struct {
	ID       string   // as in [Diagnostic]; empty: it can't be known before
	Number   int      // in the reference's table; rules of one number are one pitfall; 0: none
	Severity Severity // that it is reported with, or the highest of several
	Area     string   // field or part of the run
	Pitfall  string   `json:"Bites"`
	Fix      string   `json:"Right"`
	Unknown  string   // why it can't be known before
}
