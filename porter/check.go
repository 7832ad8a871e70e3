package porter

import (
	"fmt"
	"math"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/porter/proof"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

const (
	timeLimitField = "slurm.time_limit"
	// defaultLimit is the wall clock of a job that nobody gave one, in seconds.
	defaultLimit = 3600
)

// checks looks at what will be written as a run would, and asks about what stands against it.
type checks struct {
	*porting
	read *recipes.Recipe // as it will be read; nil: not yet
}

func (c *checks) outcome() {
	r, err := c.recipe()
	if err != nil {
		return // the proof tells of it
	}
	text, err := c.res.WorkloadYAML()
	if err != nil {
		return // the write tells of it
	}
	w, found := recipes.ParseWorkload("workload", text)
	c.unreadable(Workload, found)
	if w == nil || !c.rampUp(r, w) {
		c.res.workload = text // no question about the workload comes after these
	}
	c.timeLimit(r, w)
}

// recipe is the recipe as it will be written and read.
func (c *checks) recipe() (*recipes.Recipe, error) {
	if c.read != nil {
		return c.read, nil
	}
	text, err := c.res.RecipeYAML()
	if err != nil {
		return nil, err
	}
	c.res.recipe = text
	r, found := recipes.ParseRecipe("recipe", text)
	if r == nil {
		return nil, problem.Errorf(problem.RecipeInvalid, "plan recipe: %s", found[0])
	}
	c.read = r
	c.unreadable(Recipe, found)
	return r, nil
}

// unreadable asks about what the written file's reader refuses.
func (c *checks) unreadable(file File, found recipes.Diagnostics) {
	for _, d := range found {
		if d.Severity == recipes.Error {
			c.ask(MustFix, "", "", fmt.Sprintf("%s %s: %s", file, d.Path, d.Message), nil,
				"the %s would be refused: %s: %s; an error of the porter, unless an answer explains it", file, d.Path, d.Message)
		}
	}
}

// rampUp asks for a longer phase where its timeout has no time for the load.
func (c *checks) rampUp(r *recipes.Recipe, w *recipes.Workload) (asked bool) {
	for _, t := range recipes.CheckTimeouts(w, r.Benchmark.Levels) {
		if !t.Known || t.OK || !t.Binding {
			continue
		}
		c.todo("ramp-up", Todo{
			Kind: Confirm, File: Workload, Path: "phase_timeout_seconds",
			Candidates: []Candidate{{Value: fmt.Sprintf("%.1f", math.Ceil(t.Need))}},
			Message: fmt.Sprintf("%g s are too short for level %d: ramp-up, settling and the least measurement take %g s",
				t.Timeout, t.Level, t.Need),
		})
		return true
	}
	return false
}

// timeLimit asks how long the job may take where the run may outlast the default. A
// run directory does not tell what its job was given.
func (c *checks) timeLimit(r *recipes.Recipe, w *recipes.Workload) {
	e := check.EstimateRun(r, w)
	if e == nil || e.Most <= defaultLimit {
		return
	}
	value := e.TimeLimit()
	c.todo("", Todo{
		Kind: Confirm, File: Recipe, Path: timeLimitField, Candidates: []Candidate{{Value: value}},
		Message: fmt.Sprintf("no run directory tells the job's time limit; without one the cluster's holds, or 1 h, "+
			"and this run may take up to %s: give it, or accept", value),
	})
}

// prove makes the proof, and turns what it can't explain into questions.
func (c *checks) prove() {
	p := &c.res.Proof
	p.Lines = []proof.Line{}
	if len(c.run.Launches.All()) == 0 {
		p.Problem = "job.log shows no launch line"
		return
	}
	r, err := c.recipe()
	var pl *plan.Plan
	if err == nil {
		pl, err = plan.Build(plan.Request{Recipe: r, Target: plan.Slurm})
	}
	if err != nil {
		p.Problem = strings.TrimPrefix(err.Error(), "plan recipe: ")
		c.ask(MustFix, Recipe, "resources", "proof", nil, "the recipe can't be planned: %s; an error of the porter, "+
			"unless a question or an answer about the resources explains it", p.Problem)
		return
	}
	*p = proof.Compare(c.run, pl, c.rewrites, c)
	unexplained := p.Unexplained()
	for _, text := range unexplained[:min(len(unexplained), maxProblems)] {
		c.ask(MustFix, "", "", "proof "+text, nil,
			"an error of the porter: %s, and no rule says so: correct the recipe by hand, and report it", text)
	}
}
