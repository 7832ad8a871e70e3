package logview

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentperf/agentperf-tui/engine/logline"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// Line is one line of a log.
type Line struct {
	File       int    // index of the log in the view
	At         int64  // offset of its first byte
	Next       int64  // offset of the next line
	Text       string // cleaned text without secrets; at most the first 64 KiB of the line
	Cut        int64  // number of bytes of the line that are missing from Text
	Unfinished bool   // the line has no newline yet
	Continued  bool   // it continues the previous Line, see [NewFileView]

	raw string
}

// Severity returns the severity of the line.
func (l Line) Severity() logline.Severity { return logline.SeverityOf(l.Text) }

// LineOf makes a line from data that was read elsewhere, without offsets.
func LineOf(data []byte) Line {
	var l Line
	l.setText(data, int64(len(data)), false)
	return l
}

// Span converts a range of offsets in the file to indexes in Text. Both are 0 if from is
// outside the line. It is for lines of [NewFileView].
func (l Line) Span(from, to int64) (lo, hi int) {
	if from < l.At || from >= l.Next {
		return 0, 0
	}
	cut := func(at int64) int {
		head := l.raw[:min(at-l.At, int64(len(l.raw)))]
		n := min(len(safetext.Clean(head)), len(l.Text))
		for n < len(l.Text) && !utf8.RuneStart(l.Text[n]) {
			n--
		}
		return n
	}
	lo = cut(from)
	return lo, max(cut(max(to, from)), lo)
}

// Coloured returns the text with the colors of the log.
func (l Line) Coloured() string { return safetext.CleanKeepColors(l.raw) }

// setText sets the text of a line that has size bytes in the file. Unless all is true, it
// keeps only the text after the last carriage return.
func (l *Line) setText(data []byte, size int64, all bool) {
	if len(data) > maxText {
		data = data[:maxText]
	}
	l.Cut = size - int64(len(data))
	data = bytes.TrimRight(data, "\r")
	if i := bytes.LastIndexByte(data, '\r'); i >= 0 && l.Cut == 0 && !all {
		data = data[i+1:] // a progress bar: keep its last state
	}
	l.raw = secret.RedactText(string(data))
	l.Text = safetext.Clean(l.raw)
}

// Errors returns a matcher for the lines of severity Error.
func Errors() *Matcher {
	m := &Matcher{verify: func(text string) bool { return logline.SeverityOf(text) == logline.Error }}
	for _, w := range logline.ErrorWords() {
		m.needles = append(m.needles, needle{text: []byte(w)})
	}
	return m
}

// timestamp matches a time near the beginning of a line: ISO 8601 and similar formats, the
// month-first format of TensorRT-LLM, and the format of klog.
var timestamp = regexp.MustCompile(`^.{0,40}?(?:\b(\d{4})[-/](\d\d)[-/](\d\d)[T _]` +
	`|\b(\d\d)/(\d\d)/(\d{4})[-T ]|\b[IWEF](\d\d)(\d\d) +|(?:^|[[ (]))` +
	`(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?\b`)

// time returns the timestamp of a line, or false if it has none. Zone applies to timestamps
// without a time zone; day completes those without date or year.
func (l Line) time(zone *time.Location, day time.Time) (time.Time, bool) {
	s := l.Text
	m := timestamp.FindStringSubmatch(s[:min(len(s), 100)])
	if m == nil {
		return time.Time{}, false
	}
	num := func(i int) int {
		n, err := strconv.Atoi(m[i])
		if err != nil {
			return 0
		}
		return n
	}
	day = day.In(zone)
	year, month, date := day.Year(), int(day.Month()), day.Day()
	switch {
	case m[1] != "":
		year, month, date = num(1), num(2), num(3)
	case m[6] != "":
		year, month, date = num(6), num(4), num(5)
	case m[7] != "":
		month, date = num(7), num(8)
	}
	nanos, err := strconv.Atoi((m[12] + "000000000")[:9])
	if err != nil {
		return time.Time{}, false
	}
	switch z := m[13]; {
	case z == "Z":
		zone = time.UTC
	case z != "":
		sign := 1
		if z[0] == '-' {
			sign = -1
		}
		digits := strings.ReplaceAll(z[1:], ":", "")
		h, err1 := strconv.Atoi(digits[:2])
		mins, err2 := strconv.Atoi(digits[2:])
		if err1 != nil || err2 != nil {
			return time.Time{}, false
		}
		zone = time.FixedZone(z, sign*(3600*h+60*mins))
	}
	t := time.Date(year, time.Month(month), date, num(9), num(10), num(11), nanos, zone)
	if m[1] == "" && m[6] == "" && t.After(day.Add(time.Hour)) { // the line is from the previous day or year
		if m[7] != "" {
			return t.AddDate(-1, 0, 0), true
		}
		return t.AddDate(0, 0, -1), true
	}
	return t, true
}
