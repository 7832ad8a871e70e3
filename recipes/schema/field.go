package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the type of a field's value.
type Kind string

// The kinds, as shown to users.
const (
	Str         Kind = "string"
	Int         Kind = "int" // whole number
	Float       Kind = "float"
	Bool        Kind = "bool"
	BoolOrStr   Kind = "bool or word"    // bool, or one of the field's allowed words
	BoolOrMap   Kind = "bool or map"     // the content of the map is not validated
	IntOrStr    Kind = "int or string"   // such as a rate of 4 or inf
	NodeCount   Kind = "int or colocate" // decode only
	StrMap      Kind = "map of strings"  // environment variables, options
	ListMap     Kind = "map of lists"
	FreeMap     Kind = "map" // passed on without validation: engine config, frontend flags
	StrList     Kind = "list of strings"
	Levels      Kind = `list of ints or "64x1010"` // concurrency levels
	IntList     Kind = "list of ints"
	FloatsOrStr Kind = "list of floats or string"
	Opaque      Kind = "any" // passed on without validation

	// A block is a mapping whose keys are fields of the table. Other keys are refused.
	Block       Kind = "mapping"
	WordOrBlock Kind = "word or mapping" // the word is short for a mapping with the key of [Field.Short]
	BlockList   Kind = "list of mappings"
	BlockOrList Kind = "mapping or list of mappings"
)

// IsBlock reports whether values of the kind are mappings whose keys are fields of the table,
// or lists of them.
func (k Kind) IsBlock() bool {
	return k == Block || k == WordOrBlock || k == BlockList || k == BlockOrList
}

// isList reports whether values of the kind are lists of blocks, or can be.
func (k Kind) isList() bool { return k == BlockList || k == BlockOrList }

// hasContent reports whether values of the kind have keys or entries that the table does not list.
func (k Kind) hasContent() bool {
	return k.IsBlock() ||
		slices.Contains([]Kind{StrMap, ListMap, FreeMap, BoolOrMap, Opaque, StrList, IntList, Levels, FloatsOrStr}, k)
}

// Format is a restriction of a text, or of each entry of a list of texts.
type Format string

// The formats, as shown to users.
const (
	NotBlank     Format = "not blank"
	AbsolutePath Format = "absolute path"
	SubPath      Format = "relative path without .."
	Pattern      Format = "regular expression"
	VariableName Format = "name of an environment variable"
	CommitID     Format = "4 to 40 hexadecimal digits"
)

// Field is one row of the table.
type Field struct {
	// V1 and V2 are the dotted paths in layouts 1 and 2; empty if the layout does not
	// have the field. A key of the mappings in a list follows list[], as in services[].name.
	// The canonical path is V1 or, if that is empty, V2: see [Field.Name].
	V1, V2      string
	Kind        Kind
	Required    bool // in its block, if the block is given or required
	Nullable    bool
	Strict      bool     // of a bool: words such as yes are refused
	Default     string   // as YAML text; empty: none
	Assumed     bool     // the default is not documented
	Enum        []string // allowed words; nil: any
	Min, Max    float64  `yaml:"-"` // smallest and largest number allowed, if HasMin or HasMax
	HasMin      bool     `yaml:"-"`
	HasMax      bool     `yaml:"-"`
	MinExcluded bool     `yaml:"-"` // Min itself is not allowed
	Format      Format
	Unit        string
	Short       string // of a [WordOrBlock]: the key that a word sets
	Like        string // path of the block whose keys this block has; empty: its own
	Switch      string // key of a block without which the block has no effect
	Doc         string // meaning; never empty
	Pitfall     string // what goes wrong with it; empty: none known

	// Engines, Frontends and Benchmarks name those that read the field; nil: all.
	Engines, Frontends, Benchmarks []string
	// NotApplied is the reason why plans of this program do not apply the field; empty: they
	// apply it. Figures is true if the figures of a run differ for that reason.
	NotApplied string `yaml:"not_applied"`
	Figures    bool
	// NotOurs says what the field is for if it does not concern a run of this program.
	NotOurs string `yaml:"not_ours"`
	// Rule is the rule of check that reports that the field is not applied; empty: the
	// general one.
	Rule string
	// Example is a value that differs from the default, as YAML text; empty if one follows
	// from the kind.
	Example string
}

// Use is what a plan of this program does with a field.
type Use string

// The uses, as shown to users.
const (
	Applied    Use = "applied"
	NotApplied Use = "not applied"
	NotOurs    Use = "not ours" // of another engine, frontend or benchmark, or without effect on a run
)

// Use returns what the plans of this program's own engine, frontend and benchmark do with the
// field, and the reason if they do not apply it.
func (f Field) Use() (use Use, reason string) { return f.UseFor(TRTLLM, Dynamo, AgentPerf) }

// UseFor is like Use for a recipe with other types.
func (f Field) UseFor(engine, frontend, benchmark string) (use Use, reason string) {
	for _, of := range []struct {
		what, is string
		readers  []string
	}{{"engine", engine, f.Engines}, {"frontend", frontend, f.Frontends}, {"benchmark", benchmark, f.Benchmarks}} {
		if len(of.readers) > 0 && !slices.Contains(of.readers, of.is) {
			return NotOurs, "only for " + of.what + " " + strings.Join(of.readers, ", ")
		}
	}
	switch {
	case f.NotOurs != "":
		return NotOurs, f.NotOurs
	case f.NotApplied != "":
		return NotApplied, f.NotApplied
	}
	return Applied, ""
}

// PortedWorkloadKeys is the number of workload keys that a port writes: the first ones of the table.
const PortedWorkloadKeys = 19

// Name returns the canonical path of the field.
func (f Field) Name() string {
	if f.V1 != "" {
		return f.V1
	}
	return f.V2
}

// Path returns the field's path in layout 1 or 2; empty if the layout does not have it.
func (f Field) Path(version int) string {
	if version == 2 {
		return f.V2
	}
	return f.V1
}

// Bound formats the bounds of a number as ≥ 1, > 0 or 1 to 65535; empty if there are none.
func (f Field) Bound() string {
	switch {
	case f.HasMin && f.HasMax && !f.MinExcluded:
		return fmt.Sprintf("%g to %g", f.Min, f.Max)
	case f.HasMax:
		return fmt.Sprintf("≤ %g", f.Max)
	case !f.HasMin:
		return ""
	case f.MinExcluded:
		return fmt.Sprintf("> %g", f.Min)
	}
	return fmt.Sprintf("≥ %g", f.Min)
}

// Allowed describes the allowed values: words, bounds or a format. It is empty if the kind
// says everything.
func (f Field) Allowed() string {
	switch {
	case len(f.Enum) > 0:
		return strings.Join(f.Enum, ", ")
	case f.Format != "":
		return string(f.Format)
	}
	return f.Bound()
}
