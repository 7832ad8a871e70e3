package porter

import (
	"fmt"
	"math"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
)

const (
	timeLimitField = "slurm.time_limit"
	// defaultLimit is the wall clock of a job that nobody gave one, in seconds.
	defaultLimit = 3600
)

// outcome reads what will be written as a run would, and asks about what stands
// against it.
func (b *builder) outcome() {
	r, err := b.parsed()
	if err != nil {
		return // the proof tells of it
	}
	text, err := b.res.WorkloadYAML()
	if err != nil {
		return // the write tells of it
	}
	w, found := recipes.ParseWorkload("workload", text)
	b.unreadable(Workload, found)
	if w == nil || !b.rampUp(r, w) {
		b.res.workload = text // no question about the workload comes after these
	}
	b.timeLimit(r, w)
}

// unreadable asks about what the written file's reader refuses.
func (b *builder) unreadable(file File, found recipes.Diagnostics) {
	for _, d := range found {
		if d.Severity == recipes.Error {
			b.ask(MustFix, "", "", fmt.Sprintf("%s %s: %s", file, d.Path, d.Message), fmt.Sprintf("the %s would be refused: %s: %s; an error of the porter, unless an answer explains it", file, d.Path, d.Message))
		}
	}
}

// rampUp asks for a longer phase where its timeout has no time for the load.
func (b *builder) rampUp(r *recipes.Recipe, w *recipes.Workload) (asked bool) {
	for _, t := range recipes.CheckTimeouts(w, r.Benchmark.Levels) {
		if !t.Known || t.OK || !t.Binding {
			continue
		}
		b.todo("ramp-up", Todo{
			Kind: Confirm, File: Workload, Path: "phase_timeout_seconds", Candidates: []Candidate{{Value: fmt.Sprintf("%.1f", math.Ceil(t.Need))}},
			Message: fmt.Sprintf("%g s are too short for level %d: ramp-up, settling and the least measurement take %g s", t.Timeout, t.Level, t.Need),
		})
		return true
	}
	return false
}

// timeLimit asks how long the job may take where the run may outlast the default. A
// run directory does not tell what its job was given.
func (b *builder) timeLimit(r *recipes.Recipe, w *recipes.Workload) {
	e := check.EstimateRun(r, w)
	if e == nil || e.Most <= defaultLimit {
		return
	}
	value := e.TimeLimit()
	b.todo("", Todo{
		Kind: Confirm, File: Recipe, Path: timeLimitField, Candidates: []Candidate{{Value: value}},
		Message: fmt.Sprintf("no run directory tells the job's time limit; without one the cluster's holds, or 1 h, and this run may take up to %s: give it, or accept", value),
	})
}
