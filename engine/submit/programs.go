package submit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/slurm"
)

// programName is this program in a run's bin folder.
const programName = "agentperf-tui"

// machines are architectures of nodes by uname, with Go's names.
var machines = []struct{ uname, arch string }{{"x86_64", "amd64"}, {"aarch64", "arm64"}}

func programFor(arch string) string { return programName + "-linux-" + arch }

// Programs are the copies of this program that a run takes with it, and the names of
// those that were not found.
func (s *Submitter) Programs() (have []rundir.Program, missing []string) {
	for _, m := range machines {
		name := programFor(m.arch)
		candidates := []string{filepath.Join(s.opt.ProgramsDir, name), filepath.Join(filepath.Dir(s.opt.Program), name)}
		if s.opt.ProgramsDir == "" {
			candidates = candidates[1:]
		}
		if runtime.GOOS == "linux" && runtime.GOARCH == m.arch {
			candidates = []string{s.opt.Program}
		}
		path := ""
		for _, c := range candidates {
			if info, err := os.Stat(c); path == "" && err == nil && info.Mode().IsRegular() {
				path = c
			}
		}
		if path == "" {
			missing = append(missing, name)
			continue
		}
		have = append(have, rundir.Program{Path: path, Name: name})
	}
	return have, missing
}

// programsFor refuses a submit to nodes for which there is no program; note tells
// that it is not known whether one is missing.
func (s *Submitter) programsFor(ctx context.Context, partition string) (have []rundir.Program, note string, err error) {
	have, missing := s.Programs()
	if len(missing) == 0 {
		return have, "", nil
	}
	archs, err := slurm.Architectures(ctx, partition)
	if err != nil || len(archs) == 0 {
		return have, fmt.Sprintf("there is no %s beside this program: the run can't start on nodes of that architecture, "+
			"and Slurm does not tell what the nodes are", missing[0]), nil
	}
	for _, m := range machines {
		if slices.Contains(missing, programFor(m.arch)) && slices.Contains(archs, m.uname) {
			return nil, "", fmt.Errorf("nodes of partition %s are %s, and there is no %s beside %s or in programs_dir of the "+
				"configuration; make dist builds it",
				partition, m.uname, programFor(m.arch), s.opt.Program)
		}
	}
	return have, "", nil
}
