package harness

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Pinning is what the logs of the prefill workers show about CPU pinning; of an aggregated run, those of all
// workers.
type Pinning struct {
	Logs  []Evidence // logs that could be read
	Found Evidence   // zero if no log shows pinning
	Usual bool       // the logs were found by their usual names; no launch line names them
}

// WorkerLog is a log in the run directory that has the usual name of a worker's log.
type WorkerLog struct {
	Name  string
	Index int
}

// WorkerLogs returns the logs with the usual names of a role's workers.
func (r *Run) WorkerLogs(role schema.Role) []WorkerLog {
	var logs []WorkerLog
	for _, name := range r.names {
		of, index := workerLog(name)
		isLog := strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".log")
		if isLog && (of == role || of == schema.Decode && role == schema.Agg) {
			logs = append(logs, WorkerLog{name, index})
		}
	}
	return logs
}

// readPinning searches the logs that the launch lines of the workers name, or else those with the usual names.
func (r *Run) readPinning(ctx context.Context) error {
	role := r.Roles()[0]
	var logs []string
	for _, l := range r.Launches.Workers[role] {
		if name := path.Base(l.Log.Text); l.Log.Text != "" && r.Exists(name) && !slices.Contains(logs, name) {
			logs = append(logs, name)
		}
	}
	if len(logs) == 0 {
		for _, log := range r.WorkerLogs(role) {
			if name := strings.TrimSuffix(log.Name, ".gz"); !slices.Contains(logs, name) {
				logs = append(logs, name)
			}
		}
		r.Pinning.Usual = len(logs) > 0
	}
	for _, name := range logs {
		if err := r.readArtifact(ctx, name, name, r.parsePinning); err != nil {
			return err
		}
	}
	return nil
}

// parsePinning searches the first 4 MiB of a worker's log for taskset.
func (r *Run) parsePinning(ctx context.Context, f io.Reader, a *Artifact) error {
	const (
		limit = 4 << 20
		mark  = "taskset -c"
	)
	a.Found = "no CPU pinning"
	lr := newLineReader(io.LimitReader(f, limit), mark)
	err := lr.forEach(ctx, func(l rawLine) bool {
		text := validUTF8(l.text)
		at := max(strings.Index(text, mark), 0)
		if r.Pinning.Found.Artifact == "" {
			r.Pinning.Found = newEvidence(a.Name, l.number, text, "taskset", firstWords(text[at:], 3), at)
		}
		a.Found = fmt.Sprintf("CPU pinning on line %d", l.number)
		return false
	})
	a.Lines = lr.lines
	if err == nil {
		r.Pinning.Logs = append(r.Pinning.Logs, Evidence{Artifact: a.Name})
	}
	return err
}

func firstWords(s string, n int) string {
	f := strings.Fields(s)
	out := strings.Join(f[:min(n, len(f))], " ")
	return fmt.Sprintf("%.200s", out)
}
