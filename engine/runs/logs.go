package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// LogFile is a log of a run.
type LogFile struct {
	Step string `json:"step"` // name of the step, as given to agentperf-tui logs
	Path string `json:"path"`
}

// logDirs are the directories below the log directory that newer versions of srtctl write logs to. Older
// versions write all logs to the log directory itself.
var logDirs = []string{"", "workers", filepath.Join("services", "logs")}

// LogFiles lists the logs of a run, the client's first, the others by name. It also finds the
// logs of external runs.
func (s *Store) LogFiles(ref Ref) ([]LogFile, error) {
	var out []LogFile
	for _, dir := range logDirs {
		entries, err := os.ReadDir(filepath.Join(ref.Logs, dir))
		if dir != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list logs: %w", err)
		}
		for _, entry := range entries {
			if !entry.IsDir() {
				out = addLog(out, filepath.Join(ref.Logs, dir, entry.Name()))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b LogFile) int {
		if (a.Step == event.ClientStep) != (b.Step == event.ClientStep) {
			if a.Step == event.ClientStep {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Step, b.Step)
	})
	return out, nil
}

// addLog adds a file to the logs, if it is one.
func addLog(logs []LogFile, path string) []LogFile {
	name := filepath.Base(path)
	step, ok := stepOfLog(name)
	duplicate := slices.ContainsFunc(logs, func(f LogFile) bool { return f.Step == step })
	switch {
	case !ok || duplicate && step == event.ClientStep: // client.log is a link to benchmark.out
		return logs
	case duplicate: // a log of the same step on another node
		step = name
	}
	return append(logs, LogFile{Step: step, Path: path})
}

var (
	workerLog = regexp.MustCompile(`_(prefill|decode|agg)_w(\d+)(?:_e(\d+))?\.out$`)
	// earlierLife is the end of a log of a step before srtctl started it again.
	earlierLife = regexp.MustCompile(`\.out\.(\d+)$`)
	harnessLog  = regexp.MustCompile(`^\d_output_(.+)\.log$`)
)

// stepOfLog returns the step that a log file belongs to, by the file names of this program,
// srtctl and the harness. A log of an engine of several in a worker and one of an earlier life of a step
// are steps of their own, such as decode_0_e1 and decode_0.1.
func stepOfLog(name string) (string, bool) {
	if m := earlierLife.FindStringSubmatch(name); m != nil {
		step, ok := stepOfLog(strings.TrimSuffix(name, "."+m[1]))
		return step + "." + m[1], ok
	}
	switch {
	case name == "client.log", name == "benchmark.out":
		return event.ClientStep, true
	case strings.HasPrefix(name, "sweep_") && strings.HasSuffix(name, ".log"), name == "job.log":
		return "job", true
	}
	if m := workerLog.FindStringSubmatch(name); m != nil {
		step := m[1] + "_" + m[2]
		if m[3] != "" {
			step += "_e" + m[3]
		}
		return step, true
	}
	if m := harnessLog.FindStringSubmatch(name); m != nil {
		return m[1], true
	}
	if rest, ok := strings.CutSuffix(name, ".out"); ok {
		if i := strings.Index(rest, "_frontend_"); i >= 0 {
			return rest[i+1:], true
		}
		return strings.TrimPrefix(rest, "service_"), true
	}
	return "", false
}

// FindLog returns the log of a step; an empty step is the client. With planned it also returns a
// log that does not exist yet.
func (s *Store) FindLog(ref Ref, step string, planned bool) (LogFile, error) {
	if step == "" || step == "client.log" || step == "benchmark.out" {
		step = event.ClientStep
	}
	files, err := s.LogFiles(ref)
	if err != nil {
		return LogFile{}, err
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		if f.Step == step {
			return f, nil
		}
		names = append(names, f.Step)
	}
	if path := plannedLog(ref, step); planned && path != "" {
		return LogFile{Step: step, Path: path}, nil
	}
	if len(names) == 0 {
		return LogFile{}, problem.Errorf(problem.LogNotFound, "find log of %s: no log yet", ref.Label())
	}
	return LogFile{}, problem.Errorf(problem.LogNotFound, "find log of %s: no such step: %q (available: %s)",
		ref.Label(), step, strings.Join(names, ", "))
}

// plannedLog returns the path of the log of a step that has not started; empty if the plan has
// no such step.
func plannedLog(ref Ref, step string) string {
	var p plan.Plan
	if err := rundir.ReadPlan(ref.Dir, &p); err != nil {
		return ""
	}
	for _, s := range p.Steps {
		if s.Name == step {
			return filepath.Join(ref.Logs, s.Log)
		}
	}
	return ""
}
