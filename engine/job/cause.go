package job

import (
	"io"
	"os"

	"github.com/agentperf/agentperf-tui/engine/logline"
)

// causeBytes is how much of a log's end is looked through for why a step failed.
const causeBytes = 256 << 10

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
	line, explains := logline.Cause(log)
	switch {
	case line == "":
		return ""
	case explains:
		return "; its log says: " + shorten(line)
	}
	return "; its log ends: " + shorten(line)
}
