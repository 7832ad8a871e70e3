package logline

import (
	"bytes"
	"regexp"
	"strings"
)

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
