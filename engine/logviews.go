package engine

import (
	"context"
	"os"

	"github.com/agentperf/agentperf-tui/engine/logline"
	"github.com/agentperf/agentperf-tui/engine/logview"
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
	return logview.Watched(ctx, logview.NewFileView(path))
}
