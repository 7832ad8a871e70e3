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

// Preflight checks the cluster before a submission and returns notes for the user, one line each:
// partition, idle nodes, expected start, and differences from the local files. The error says
// why the run can't be submitted. A local run has no notes.
func (s *Submitter) Preflight(ctx context.Context, p *draft.Pair, pl *plan.Plan) ([]string, error) {
	notes, err := s.launcher(pl.Target).preflight(ctx, p, pl)
	if err != nil {
		err = fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	return notes, err
}

// clusterNotes returns the notes that apply to any Slurm job.
func clusterNotes(ctx context.Context, p *draft.Pair, nodes int) ([]string, error) {
	var notes []string
	for _, name := range slurm.SbatchVars(os.Environ()) {
		notes = append(notes, "$"+name+" is not passed to sbatch, since it would override the batch script; "+
			"set it in sbatch_directives of the recipe")
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

// testOnly checks a batch script with sbatch --test-only and returns its message.
func testOnly(ctx context.Context, script string) (string, error) {
	file, err := os.CreateTemp("", "agentperf-tui-*.sh")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(file.Name()) }() // it is in the temporary directory
	_, err = file.WriteString(script)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	message, err := slurm.TestOnly(ctx, file.Name())
	if err != nil {
		return "", fmt.Errorf("test the batch script: %w", err)
	}
	return strings.TrimPrefix(message, "sbatch: "), nil
}

// sizeNote compares the nodes of a run with those of a partition.
func sizeNote(p slurm.Partition, nodes int) string {
	switch {
	case nodes > p.Nodes:
		return fmt.Sprintf("the run needs %d nodes, but partition %s has %d: it would never start", nodes, p.Name, p.Nodes)
	case nodes > p.Idle:
		return fmt.Sprintf("the run needs %d nodes, %d are idle: it waits for %d more", nodes, p.Idle, nodes-p.Idle)
	}
	return fmt.Sprintf("the run needs %d of %d idle nodes", nodes, p.Idle)
}

// workloadNote warns if the client will read, or may read, another workload than the checked one.
func workloadNote(p *draft.Pair) []string {
	if p.Workload == nil {
		return nil
	}
	path := p.Recipe.Benchmark.ConfigPath
	here := p.HostPath(path)
	if here == "" {
		return []string{fmt.Sprintf("the client reads %s, which does not exist on this machine; make sure "+
			"that it equals %s", path, p.Workload.File)}
	}
	data, err := os.ReadFile(here)
	if err == nil && bytes.Equal(data, p.WorkloadText) {
		return nil
	}
	return []string{fmt.Sprintf("the client reads %s, which differs from the checked workload %s",
		path, filepath.Base(p.Workload.File))}
}
