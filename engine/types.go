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

// Types of [draft].
type (
	// Files names the input files of a run.
	Files = draft.Files
	// Pair is a loaded recipe with its workload and cluster file.
	Pair = draft.Pair
	// Draft is the text of a run's files in an editor.
	Draft = draft.Draft
	// Unsaved holds the unsaved changes to a file.
	Unsaved = draft.Unsaved
	// EditorCommand runs the user's own editor on a text.
	EditorCommand = draft.EditorCommand
)

// Types of [runs] and [watch].
type (
	// RunRef refers to a run that was found.
	RunRef = runs.Ref
	// Record describes a recorded run.
	Record = rundir.Record
	// Summary is one row of the list of runs.
	Summary = runs.Summary
	// LogFile is one log of a run.
	LogFile = runs.LogFile
	// Shell is a command line that opens a shell on the node of a step.
	Shell = runs.Shell
	// Update is one message of a watch.
	Update = watch.Update
	// WatchOptions are the options of a watch.
	WatchOptions = watch.Options
	// Playback replays a run that has ended.
	Playback = watch.Playback
)

// PlanOptions select the target and the size of a run, see [submit].
type PlanOptions = submit.PlanOptions

// Types of [parity].
type (
	// Comparison is the comparison of two sides, with a verdict.
	Comparison = parity.Comparison
	// ComparisonOptions are the options of a comparison.
	ComparisonOptions = parity.Options
	// ComparisonRow is one row of the table of a comparison.
	ComparisonRow = parity.Row
	// ComparisonPart is a metric of a row; a row has one or two.
	ComparisonPart = parity.Part
	// ComparisonColumn is a column of that table.
	ComparisonColumn = parity.Column
	// Side is one side of a comparison.
	Side = parity.Side
	// Pairing compares two sides request by request.
	Pairing = parity.Pairing
	// PairedRate compares the primary figure over the users of both sides.
	PairedRate = parity.PairedRate
	// Shift is the difference of candidate and reference over all pairs.
	Shift = parity.Shift
	// Distribution is the percentiles of both sides, for a chart.
	Distribution = parity.Distribution
)

// Verdicts of a comparison, and the phase number that stands for a side's only phase.
const (
	Within        = parity.Within
	Outside       = parity.Outside
	NotComparable = parity.NotComparable
	AnyPhase      = parity.AnyPhase
)

// Errors that screens handle: the files of a run are invalid; a file has changed on
// disk since it was read.
var (
	ErrInvalid = submit.ErrInvalid
	ErrChanged = draft.ErrChanged
)

// Types of [logview] and [logline].
type (
	// LogView reads pages of one or several logs.
	LogView = logview.View
	// LogPos is a position between two lines.
	LogPos = logview.Pos
	// LogLine is one log line.
	LogLine = logview.Line
	// LogIndex maps byte offsets to line numbers.
	LogIndex = logview.Index
	// LogQuery selects lines.
	LogQuery = logview.Query
	// LogMatcher decides whether a line matches.
	LogMatcher = logview.Matcher
	// LogGrowth reports that a log has grown.
	LogGrowth = logview.Growth
	// Severity is the severity of a log line.
	Severity = logline.Severity
)

// Severities of a log line.
const (
	DebugLine   = logline.Debug
	WarningLine = logline.Warning
	ErrorLine   = logline.Error
)

// MatchRegexp matches the lines in which a regular expression is found, see [logview.Regexp].
func MatchRegexp(expr string) (*LogMatcher, error) { return logview.Regexp(expr) }

// MatchErrors matches the lines of severity Error.
func MatchErrors() *LogMatcher { return logview.Errors() }

// FileView opens any file for viewing. The file must exist.
func FileView(ctx context.Context, path string) (*LogView, <-chan LogGrowth, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, nil, err
	}
	return logview.Watch(ctx, logview.NewFileView(path))
}
