// Package logline classifies log lines: the severity of a line, and the line of a log that explains
// why its program failed. The severity is based on errorWords, the cause of a failure on
// certainCause and likelyCause. The patterns that end a run are in recipes/backend.
package logline

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Severity is the severity of a log line.
type Severity int

// The severities, from the lowest to the highest.
const (
	Plain Severity = iota
	Debug
	Warning
	Error
)

// errorWords are the words that loggers and tools write for an error, case-sensitive.
var errorWords = []string{
	"ERROR", "CRITICAL", "FATAL", "Traceback", "Error:", "Exception:", "panic:", "✗",
	": error:", "fatal:", "fatal error", "address already in use",
}

// DiskFull is the error message of a full disk. Loggers write it without any of [ErrorWords].
const DiskFull = "no space left on device"

// ErrorWords returns words of which every line of severity Error contains at least one.
func ErrorWords() []string { return slices.Clone(errorWords) }

// namedSeverity matches a severity near the beginning of a line. It takes precedence over the
// words of the message.
var namedSeverity = lazy(`^.{0,80}?\b(?:(DEBUG|TRACE)|(INFO|NOTICE)|(WARN|WARNING)|(ERROR|CRITICAL|FATAL))\b`)

// lazy returns a function that compiles an expression when it is first called. Most commands use none.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// SeverityOf returns the severity of a line.
func SeverityOf(text string) Severity {
	// Skip the regular expression for lines without the letters that it needs.
	if !strings.ContainsAny(text[:min(len(text), 100)], "DTINWEF") && !strings.Contains(text, "rror") {
		return severityByWords(text)
	}
	m := namedSeverity().FindStringSubmatchIndex(text)
	switch {
	case m == nil:
		return severityByWords(text)
	case m[2] >= 0:
		return Debug
	case m[4] >= 0:
		return Plain
	case m[6] >= 0:
		return Warning
	}
	return Error
}

func severityByWords(text string) Severity {
	for _, w := range errorWords {
		if strings.Contains(text, w) {
			return Error
		}
	}
	if strings.Contains(text, "WARN") {
		return Warning
	}
	return Plain
}

var (
	// certainCause lines are almost always a cause; likelyCause lines may be harmless.
	certainCause = lazy(`(?i)out of ?memory|cuda error|nccl error|illegal memory access|` +
		`segmentation fault|\bfatal\b|terminate called|\bpanic:|core dumped|\baddress already in use\b`)
	likelyCause = lazy(
		`(?i)\berror\b|[a-z]Error:|\bexception\b|\bfailed\b|\bassert|no such file|permission denied|not found`)
	// harmless lines mention errors but report none.
	harmless = lazy(`\b(INFO|DEBUG|TRACE)\b|(?i)\b(0|no) errors?\b`)
	// slurmEcho lines are Slurm's reports of a failure that has another cause.
	slurmEcho = lazy(`^(srun|slurmstepd)(-\S+)?: `)
)

const traceback = "Traceback (most recent call last)"

// Cause returns the line of a failed program's log that explains the failure: the first one
// that looks like a cause, because later errors are mostly consequences. If there is none,
// explains is false and line is the last line, or empty for an empty log.
func Cause(log []byte) (line string, explains bool) {
	firstLikely, last, lastOfAll := "", "", "" // last: last line that is not an echo
	inTraceback := false
	for l := range bytes.Lines(log) {
		raw := strings.ToValidUTF8(string(bytes.TrimRight(l, "\r\n")), "?")
		text := strings.TrimSpace(raw)
		if text == "" {
			continue
		}
		lastOfAll = text
		if slurmEcho().MatchString(text) {
			continue
		}
		last = text
		switch {
		case strings.Contains(text, traceback):
			inTraceback = true
		case inTraceback && raw == text: // the exception follows the indented part
			return text, true
		case harmless().MatchString(text):
		case certainCause().MatchString(text) && !inTraceback:
			return text, true
		case firstLikely == "" && likelyCause().MatchString(text):
			firstLikely = text
		}
	}
	switch {
	case firstLikely != "":
		return firstLikely, true
	case last != "":
		return last, false
	}
	return lastOfAll, false
}
