package job

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// pollInterval is how often logs are checked for fatal lines.
const pollInterval = time.Second

// maxLineBytes is how much of a line is matched.
const maxLineBytes = 8 << 10

// watchLog searches the log of a step for fatal lines and sends the first one to found. It
// returns early if the step exits or ctx ends.
func watchLog(ctx context.Context, st *runningStep, log string, patterns []*regexp.Regexp, found chan<- fatalLine) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	t := &logTail{path: log}
	for {
		select {
		case <-ctx.Done():
			return
		case <-st.proc.Done():
			return // its exit is reported anyway
		case <-tick.C:
		}
		if line := t.firstMatch(patterns); line != "" {
			send(ctx, found, fatalLine{st: st, line: line})
			return
		}
	}
}

// fatalLine is a log line that means that a step has failed. If st is nil, line is the reason why
// the run has failed, not a log line.
type fatalLine struct {
	st   *runningStep
	line string
}

func compilePatterns(patterns []string) ([]*regexp.Regexp, error) {
	out := make([]*regexp.Regexp, 0, len(patterns))
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, problem.Errorf(problem.PlanInvalid, "compile fatal log pattern: %w", err)
		}
		out = append(out, re)
	}
	return out, nil
}

// logTail reads new lines of a growing log, in bounded memory.
type logTail struct {
	path    string
	offset  int64
	partial []byte // the incomplete last line
}

// firstMatch returns the first new line that matches a pattern, or an empty string. A
// missing or unreadable log is tried again on the next call.
func (t *logTail) firstMatch(patterns []*regexp.Regexp) string {
	f, err := os.Open(t.path)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(buf, t.offset)
		t.offset += int64(n)
		if line := t.feed(buf[:n], patterns); line != "" {
			return line
		}
		if err != nil || n == 0 {
			return ""
		}
	}
}

func (t *logTail) feed(data []byte, patterns []*regexp.Regexp) string {
	for len(data) > 0 {
		piece, more, complete := bytes.Cut(data, []byte("\n"))
		if room := maxLineBytes - len(t.partial); room > 0 {
			t.partial = append(t.partial, piece[:min(room, len(piece))]...)
		}
		data = more
		if !complete {
			return ""
		}
		line := t.partial
		t.partial = t.partial[:0]
		for _, re := range patterns {
			if re.Match(line) {
				return truncateLine(string(bytes.ToValidUTF8(bytes.TrimSpace(line), []byte("?"))))
			}
		}
	}
	return ""
}

// watchFatalLines starts the search for fatal lines in the log of a step.
func (j *orchestrator) watchFatalLines(st *runningStep) error {
	patterns, err := compilePatterns(st.step.Fatal)
	if err != nil || len(patterns) == 0 {
		return err
	}
	go watchLog(j.watchCtx, st, filepath.Join(j.LogDir, st.step.Log), patterns, j.fatalLines)
	return nil
}
