package job

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// causeBytes is how much of a log's end is looked through for why a step failed.
const causeBytes = 256 << 10

var (
	// grave lines are hardly ever harmless, plain ones may be.
	grave = regexp.MustCompile(`(?i)out of ?memory|cuda error|nccl error|illegal memory access|segmentation fault|\bfatal\b|terminate called|\bpanic:|core dumped|\baddress already in use\b`)
	plain = regexp.MustCompile(`(?i)\berror\b|[a-z]Error:|\bexception\b|\bfailed\b|\bassert|no such file|permission denied|not found`)
	// mild lines speak of errors without being one.
	mild = regexp.MustCompile(`\b(INFO|DEBUG|TRACE)\b|(?i)\b(0|no) errors?\b`)
	// echoes are what Slurm says of an end that has another cause.
	echo = regexp.MustCompile(`^(srun|slurmstepd)(-\S+)?: `)
)

const traceback = "Traceback (most recent call last)"

// cause is what a step's log tells of its failure, as the end of a sentence: the
// first line that looks like why, for what follows it is mostly its consequence;
// else the last one. Empty for an empty log; a log that can't be read says so.
func cause(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "; its log: " + err.Error()
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "; its log: " + err.Error()
	}
	buf := make([]byte, min(info.Size(), causeBytes))
	n, err := f.ReadAt(buf, info.Size()-int64(len(buf)))
	if err != nil && err != io.EOF {
		return "; its log: " + err.Error()
	}
	return causeIn(buf[:n])
}

// causeIn looks through the text of a log.
func causeIn(log []byte) string {
	var first, last, end string // of the plain ones, of all but echoes, of all
	traced := false
	for line := range bytes.Lines(log) {
		raw := strings.ToValidUTF8(string(bytes.TrimRight(line, "\r\n")), "?")
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
		case traced && raw == text: // what was raised stands where the indent ends
			return says(text)
		case mild.MatchString(text):
		case grave.MatchString(text) && !traced:
			return says(text)
		case first == "" && plain.MatchString(text):
			first = text
		}
	}
	switch {
	case first != "":
		return says(first)
	case last != "":
		return "; its log ends: " + shorten(last)
	case end != "":
		return "; its log ends: " + shorten(end)
	}
	return ""
}

func says(line string) string { return fmt.Sprintf("; its log says: %s", shorten(line)) }
