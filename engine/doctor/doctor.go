// Package doctor says what this machine has for runs, and where the files of a user
// lie.
package doctor

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
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
)

// Machine is what a look at it begins with.
type Machine struct {
	Version, Program      string
	Config, State, Output string // places of the user's files
	Getenv                func(string) string
	// Programs are the copies that a Slurm run takes with it, one for each architecture
	// of nodes; Missing are the names of those that were not found.
	Programs []rundir.Program
	Missing  []string
}

// Fact is one thing that doctor found.
type Fact struct {
	What  string `json:"what"`
	Found string `json:"found"`
	Note  string `json:"note,omitempty"`
}

// toolTimeout bounds each look at another program.
const toolTimeout = 5 * time.Second

// Look says what this machine has and where a user's files lie. A thing that is
// missing is a fact, not an error.
func (m Machine) Look(ctx context.Context) []Fact {
	facts := []Fact{
		{What: "version", Found: m.Version + " " + runtime.GOOS + "/" + runtime.GOARCH, Note: m.Program},
		{What: "configuration", Found: m.Config, Note: presence(m.Config)},
		{What: "state", Found: m.State, Note: "records of known runs"},
		{
			What: "output dir", Found: m.Output,
			Note: "run folders; --output-dir, output_dir of the configuration, or ./outputs",
		},
		m.clusterFile(),
		tool(ctx, "sbatch", "Slurm"),
		tool(ctx, "srtctl", "srt-slurm's own launcher"),
	}
	for _, p := range m.Programs {
		facts = append(facts, Fact{What: p.Name, Found: p.Path})
	}
	for _, name := range m.Missing {
		facts = append(facts, Fact{
			What: name, Found: "not found",
			Note: "runs on such nodes are refused; make dist builds it, programs_dir of the configuration says where it lies",
		})
	}
	return append(facts, m.terminal(), fileSystem(m.Output), fileSystem(m.State))
}

func presence(path string) string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "not there: defaults hold"
	}
	return "in force"
}

func (m Machine) clusterFile() Fact {
	f := Fact{What: "cluster file", Found: "none", Note: "$SRTSLURM_CONFIG, or srtslurm.yaml here or " +
		"up to two folders above"}
	dir, err := os.Getwd()
	if err == nil {
		var path string
		if path, err = recipes.FindCluster(dir, m.Getenv); err == nil && path != "" {
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

func (m Machine) terminal() Fact {
	var notes []string
	if m.Getenv("NO_COLOR") != "" {
		notes = append(notes, "NO_COLOR is set: no colours")
	}
	if m.Getenv("TMUX") != "" {
		notes = append(notes, "inside tmux")
	}
	return Fact{What: "terminal", Found: m.Getenv("TERM"), Note: strings.Join(notes, " ")}
}

// fileSystem says how files below a path are followed; a path that is not there
// yet is judged by the folder above.
func fileSystem(path string) Fact {
	name, polled, err := follow.FileSystem(path)
	switch {
	case err != nil:
		return Fact{What: "files in " + path, Found: "unknown", Note: err.Error()}
	case polled:
		return Fact{What: "files in " + path, Found: name, Note: "polling: no events for other nodes' writes"}
	}
	return Fact{What: "files in " + path, Found: name, Note: "inotify, and polling where it keeps silent"}
}
