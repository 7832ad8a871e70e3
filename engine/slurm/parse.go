package slurm

import (
	"strings"
	"time"
)

// timeLayout is the time format of Slurm commands, in local time.
const timeLayout = "2006-01-02T15:04:05"

// parseTime parses a time. It returns the zero time for N/A, Unknown and the like.
func parseTime(s string) time.Time {
	t, err := time.ParseInLocation(timeLayout, s, time.Local)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// field returns the value of NAME=VALUE in a line of scontrol output.
func field(line, name string) string {
	for word := range strings.FieldsSeq(line) {
		if v, ok := strings.CutPrefix(word, name+"="); ok {
			return v
		}
	}
	return ""
}

// noneAsEmpty returns s, or the empty string if s is one of Slurm's words for an unset field.
func noneAsEmpty(s string) string {
	switch s {
	case "None", "(null)", "N/A":
		return ""
	}
	return s
}
