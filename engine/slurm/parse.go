package slurm

import (
	"strings"
	"time"
)

// timeLayout is how the commands print a time, in the cluster's local zone.
const timeLayout = "2006-01-02T15:04:05"

// instant reads a time; N/A, Unknown and the like are the zero time.
func parseTime(s string) time.Time {
	t, err := time.ParseInLocation(timeLayout, s, time.Local)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// field is the value of NAME=VALUE in a line of scontrol's.
func field(line, name string) string {
	for word := range strings.FieldsSeq(line) {
		if v, ok := strings.CutPrefix(word, name+"="); ok {
			return v
		}
	}
	return ""
}

// word is a field without Slurm's ways to say that there is nothing.
func noneAsEmpty(s string) string {
	switch s {
	case "None", "(null)", "N/A":
		return ""
	}
	return s
}
