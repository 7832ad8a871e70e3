package engine

import (
	"context"
	"os"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/logline"
	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/engine/submit"
	"github.com/agentperf/agentperf-tui/engine/watch"
)

// What is edited, see [draft].
type (
	// Files names what a user gives for a run.
	Files = draft.Files
	// Pair is a loaded recipe with what belongs to it.
	Pair = draft.Pair
	// Draft is the files of a run as they stand in an editor.
	Draft = draft.Draft
	// Unsaved is what was typed into a file and not saved.
	Unsaved = draft.Unsaved
	// EditorCommand is a text in the hands of the user's own editor.
	EditorCommand = draft.EditorCommand
)

// Runs, see [runs], and what is told of them, see [watch].
type (
	// RunRef is a run that was found.
	RunRef = runs.Ref
	// Record says what a run is.
	Record = rundir.Record
	// Summary is one line of the list of runs.
	Summary = runs.Summary
	// LogFile is one log of a run.
	LogFile = runs.LogFile
	// Shell is a command line that opens a shell beside a step.
	Shell = runs.Shell
	// Update is what a watcher is told.
	Update = watch.Update
	// WatchOptions say how closely to watch.
	WatchOptions = watch.Options
	// Playback is a run that has ended, told again.
	Playback = watch.Playback
)

// PlanOptions say where and how large a run is to be, see [submit].
type PlanOptions = submit.PlanOptions

// Comparisons, see [parity].
type (
	// Comparison is two sides with a verdict.
	Comparison = parity.Comparison
	// ComparisonOptions say how to compare.
	ComparisonOptions = parity.Options
	// ComparisonRow is one line of the table.
	ComparisonRow = parity.Row
	// ComparisonPart is the number behind a row, or one of the two.
	ComparisonPart = parity.Part
	// ComparisonColumn is what is compared, as the header names it.
	ComparisonColumn = parity.Column
	// Side is one side.
	Side = parity.Side
	// Pairing is two sides request by request.
	Pairing = parity.Pairing
	// Shift is the candidate's value minus the reference's over all pairs.
	Shift = parity.Shift
	// Distribution is percentiles of both sides, for a drawing.
	Distribution = parity.Distribution
)

// Verdicts of a comparison, and the phase to compare where each side has one alone.
const (
	Within        = parity.Within
	Outside       = parity.Outside
	NotComparable = parity.NotComparable
	AnyPhase      = parity.AnyPhase
)

// Errors by which a screen decides: the files of a run have errors; a file is no
// longer what it was when it was read.
var (
	ErrInvalid = submit.ErrInvalid
	ErrChanged = draft.ErrChanged
)

// Logs as a viewer sees them, see [logview].
type (
	// LogView is a window on logs.
	LogView = logview.View
	// LogPos is a place between two lines.
	LogPos = logview.Pos
	// LogLine is one line.
	LogLine = logview.Line
	// LogIndex knows the numbers of their lines.
	LogIndex = logview.Index
	// LogQuery asks for lines.
	LogQuery = logview.Query
	// LogMatcher tells which lines are asked for.
	LogMatcher = logview.Matcher
	// LogGrowth tells that one has grown.
	LogGrowth = logview.Growth
	// Severity is how bad a line is.
	Severity = logline.Severity
)

// The severities of a line.
const (
	DebugLine   = logline.Debug
	WarningLine = logline.Warning
	ErrorLine   = logline.Error
)

// MatchRegexp matches the lines in which a regular expression is found, see [logview.Regexp].
func MatchRegexp(expr string) (*LogMatcher, error) { return logview.Regexp(expr) }

// MatchErrors matches the lines that tell of an error.
func MatchErrors() *LogMatcher { return logview.Errors() }

// FileView opens a file of any kind for looking at it, as LogView opens logs. The file must exist.
func FileView(ctx context.Context, path string) (*LogView, <-chan LogGrowth, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, nil, err
	}
	return logview.Watch(ctx, logview.NewFileView(path))
}
