// Package slurm speaks to a Slurm cluster through its commands: it submits a run's folder, starts a
// plan's steps with srun inside the allocation, asks the queue and the accounting how a job stands,
// and cancels. Every command has a time limit, and what a scheduler that does not answer leaves
// open is said to be open. It knows nothing of recipes, and of a run's files only where they lie.
package slurm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// maxOutput bounds what is read of a command: a queue of 100,000 jobs fits.
const maxOutput = 32 << 20

// ErrNotFound is the error of a Slurm command that is not on the PATH.
var ErrNotFound = problem.New(problem.SlurmNotFound, "Slurm not found")

// errNoAnswer is the error of a command that was killed at its time limit.
var errNoAnswer = problem.New(problem.SlurmTimeout, "no answer")

// output collects a command's output up to a limit.
type output struct {
	bytes.Buffer
	most int
	over bool
}

func (o *output) Write(p []byte) (int, error) {
	if o.Len()+len(p) > o.most {
		o.over = true
		return 0, io.ErrShortWrite
	}
	return o.Buffer.Write(p)
}

// call runs a Slurm command and returns what it printed. It ends at the limit, or
// with ctx. The error names the command and what it said.
func call(ctx context.Context, limit time.Duration, name string, args ...string) (string, error) {
	out, _, err := callWithStderr(ctx, limit, name, args...)
	return out, err
}

// callWithStderr gives what a command said on its error stream too, in one line.
func callWithStderr(ctx context.Context, limit time.Duration, name string, args ...string) (printed, said string, err error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", "", fmt.Errorf("%w: no %s on the PATH; log in to a login node of the cluster, or load its module",
			ErrNotFound, name)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, path, args...)
	out, told := &output{most: maxOutput}, &output{most: 64 << 10}
	cmd.Stdout, cmd.Stderr, cmd.Env, cmd.WaitDelay = out, told, environment(os.Environ()), time.Second
	err = cmd.Run()
	printed, said = out.String(), strings.Join(strings.Fields(told.String()), " ")
	switch {
	case err == nil:
		return printed, said, nil
	case ctx.Err() != nil:
		return printed, said, fmt.Errorf("%s: %w", name, ctx.Err())
	case limited.Err() != nil:
		return printed, said, fmt.Errorf("%s: %w within %v", name, errNoAnswer, limit)
	case out.over:
		return "", said, problem.Errorf(problem.SlurmFailed, "%s: more than %d MB of output", name, maxOutput>>20)
	case said == "":
		return printed, said, problem.Errorf(problem.SlurmFailed, "%s: %w", name, err)
	}
	return printed, said, problem.Errorf(problem.SlurmFailed, "%s: %.400s", name, said)
}

// overridePrefixes are beginnings of variables that change what Slurm's commands do or print:
// they would beat the batch script, or make its answers unreadable.
var overridePrefixes = []string{"SBATCH_", "SQUEUE_", "SACCT_", "SCANCEL_", "SINFO_", "SLURM_TIME_FORMAT=", "SLURM_BITSTR_LEN="}

// environment is an environment (NAME=VALUE) without the variables that would
// beat the options of a batch script or change the form of answers.
func environment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return slices.ContainsFunc(overridePrefixes, func(o string) bool { return strings.HasPrefix(v, o) })
	})
}

// Overrides names the variables of an environment that sbatch would let beat the
// batch script, and that are therefore not passed on.
func SbatchVars(env []string) []string {
	var out []string
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(v, "SBATCH_") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
