package recipes

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity is the severity of a diagnostic.
type Severity string

// An Error prevents a submission. A Warning does not. A Note is for information only.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Diagnostic is a finding about a file. The editor, the check command and submit show
// the same diagnostics.
type Diagnostic struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`   // from 1; 0 if the finding has no position
	Column   int      `json:"column"` // from 1
	Path     string   `json:"path"`   // dotted, as in the file
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // what was found and what is allowed
	Fix      string   `json:"fix,omitempty"`
	Edit     *Edit    `json:"edit,omitempty"` // the fix, if it can be applied automatically
	Rule     string   `json:"rule,omitempty"` // ID of the rule that found it; empty for syntax and structure
}

// String formats the diagnostic as compilers do: file:line:col: severity: path: message.
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

// Op is the operation of an edit.
type Op string

// The operations: set a value, remove an entry, rename a key.
const (
	OpSet    Op = "set"
	OpUnset  Op = "unset"
	OpRename Op = "rename"
)

// Edit is a change of a file that can be applied automatically.
type Edit struct {
	Op    Op     `json:"op"`
	Path  string `json:"path"`            // as in the file
	Value string `json:"value,omitempty"` // set: the value as YAML; rename: the new key
	// Safe edits keep the meaning of the file (quotes, letter case) and need no confirmation.
	Safe bool `json:"safe"`
}

// Set adds an edit that sets the field of the finding to a YAML value.
func (d *Diagnostic) Set(value string, safe bool) {
	d.Edit = &Edit{Op: OpSet, Path: d.Path, Value: value, Safe: safe}
}

// Unset adds an edit that removes the field of the finding.
func (d *Diagnostic) Unset(safe bool) { d.Edit = &Edit{Op: OpUnset, Path: d.Path, Safe: safe} }

// Diagnostics is a list of findings.
type Diagnostics []Diagnostic

// Errors returns the number of errors.
func (ds Diagnostics) Errors() int { return ds.count(Error) }

// Warnings returns the number of warnings.
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

// BySeverity returns the findings sorted by severity, errors first. The sort is stable.
func (ds Diagnostics) BySeverity() Diagnostics {
	out := slices.Clone(ds)
	slices.SortStableFunc(out, func(a, b Diagnostic) int { return a.Severity.rank() - b.Severity.rank() })
	return out
}

// rank orders severities, errors first.
func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Note}, s) }

// Sort sorts the findings by file, line and column.
func (ds Diagnostics) Sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// compact removes repetitions from sorted findings: a value behind aliases is read several times.
func (ds Diagnostics) compact() Diagnostics {
	return slices.CompactFunc(ds, func(a, b Diagnostic) bool { return a.String() == b.String() })
}

// SharedFinding is a finding of one recipe of a file, or of several.
type SharedFinding struct {
	Diagnostic       // of the first recipe
	Recipes    []int // indexes of the recipes
	Texts      int   // number of different messages: those about values of a sweep differ
}

// ShareFindings returns the findings of all recipes of a file, errors first. Findings of the same rule
// about the same place are one finding. each are the findings of each recipe.
func ShareFindings(each []Diagnostics) []SharedFinding {
	type place struct {
		file, path, rule string
		line, column, n  int // n counts the findings of one recipe at the place
		severity         Severity
	}
	index := map[place]int{}
	var all []SharedFinding
	var texts []map[string]bool
	for i, ds := range each {
		count := map[place]int{}
		for _, d := range ds {
			at := place{file: d.File, path: d.Path, rule: d.Rule, line: d.Line, column: d.Column, severity: d.Severity}
			count[at]++
			at.n = count[at]
			k, ok := index[at]
			if !ok {
				k = len(all)
				index[at] = k
				all, texts = append(all, SharedFinding{Diagnostic: d}), append(texts, map[string]bool{})
			}
			all[k].Recipes = append(all[k].Recipes, i)
			texts[k][d.Message] = true
			all[k].Texts = len(texts[k])
		}
	}
	slices.SortStableFunc(all, func(a, b SharedFinding) int {
		return cmp.Or(cmp.Compare(a.Severity.rank(), b.Severity.rank()), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// Rule describes a pitfall of recipes and its fix. Rules with an ID are checked before a
// submit.
type Rule struct {
	ID       string   // as in [Diagnostic]; empty if it can't be checked before a run
	Number   int      // in the table of pitfalls in REFERENCE.md; rules for one pitfall share it; 0: not listed
	Severity Severity // of its findings; the highest if they differ
	Area     string   // field or part of the run
	Pitfall  string   `json:"Bites"`
	Fix      string   `json:"Right"`
	Unknown  string   // why it can't be checked before a run
}
