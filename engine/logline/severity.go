// Package logline judges single lines of logs: how severe a line is, and which line of a log tells
// why its program failed. Every word that stands for an error is in this package, so that what is
// marked, searched for and reported agrees. It reads no file.
package logline

import (
	"regexp"
	"slices"
	"strings"
)

// Severity is how much a line matters.
type Severity int

// The severities.
const (
	Plain Severity = iota
	Debug
	Warning
	Error
)

// errorWords are what loggers and tools write about an error, in the case that they use.
var errorWords = []string{
	"ERROR", "CRITICAL", "FATAL", "Traceback", "Error:", "Exception:", "panic:", "✗",
	": error:", "fatal:", "fatal error", "address already in use",
}

// DiskFull is what the system says when a disk has no room left. Loggers write it
// without a word of [ErrorWords].
const DiskFull = "no space left on device"

// ErrorWords are texts of which every line of severity Error has at least one.
func ErrorWords() []string { return slices.Clone(errorWords) }

// namedLevel is a level that a line names near its beginning. It counts more than
// a word of the message.
var namedLevel = regexp.MustCompile(
	`^.{0,80}?\b(?:(DEBUG|TRACE)|(INFO|NOTICE)|(WARN|WARNING)|(ERROR|CRITICAL|FATAL))\b`)

// SeverityOf is the severity of a line's text.
func SeverityOf(text string) Severity {
	// Most lines have none of the letters that namedLevel needs: they are cheap.
	if !strings.ContainsAny(text[:min(len(text), 100)], "DTINWEF") && !strings.Contains(text, "rror") {
		return byWords(text)
	}
	m := namedLevel.FindStringSubmatchIndex(text)
	switch {
	case m == nil:
		return byWords(text)
	case m[2] >= 0:
		return Debug
	case m[4] >= 0:
		return Plain
	case m[6] >= 0:
		return Warning
	}
	return Error
}

func byWords(text string) Severity {
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
