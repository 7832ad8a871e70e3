package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/follow"
	"github.com/agentperf/agentperf-tui/recipes"
)

// Fact is one thing that [Engine.Doctor] found.
type Fact struct {
	What  string `json:"what"`
	Found string `json:"found"`
	Note  string `json:"note,omitempty"`
}

// toolTimeout bounds each look at another program.
const toolTimeout = 5 * time.Second

// Doctor says what this machine has and where a user's files lie. A thing that is
// missing is a fact, not an error.
func (e *Engine) Doctor(ctx context.Context) []Fact {
	const outputs = "run folders; --output-dir, output_dir of the configuration, or ./outputs"
	facts := []Fact{
		{What: "version", Found: e.opt.Version + " " + runtime.GOOS + "/" + runtime.GOARCH, Note: e.opt.Program},
		{What: "configuration", Found: e.Paths.Config, Note: presence(e.Paths.Config)},
		{What: "state", Found: e.Paths.State, Note: "records of known runs"},
		{What: "output dir", Found: e.Paths.Output, Note: outputs},
		e.clusterFile(),
		tool(ctx, "sbatch", "Slurm"),
		tool(ctx, "srtctl", "srt-slurm's own launcher"),
	}
	have, missing := e.Programs()
	for _, p := range have {
		facts = append(facts, Fact{What: p.Name, Found: p.Path})
	}
	const refused = "runs on such nodes are refused; make dist builds it, " +
		"programs_dir of the configuration says where it lies"
	for _, name := range missing {
		facts = append(facts, Fact{What: name, Found: "not found", Note: refused})
	}
	return append(facts, e.terminal(), fileSystem(e.Paths.Output), fileSystem(e.Paths.State))
}

func presence(path string) string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "not there: defaults hold"
	}
	return "in force"
}

func (e *Engine) clusterFile() Fact {
	f := Fact{What: "cluster file", Found: "none", Note: "$SRTSLURM_CONFIG, or srtslurm.yaml here or " +
		"up to two folders above"}
	dir, err := os.Getwd()
	if err == nil {
		var path string
		if path, err = recipes.FindCluster(dir, e.opt.Getenv); err == nil && path != "" {
			f.Found, f.Note = path, "in force"
			if abs, err := filepath.Abs(path); err == nil {
				f.Found = abs
			}
		}
	}
	if err != nil {
		f.Note = err.Error()
	}
	return f
}

func tool(ctx context.Context, name, note string) Fact {
	f := Fact{What: name, Found: "not found", Note: note}
	path, err := exec.LookPath(name)
	if err != nil {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	f.Found, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	f.Note = path
	if err != nil {
		f.Note = path + ": " + err.Error()
	}
	return f
}

func (e *Engine) terminal() Fact {
	var notes []string
	if e.opt.Getenv("NO_COLOR") != "" {
		notes = append(notes, "NO_COLOR is set: no colours")
	}
	if e.opt.Getenv("TMUX") != "" {
		notes = append(notes, "inside tmux")
	}
	return Fact{What: "terminal", Found: e.opt.Getenv("TERM"), Note: strings.Join(notes, " ")}
}

// fileSystem says how files below a path are followed; a path that is not there
// yet is judged by the folder above.
func fileSystem(path string) Fact {
	name, polled, err := follow.FileSystem(path)
	note := "inotify, and polling where it keeps silent"
	switch {
	case err != nil:
		name, note = "unknown", err.Error()
	case polled:
		note = "polling: no events for other nodes' writes"
	}
	return Fact{What: "files in " + path, Found: name, Note: note}
}
