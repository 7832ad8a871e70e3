// Package logline judges single lines of logs: how severe a line is, and which line of a log tells
// why its program failed. What is marked and searched for goes by errorWords, why a program failed by
// grave and likely. Patterns that end a run are those of its backend (recipes/backend).
package logline

import (
	"bytes"
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

var (
	// grave lines are hardly ever harmless, likely ones may be.
	grave = regexp.MustCompile(`(?i)out of ?memory|cuda error|nccl error|illegal memory access|` +
		`segmentation fault|\bfatal\b|terminate called|\bpanic:|core dumped|\baddress already in use\b`)
	likely = regexp.MustCompile(
		`(?i)\berror\b|[a-z]Error:|\bexception\b|\bfailed\b|\bassert|no such file|permission denied|not found`)
	// mild lines mention errors without being one.
	mild = regexp.MustCompile(`\b(INFO|DEBUG|TRACE)\b|(?i)\b(0|no) errors?\b`)
	// echo lines are what Slurm writes about a failure that has another cause.
	echo = regexp.MustCompile(`^(srun|slurmstepd)(-\S+)?: `)
)

const traceback = "Traceback (most recent call last)"

// Cause finds the line of a failed program's log that tells why: the first one that
// looks like a cause, since what follows it is mostly its consequence. Explains is
// false if there is none; line is then the last one, empty for an empty log.
func Cause(log []byte) (line string, explains bool) {
	likeliest, last, end := "", "", "" // last: of all but echoes; end: of all
	traced := false
	for l := range bytes.Lines(log) {
		raw := strings.ToValidUTF8(string(bytes.TrimRight(l, "\r\n")), "?")
		text := strings.TrimSpace(raw)
		if text == "" {
			continue
		}
		end = text
		if echo.MatchString(text) {
			continue
		}
		last = text
		switch {
		case strings.Contains(text, traceback):
			traced = true
		case traced && raw == text: // the exception stands where the indent ends
			return text, true
		case mild.MatchString(text):
		case grave.MatchString(text) && !traced:
			return text, true
		case likeliest == "" && likely.MatchString(text):
			likeliest = text
		}
	}
	switch {
	case likeliest != "":
		return likeliest, true
	case last != "":
		return last, false
	}
	return end, false
}
