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

// runFiles returns the files to stage in the run directory.
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
	add(rundir.RecipeFile, 0o600, p.RecipeText, nil) // its environment may contain secrets
	if p.Workload != nil {
		add(rundir.WorkloadFile, 0o600, p.WorkloadText, nil) // it may contain an API key
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

// builtInClient is recorded instead of a commit if the client is part of this program.
const builtInClient = "built-in"

// identifyLimit is how long a submission waits for the hashes of files, so that a hanging file
// system does not block it.
const identifyLimit = 20 * time.Second

// identify returns the identity of a run as far as it is known at submission. Files that only the
// compute nodes have are read later, in the job. Files that can't be read in time are left out.
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
			if err != nil { // the job reads it later
				return none
			}
			return f
		})
		f.Path = d.Value
		id.Datasets = append(id.Datasets, f)
	}
	if pl.Target == plan.Local { // mock servers use neither an image nor a model
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

// withDeadline returns read(initial), or initial if ctx ends first. In that case it abandons the
// call, since a read of a hanging file system can't be interrupted.
func withDeadline[T any](ctx context.Context, initial T, read func(T) T) T {
	result := make(chan T, 1)
	go func() { result <- read(initial) }()
	select {
	case v := <-result:
		return v
	case <-ctx.Done():
		return initial
	}
}

// expectedRevision returns the revision of the model that the recipe was written for.
func expectedRevision(r *recipes.Recipe) string {
	for _, l := range r.Leaves() {
		if l.Canonical == "identity.model.revision" {
			return l.Value
		}
	}
	return ""
}

// programName is the name of this program in the bin directory of a run.
const programName = "agentperf-tui"

// architectures are the supported architectures of nodes, by the names of uname and of Go.
var architectures = []struct{ uname, arch string }{{"x86_64", "amd64"}, {"aarch64", "arm64"}}

func programFileName(arch string) string { return programName + "-linux-" + arch }

// Programs returns the builds of this program that were found, to be copied into the run
// directory, and the names of those that were not found.
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

// programsForPartition returns the programs for the nodes of a partition, or an error if one is
// missing. If the architecture of the nodes is unknown, note warns about missing programs.
func (s *Submitter) programsForPartition(ctx context.Context, partition string) (
	have []rundir.Program, note string, err error,
) {
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
