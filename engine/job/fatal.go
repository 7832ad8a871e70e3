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

// markerEvery is how often logs are looked at for fatal lines.
const markerEvery = time.Second

// longestLine is how much of a line is looked at.
const longestLine = 8 << 10

// watchLogs looks for fatal lines in the log of a step until one comes, the step
// ends or ctx does; the line goes to found.
func watchLogs(ctx context.Context, st *started, log string, patterns []*regexp.Regexp, found chan<- fatalLine) {
	tick := time.NewTicker(markerEvery)
	defer tick.Stop()
	t := &tail{path: log}
	for {
		select {
		case <-ctx.Done():
			return
		case <-st.proc.Done():
			return // its exit is told anyway
		case <-tick.C:
		}
		if line := t.first(patterns); line != "" {
			send(ctx, found, fatalLine{st: st, line: line})
			return
		}
	}
}

// fatalLine is a line that means that a step's work is over, or, without a step, that the run is.
type fatalLine struct {
	st   *started
	line string
}

func compile(patterns []string) ([]*regexp.Regexp, error) {
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

// tail reads what a log has grown by, in bounded memory.
type tail struct {
	path string
	at   int64
	rest []byte // of a line that is not whole yet
}

// first is the first new line that a pattern matches; empty if none does. A log
// that is not there yet, or can't be read at this moment, is looked at again.
func (t *tail) first(patterns []*regexp.Regexp) string {
	f, err := os.Open(t.path)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(buf, t.at)
		t.at += int64(n)
		if line := t.feed(buf[:n], patterns); line != "" {
			return line
		}
		if err != nil || n == 0 {
			return ""
		}
	}
}

func (t *tail) feed(data []byte, patterns []*regexp.Regexp) string {
	for len(data) > 0 {
		piece, more, whole := bytes.Cut(data, []byte("\n"))
		if room := longestLine - len(t.rest); room > 0 {
			t.rest = append(t.rest, piece[:min(room, len(piece))]...)
		}
		data = more
		if !whole {
			return ""
		}
		line := t.rest
		t.rest = t.rest[:0]
		for _, re := range patterns {
			if re.Match(line) {
				return shorten(string(bytes.ToValidUTF8(bytes.TrimSpace(line), []byte("?"))))
			}
		}
	}
	return ""
}

// lookAt starts to look for a step's fatal lines.
func (j *run) lookAt(st *started) error {
	patterns, err := compile(st.step.Fatal)
	if err != nil || len(patterns) == 0 {
		return err
	}
	go watchLogs(j.watching, st, filepath.Join(j.LogDir, st.step.Log), patterns, j.fatal)
	return nil
}
