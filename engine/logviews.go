package engine

import (
	"context"
	"os"

	"github.com/agentperf/agentperf-tui/engine/logline"
	"github.com/agentperf/agentperf-tui/engine/logview"
)

// A log as a viewer sees it; see [logview] for what they do.
type (
	LogView    = logview.View
	LogPos     = logview.Pos
	LogLine    = logview.Line
	LogIndex   = logview.Index
	LogQuery   = logview.Query
	LogMatcher = logview.Matcher
	LogGrowth  = logview.Growth
	Severity   = logline.Severity
)

// The severities of a line.
const (
	PlainLine   = logline.Plain
	DebugLine   = logline.Debug
	WarningLine = logline.Warning
	ErrorLine   = logline.Error
)

// MatchRegexp matches the lines in which a regular expression is found, see
// [logview.Regexp].
func MatchRegexp(expr string) (*LogMatcher, error) { return logview.Regexp(expr) }

// MatchErrors matches the lines that tell of an error.
func MatchErrors() *LogMatcher { return logview.Errors() }

// MatchBoth matches the lines that a and b match; each may be nil.
func MatchBoth(a, b *LogMatcher) *LogMatcher { return logview.Both(a, b) }

// LogPartAt is where the part of a long line begins that holds a byte, see
// [logview.PartAt].
func LogPartAt(line, at int64) int64 { return logview.PartAt(line, at) }

// FileView opens a file of any kind for looking at it, as LogView opens logs. The file must exist.
func FileView(ctx context.Context, path string) (*LogView, <-chan LogGrowth, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, nil, err
	}
	return logview.Watched(ctx, logview.NewFileView(path))
}
