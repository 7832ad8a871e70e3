package submit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/slurm"
)

// Preflight looks at the cluster before a submit and returns what a user should
// know before saying yes, a line each: what the scheduler thinks of the job, what
// is idle, what differs from the files at hand. The error is what makes the submit
// impossible. A run on this machine has nothing to tell.
func (s *Submitter) Preflight(ctx context.Context, p *draft.Pair, pl *plan.Plan) ([]string, error) {
	notes, err := s.launcher(pl.Target).preflight(ctx, p, pl)
	if err != nil {
		err = fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	return notes, err
}

// clusterNotes tells what of the cluster and of the files at hand matters to any job.
func clusterNotes(ctx context.Context, p *draft.Pair, nodes int) ([]string, error) {
	var notes []string
	for _, name := range slurm.SbatchVars(os.Environ()) {
		notes = append(notes, "$"+name+" is not passed to sbatch: it would beat the script; put it into the "+
			"recipe's sbatch_directives")
	}
	notes = append(notes, workloadNote(p)...)
	partitions, err := slurm.Partitions(ctx, p.Recipe.Slurm.Partition)
	if errors.Is(err, slurm.ErrNotFound) {
		err = fmt.Errorf("%w; --launcher local runs the plan on this machine", err)
	}
	for _, part := range partitions {
		notes = append(notes, part.String(), sizeNote(part, nodes))
	}
	return notes, err
}

// testOnly asks what the scheduler thinks of a batch script.
func testOnly(ctx context.Context, script string) (string, error) {
	file, err := os.CreateTemp("", "agentperf-tui-*.sh")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(file.Name()) }() // below the system's temporary folder
	_, err = file.WriteString(script)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	said, err := slurm.TestOnly(ctx, file.Name())
	if err != nil {
		return "", fmt.Errorf("test the batch script: %w", err)
	}
	return strings.TrimPrefix(said, "sbatch: "), nil
}

// fits says what a run's size means in a partition at this moment.
func sizeNote(p slurm.Partition, nodes int) string {
	switch {
	case nodes > p.Nodes:
		return fmt.Sprintf("the run takes %d nodes, and %s has %d: it would wait for ever", nodes, p.Name, p.Nodes)
	case nodes > p.Idle:
		return fmt.Sprintf("the run takes %d nodes, and %d are idle: it waits for %d more", nodes, p.Idle, nodes-p.Idle)
	}
	return fmt.Sprintf("the run takes %d of %d idle nodes", nodes, p.Idle)
}

// workloadNote tells when the workload that was checked is not the one that the client will read.
func workloadNote(p *draft.Pair) []string {
	if p.Workload == nil {
		return nil
	}
	path := p.Recipe.Benchmark.ConfigPath
	here := p.HostPath(path)
	if here == "" {
		return []string{fmt.Sprintf("the client reads %s, which this machine does not see: see to it that "+
			"it is the workload of %s", path, p.Workload.File)}
	}
	data, err := os.ReadFile(here)
	if err == nil && bytes.Equal(data, p.WorkloadText) {
		return nil
	}
	return []string{fmt.Sprintf("the client reads %s, which differs from %s as checked here",
		path, filepath.Base(p.Workload.File))}
}
