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

// Fact is one line of the report of [Engine.Doctor].
type Fact struct {
	What  string `json:"what"`
	Found string `json:"found"`
	Note  string `json:"note,omitempty"`
}

// toolTimeout limits each call of another program.
const toolTimeout = 5 * time.Second

// Doctor reports the tools of this machine and the paths of the user's files. A
// missing tool or file is a fact, not an error.
func (e *Engine) Doctor(ctx context.Context) []Fact {
	const outputs = "run directories; set by --output-dir or output_dir in the configuration, default ./outputs"
	facts := []Fact{
		{What: "version", Found: e.opt.Version + " " + runtime.GOOS + "/" + runtime.GOARCH, Note: e.opt.Program},
		{What: "configuration", Found: e.Paths.Config, Note: configNote(e.Paths.Config)},
		{What: "state", Found: e.Paths.State, Note: "recorded runs"},
		{What: "output dir", Found: e.Paths.Output, Note: outputs},
		e.clusterFileFact(),
		toolFact(ctx, "sbatch", "Slurm"),
		toolFact(ctx, "srtctl", "srt-slurm's own launcher"),
	}
	have, missing := e.Programs()
	for _, p := range have {
		facts = append(facts, Fact{What: p.Name, Found: p.Path})
	}
	const buildNote = "needed for nodes of this architecture; run make dist to build it, " +
		"and set programs_dir in the configuration"
	for _, name := range missing {
		facts = append(facts, Fact{What: name, Found: "not found", Note: buildNote})
	}
	return append(facts, e.terminalFact(), fileSystemFact(e.Paths.Output), fileSystemFact(e.Paths.State))
}

func configNote(path string) string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "not found, using defaults"
	}
	return "in use"
}

func (e *Engine) clusterFileFact() Fact {
	f := Fact{What: "cluster file", Found: "none", Note: "set by $SRTSLURM_CONFIG, or srtslurm.yaml in this " +
		"directory or up to two directories above"}
	dir, err := os.Getwd()
	if err == nil {
		var path string
		if path, err = recipes.FindCluster(dir, e.opt.Getenv); err == nil && path != "" {
			f.Found, f.Note = path, "in use"
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

func toolFact(ctx context.Context, name, note string) Fact {
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

func (e *Engine) terminalFact() Fact {
	var notes []string
	if e.opt.Getenv("NO_COLOR") != "" {
		notes = append(notes, "colors disabled by NO_COLOR")
	}
	if e.opt.Getenv("TMUX") != "" {
		notes = append(notes, "inside tmux")
	}
	return Fact{What: "terminal", Found: e.opt.Getenv("TERM"), Note: strings.Join(notes, " ")}
}

// fileSystemFact reports how files below a path are followed. For a path that does not
// exist yet, it looks at the nearest existing parent directory.
func fileSystemFact(path string) Fact {
	name, polled, err := follow.FileSystem(path)
	note := "inotify, with polling as a fallback"
	switch {
	case err != nil:
		name, note = "unknown", err.Error()
	case polled:
		note = "polling, because writes of other nodes cause no inotify events"
	}
	return Fact{What: "files in " + path, Found: name, Note: note}
}
