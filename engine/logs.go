package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/follow"
	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
)

// LogFile is one log of a run.
type LogFile struct {
	Step string `json:"step"` // as a user names it
	Path string `json:"path"`
}

// LogFiles lists a run's logs: the client's first, then the rest by name. Other
// tools' folders have theirs too.
func (e *Engine) LogFiles(l Located) ([]LogFile, error) {
	entries, err := os.ReadDir(l.Logs)
	if err != nil {
		return nil, fmt.Errorf("list logs: %w", err)
	}
	var out []LogFile
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() {
			continue
		}
		step, ok := stepOf(name)
		again := slices.ContainsFunc(out, func(f LogFile) bool { return f.Step == step })
		switch {
		case !ok || again && step == "client": // client.log is a link to benchmark.out
			continue
		case again: // of another node, say
			step = name
		}
		out = append(out, LogFile{Step: step, Path: filepath.Join(l.Logs, name)})
	}
	slices.SortStableFunc(out, func(a, b LogFile) int {
		if (a.Step == "client") != (b.Step == "client") {
			if a.Step == "client" {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Step, b.Step)
	})
	return out, nil
}

var (
	workerLog  = regexp.MustCompile(`_(prefill|decode|agg)_w(\d+)\.out$`)
	harnessLog = regexp.MustCompile(`^\d_output_(.+)\.log$`)
)

// stepOf names the step that a log file belongs to, in all tools' naming.
func stepOf(name string) (string, bool) {
	switch {
	case name == "client.log", name == "benchmark.out":
		return "client", true
	case strings.HasPrefix(name, "sweep_") && strings.HasSuffix(name, ".log"), name == "job.log":
		return "job", true
	}
	if m := workerLog.FindStringSubmatch(name); m != nil {
		return m[1] + "_" + m[2], true
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

// LogOf finds a step's log; empty is the client. Planned takes one that is not
// there yet too.
func (e *Engine) LogOf(l Located, step string, planned bool) (LogFile, error) {
	if step == "" || step == "client.log" || step == "benchmark.out" {
		step = "client"
	}
	files, err := e.LogFiles(l)
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
	if path := e.plannedLog(l, step); planned && path != "" {
		return LogFile{Step: step, Path: path}, nil
	}
	if len(names) == 0 {
		return LogFile{}, fmt.Errorf("log of %s: there is no log yet", l.Label())
	}
	return LogFile{}, fmt.Errorf("log of %s: no step %q; there are %s", l.Label(), step, strings.Join(names, ", "))
}

// FollowLog streams the lines of a log from a byte on, until the run has ended or
// ctx is done; a state that is not known is waited out. The channel is closed at
// the end.
func (e *Engine) FollowLog(ctx context.Context, l Located, path string, from int64) (<-chan follow.Chunk, error) {
	stop := make(chan struct{})
	chunks, err := follow.File(ctx, path, follow.Options{From: from, Stop: stop, Rest: true})
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(stop)
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if s, err := readStatus(l.Logs); err == nil && e.logEnded(l, e.judge(l, s), path) {
				return
			}
		}
	}()
	return chunks, nil
}

// LogView opens logs for looking at them: one, or several merged by time. The
// channel tells when one grows, until ctx ends.
func (e *Engine) LogView(ctx context.Context, paths ...string) (*logview.View, <-chan logview.Growth, error) {
	v := logview.NewView(time.Local, paths...)
	end, err := v.End()
	if err != nil {
		v.Close()
		return nil, nil, err
	}
	grown, err := v.Watch(ctx, end)
	if err != nil {
		v.Close()
	}
	return v, grown, err
}

// lookEvery is how often a followed log asks whether its run has ended.
const lookEvery = 2 * time.Second

// logEnded says that nothing more comes to a log: its run has ended or, in another
// tool's folder, neither it nor the requests have grown for a while.
func (e *Engine) logEnded(l Located, s event.Status, path string) bool {
	if l.Record.ID != "" {
		return e.over(l, s, true)
	}
	for _, p := range []string{path, filepath.Join(l.Logs, "agentperf", results.RequestsFile)} {
		if info, err := os.Stat(p); err == nil && e.now().Sub(info.ModTime()) <= quiet {
			return false
		}
	}
	return true
}

// plannedLog is the log of a step that has not started yet; empty if the plan has
// no such step.
func (e *Engine) plannedLog(l Located, step string) string {
	var p plan.Plan
	if err := rundir.ReadPlan(l.Dir, &p); err != nil {
		return ""
	}
	for _, s := range p.Steps {
		if s.Name == step {
			return filepath.Join(l.Logs, s.Log)
		}
	}
	return ""
}
