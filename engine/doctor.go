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

// Fact is one thing that doctor found.
type Fact struct {
	What  string `json:"what"`
	Found string `json:"found"`
	Note  string `json:"note,omitempty"`
}

// toolTimeout bounds each look at another program.
const toolTimeout = 5 * time.Second

// Doctor says what this machine has and where a user's files lie. A thing that
// is missing is a fact, not an error.
func (e *Engine) Doctor(ctx context.Context) []Fact {
	facts := []Fact{
		{What: "version", Found: e.Version + " " + runtime.GOOS + "/" + runtime.GOARCH, Note: e.Program},
		{What: "configuration", Found: e.Paths.Config, Note: presence(e.Paths.Config)},
		{What: "state", Found: e.Paths.State, Note: "records of known runs"},
		{What: "output dir", Found: e.Paths.Output, Note: "run folders; --output-dir, output_dir of the configuration, or ./outputs"},
	}
	facts = append(facts, e.clusterFact())
	for _, t := range []struct{ name, flag, note string }{
		{"sbatch", "--version", "Slurm"}, {"srtctl", "--version", "srt-slurm's own launcher"},
	} {
		facts = append(facts, tool(ctx, t.name, t.flag, t.note))
	}
	facts = append(facts, e.programFacts()...)
	facts = append(facts, Fact{What: "terminal", Found: e.getenv("TERM"), Note: strings.TrimSpace(noColor(e.getenv("NO_COLOR")) + " " + multiplexer(e.getenv("TMUX")))})
	for _, p := range []string{e.Paths.Output, e.Paths.State} {
		facts = append(facts, fileSystem(p))
	}
	return facts
}

// programFacts are the programs that a Slurm run takes with it, one for each
// architecture of nodes.
func (e *Engine) programFacts() []Fact {
	var facts []Fact
	have, missing := e.programs()
	for _, p := range have {
		facts = append(facts, Fact{What: p.Name, Found: p.Path})
	}
	for _, arch := range missing {
		facts = append(facts, Fact{What: programFor(arch), Found: "not found", Note: "runs on such nodes are refused; make dist builds it, programs_dir of the configuration says where it lies"})
	}
	return facts
}

func presence(path string) string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "not there: defaults hold"
	}
	return "in force"
}

func (e *Engine) clusterFact() Fact {
	f := Fact{What: "cluster file", Found: "none", Note: "$SRTSLURM_CONFIG, or srtslurm.yaml here or up to two folders above"}
	dir, err := os.Getwd()
	if err == nil {
		var path string
		if path, err = recipes.FindCluster(dir, e.getenv); err == nil && path != "" {
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

func tool(ctx context.Context, name, flag, note string) Fact {
	f := Fact{What: name, Found: "not found", Note: note}
	path, err := exec.LookPath(name)
	if err != nil {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, flag).CombinedOutput()
	f.Found, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	f.Note = path
	if err != nil {
		f.Note = path + ": " + err.Error()
	}
	return f
}

func noColor(v string) string {
	if v != "" {
		return "NO_COLOR is set: no colours"
	}
	return ""
}

func multiplexer(tmux string) string {
	if tmux != "" {
		return "inside tmux"
	}
	return ""
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
