package submit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// runFiles are what a run takes with it into its folder.
func (s *Submitter) runFiles(
	ctx context.Context, p *draft.Pair, pl *plan.Plan, rec rundir.Record,
) ([]rundir.File, error) {
	var files []rundir.File
	var failed error
	add := func(name string, mode fs.FileMode, data []byte, err error) {
		files, failed = append(files, rundir.File{Name: name, Data: data, Mode: mode}), errors.Join(failed, err)
	}
	planJSON, err := smallfile.JSON(pl)
	add(rundir.PlanFile, 0o600, planJSON, err)
	for name, v := range map[string]any{
		rundir.PhasesFile: pl.Phases, rundir.RecordFile: rec, identity.FileName: s.identify(ctx, p, pl, planJSON),
	} {
		data, err := smallfile.JSON(v)
		add(name, 0o644, data, err)
	}
	add(rundir.RecipeFile, 0o600, p.RecipeText, nil) // its environment may hold secrets
	if p.Workload != nil {
		add(rundir.WorkloadFile, 0o600, p.WorkloadText, nil) // and this an API key
	}
	if p.Cluster != nil && p.Cluster.File != "" {
		data, err := recipes.Read(p.Cluster.File)
		add(rundir.ClusterFile, 0o600, data, err)
	}
	if s.opt.PortReports != nil {
		data, err := os.ReadFile(s.opt.PortReports.Report(p.Recipe.File))
		if !errors.Is(err, fs.ErrNotExist) {
			add(s.opt.PortReports.Report(rundir.RecipeFile), 0o600, data, err)
		}
	}
	if pl.Script != "" {
		add(rundir.ScriptFile, 0o755, []byte(pl.Script), nil)
	}
	return files, failed
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// builtInClient stands for the commit of a client that is this program.
const builtInClient = "built-in"

// identifyLimit is how long a submit waits for the files that it looks at: a file
// system that hangs keeps nobody from submitting.
const identifyLimit = 20 * time.Second

// identify is what is known at submit of what a run runs with. Paths that only the compute nodes
// have are looked at again in the job. What does not answer in time is left out.
func (s *Submitter) identify(ctx context.Context, p *draft.Pair, pl *plan.Plan, planJSON []byte) identity.Identity {
	id := identity.Identity{
		Version: 1, Recipe: identity.Sum(p.RecipeText), Workload: identity.Sum(p.WorkloadText), Plan: identity.Sum(planJSON),
	}
	id.SetTool(programName, s.opt.Version)
	limited, cancel := context.WithTimeout(ctx, identifyLimit)
	defer cancel()
	for _, d := range p.Workload.Datasets() {
		f := withDeadline(limited, identity.File{Key: d.Name}, func(none identity.File) identity.File {
			f, err := identity.HashFile(d.Name, p.HostPath(d.Value))
			if err != nil { // the client sees it, and looks
				return none
			}
			return f
		})
		f.Path = d.Value
		id.Datasets = append(id.Datasets, f)
	}
	if pl.Target == plan.Local { // no image and no model: mock servers answer
		id.Client = &identity.Checkout{Commit: builtInClient}
		return id
	}
	id.SetTool("slurm", slurm.Version(ctx))
	image := withDeadline(limited, identity.Image{Name: pl.Image},
		func(i identity.Image) identity.Image { return identity.InspectImage(i.Name) })
	model := withDeadline(limited, identity.Model{Path: p.Recipe.ModelPath},
		func(m identity.Model) identity.Model { return identity.InspectModel(m.Path) })
	model.Expected = expectedRevision(p.Recipe)
	id.Image, id.Model = &image, &model
	return id
}

// withDeadline is what a look brings, or what was known before where it takes longer than
// ctx: a read of a file system that hangs can't be ended, only left behind.
func withDeadline[T any](ctx context.Context, known T, look func(T) T) T {
	found := make(chan T, 1)
	go func() { found <- look(known) }()
	select {
	case v := <-found:
		return v
	case <-ctx.Done():
		return known
	}
}

// expectedRevision is the model's revision that the recipe says it was made for.
func expectedRevision(r *recipes.Recipe) string {
	for _, l := range r.Leaves() {
		if l.Canonical == "identity.model.revision" {
			return l.Value
		}
	}
	return ""
}

// programName is this program in a run's bin folder.
const programName = "agentperf-tui"

// architectures are architectures of nodes by uname, with Go's names.
var architectures = []struct{ uname, arch string }{{"x86_64", "amd64"}, {"aarch64", "arm64"}}

func programFileName(arch string) string { return programName + "-linux-" + arch }

// Programs are the copies of this program that a run takes with it, and the names of
// those that were not found.
func (s *Submitter) Programs() (have []rundir.Program, missing []string) {
	for _, m := range architectures {
		name := programFileName(m.arch)
		candidates := []string{filepath.Join(filepath.Dir(s.opt.Program), name)}
		if s.opt.ProgramsDir != "" {
			candidates = slices.Insert(candidates, 0, filepath.Join(s.opt.ProgramsDir, name))
		}
		if runtime.GOOS == "linux" && runtime.GOARCH == m.arch {
			candidates = []string{s.opt.Program}
		}
		i := slices.IndexFunc(candidates, func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && info.Mode().IsRegular()
		})
		if i < 0 {
			missing = append(missing, name)
		} else {
			have = append(have, rundir.Program{Path: candidates[i], Name: name})
		}
	}
	return have, missing
}

// programsForPartition refuses a submit to nodes for which there is no program; note tells
// that it is not known whether one is missing.
func (s *Submitter) programsForPartition(ctx context.Context, partition string) (have []rundir.Program, note string, err error) {
	have, missing := s.Programs()
	if len(missing) == 0 {
		return have, "", nil
	}
	archs, err := slurm.Architectures(ctx, partition)
	if err != nil || len(archs) == 0 {
		return have, fmt.Sprintf("%s not found beside this program: the run can't start on nodes of that architecture, "+
			"and the architecture of the nodes is unknown", missing[0]), nil
	}
	for _, m := range architectures {
		if slices.Contains(missing, programFileName(m.arch)) && slices.Contains(archs, m.uname) {
			return nil, "", problem.Errorf(problem.ProgramMissing, "no binary for the %s nodes of partition %s: %s not found "+
				"beside %s or in programs_dir of the configuration; build it with make dist",
				m.uname, partition, programFileName(m.arch), s.opt.Program)
		}
	}
	return have, "", nil
}
