package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/slurm"
)

// Preflight looks at the cluster before a submit and returns what a user should
// know before saying yes, a line each: what the scheduler thinks of the job, what
// is idle, what differs from the files at hand. The error is what makes the submit
// impossible. Other targets have nothing to tell.
func (e *Engine) Preflight(ctx context.Context, p *Pair, pl *plan.Plan) (notes []string, err error) {
	if !pl.Target.OnSlurm() {
		return nil, nil
	}
	if pl.Target == plan.Srtctl {
		path, err := exec.LookPath("srtctl")
		if err != nil {
			return nil, fmt.Errorf("submit %s: there is no srtctl on the PATH; install it, or take the launcher slurm", pl.Name)
		}
		notes = append(notes, path+" makes the job; srtctl dry-run shows its script")
	} else {
		_, note, err := e.programsFor(ctx, p.Recipe.Slurm.Partition)
		if err != nil {
			return nil, fmt.Errorf("submit %s: %w", pl.Name, err)
		}
		if note != "" {
			notes = append(notes, note)
		}
	}
	for _, name := range slurm.Overrides(os.Environ()) {
		notes = append(notes, "$"+name+" is not passed to sbatch: it would beat the script; put it into the recipe's sbatch_directives")
	}
	notes = append(notes, e.workloadNote(p)...)
	partitions, err := slurm.Partitions(ctx, p.Recipe.Slurm.Partition)
	if errors.Is(err, slurm.ErrMissing) {
		return notes, fmt.Errorf("submit %s: %w; --launcher local runs the plan on this machine", pl.Name, err)
	}
	if err != nil {
		return notes, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	for _, part := range partitions {
		notes = append(notes, part.String(), room(part, len(pl.Nodes)))
	}
	if pl.Script == "" { // it is another's
		return notes, nil
	}
	said, err := testOnly(ctx, pl)
	if err != nil {
		return notes, err
	}
	return append(notes, said), nil
}

// testOnly asks what the scheduler thinks of a plan's script.
func testOnly(ctx context.Context, pl *plan.Plan) (string, error) {
	file, err := os.CreateTemp("", "agentperf-tui-*.sh")
	if err != nil {
		return "", fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // below the system's temporary folder
	_, err = file.WriteString(pl.Script)
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	said, err := slurm.TestOnly(ctx, file.Name())
	if err != nil {
		return "", fmt.Errorf("submit %s: the scheduler would not take it: %w", pl.Name, err)
	}
	return strings.TrimPrefix(said, "sbatch: "), nil
}

// room says what a run's size means in a partition at this moment.
func room(p slurm.Partition, nodes int) string {
	switch {
	case nodes > p.Nodes:
		return fmt.Sprintf("the run takes %d nodes, and %s has %d: it would wait for ever", nodes, p.Name, p.Nodes)
	case nodes > p.Idle:
		return fmt.Sprintf("the run takes %d nodes, and %d are idle: it waits for %d more", nodes, p.Idle, nodes-p.Idle)
	}
	return fmt.Sprintf("the run takes %d of %d idle nodes", nodes, p.Idle)
}

// workloadNote tells when the workload that was checked is not the one that the
// client will read.
func (e *Engine) workloadNote(p *Pair) []string {
	path := p.Recipe.Benchmark.ConfigPath
	if p.Workload == nil {
		return nil
	}
	here := p.Visible(path)
	if here == "" {
		return []string{fmt.Sprintf("the client reads %s, which this machine does not see: see to it that it is the workload of %s", path, p.Workload.File)}
	}
	data, err := os.ReadFile(here)
	if err == nil && bytes.Equal(data, p.WorkloadText) {
		return nil
	}
	return []string{fmt.Sprintf("the client reads %s, which differs from %s as checked here", path, filepath.Base(p.Workload.File))}
}
