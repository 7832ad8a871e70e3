package porter

import (
	"fmt"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
)

const (
	timeLimitField = "slurm.time_limit"
	// defaultLimit is the wall clock of a job that nobody gave one, in seconds.
	defaultLimit = 3600
)

// timeLimit asks how long the job may take where the run may outlast the default. A
// run directory does not tell what its job was given.
func (b *builder) timeLimit() {
	r, err := b.parsed()
	if err != nil {
		return // the proof tells of it
	}
	text, err := b.res.WorkloadYAML()
	if err != nil {
		return // the write tells of it
	}
	b.res.workload = text // no question about the workload comes after this one
	w, _ := recipes.ParseWorkload("workload", text)
	e := check.EstimateRun(r, w)
	if e == nil || e.Most <= defaultLimit {
		return
	}
	const quarter = 900
	limit := (int(e.Most) + quarter - 1) / quarter * quarter
	value := fmt.Sprintf("%02d:%02d:00", limit/3600, limit/60%60)
	b.todo("", Todo{
		Kind: Confirm, File: Recipe, Path: timeLimitField, Candidates: []Candidate{{Value: value}},
		Message: fmt.Sprintf("no run directory tells the job's time limit; without one the cluster's holds, or 1 h, and this run may take up to %s: give it, or accept", value),
	})
}
