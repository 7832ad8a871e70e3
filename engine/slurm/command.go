// Package slurm controls a Slurm cluster through its commands. It submits batch scripts, starts the
// steps of a plan with srun inside the allocation, reads the state of jobs from squeue and sacct,
// and cancels jobs. Every command has a time limit; if Slurm does not answer, the result is an
// error or an unknown state, never a guess.
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

// maxOutput limits the output of a command, in bytes. A queue of 100,000 jobs fits.
const maxOutput = 32 << 20

// ErrNotFound means that a Slurm command is not on the PATH.
var ErrNotFound = problem.New(problem.SlurmNotFound, "Slurm not found")

// errNoAnswer means that a command was killed at its time limit.
var errNoAnswer = problem.New(problem.SlurmTimeout, "no answer")

// output collects the output of a command up to a limit. It does not embed the buffer, whose ReadFrom would have
// no limit.
type output struct {
	buffer   bytes.Buffer
	limit    int // bytes
	exceeded bool
}

func (o *output) Write(p []byte) (int, error) {
	if o.buffer.Len()+len(p) > o.limit {
		o.exceeded = true
		return 0, io.ErrShortWrite
	}
	return o.buffer.Write(p)
}

// call runs a Slurm command for at most the given time and returns its standard output.
// The error contains the name of the command and its standard error.
func call(ctx context.Context, limit time.Duration, name string, args ...string) (string, error) {
	out, _, err := callWithStderr(ctx, limit, name, args...)
	return out, err
}

// callWithStderr is call that also returns standard error, joined into one line.
func callWithStderr(ctx context.Context, limit time.Duration, name string, args ...string) (
	stdout, stderr string, err error,
) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", "", fmt.Errorf("%w: no %s on the PATH; log in to a login node of the cluster, or load its module",
			ErrNotFound, name)
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(limited, path, args...)
	out, errOut := &output{limit: maxOutput}, &output{limit: 64 << 10}
	cmd.Stdout, cmd.Stderr, cmd.Env, cmd.WaitDelay = out, errOut, environment(os.Environ()), time.Second
	err = cmd.Run()
	stdout, stderr = out.buffer.String(), strings.Join(strings.Fields(errOut.buffer.String()), " ")
	switch {
	case err == nil:
		return stdout, stderr, nil
	case out.exceeded:
		return "", stderr, problem.Errorf(problem.SlurmFailed, "%s: more than %d MB of output", name, maxOutput>>20)
	case ctx.Err() != nil:
		return stdout, stderr, fmt.Errorf("%s: %w", name, ctx.Err())
	case limited.Err() != nil:
		return stdout, stderr, fmt.Errorf("%s: %w within %v", name, errNoAnswer, limit)
	case stderr == "":
		return stdout, stderr, problem.Errorf(problem.SlurmFailed, "%s: %w", name, err)
	}
	return stdout, stderr, problem.Errorf(problem.SlurmFailed, "%s: %.400s", name, stderr)
}

// overridePrefixes are prefixes of environment variables that override the options of a
// batch script or change the output format of Slurm commands.
var overridePrefixes = []string{
	"SBATCH_", "SQUEUE_", "SACCT_", "SCANCEL_", "SINFO_", "SLURM_TIME_FORMAT=", "SLURM_BITSTR_LEN=",
}

// environment returns env (NAME=VALUE) without the variables that overridePrefixes match.
func environment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return slices.ContainsFunc(overridePrefixes, func(o string) bool { return strings.HasPrefix(v, o) })
	})
}

// SbatchVars returns the names of the SBATCH_ variables in env, sorted. They would override
// the options of a batch script and are therefore not passed to sbatch.
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
