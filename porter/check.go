package porter

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/porter/proof"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

const (
	timeLimitField = "slurm.time_limit"
	// defaultLimit is the time limit of a job for which none is set, in seconds.
	defaultLimit = 3600
)

// checker checks the rendered files and asks about problems.
type checker struct {
	*porting
	parsed *recipes.Recipe // nil until the recipe is parsed
}

func (c *checker) checkFiles() {
	r, err := c.parseRecipe()
	if err != nil {
		return // the proof reports it
	}
	text, err := c.res.WorkloadYAML()
	if err != nil {
		return // Write reports it
	}
	w, found := recipes.ParseWorkload("workload", text)
	c.askInvalid(Workload, found)
	if w == nil || !c.askRampUp(r, w) {
		c.res.workload = text // final: no later question adds a comment to it
	}
	c.askTimeLimit(r, w)
}

// parseRecipe renders the recipe and parses it.
func (c *checker) parseRecipe() (*recipes.Recipe, error) {
	if c.parsed != nil {
		return c.parsed, nil
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
	c.parsed = r
	c.askInvalid(Recipe, found)
	return r, nil
}

// askInvalid asks about the errors in a written file.
func (c *checker) askInvalid(file File, found recipes.Diagnostics) {
	for _, d := range found {
		topic := fmt.Sprintf("%s %s: %s", file, d.Path, d.Message)
		switch {
		case d.Severity != recipes.Error:
		case d.Rule == recipes.TagRule && file == Recipe && c.hasAsked(d.Message):
		case d.Rule == recipes.TagRule:
			c.ask(MustFix, "", "", topic, nil, "the %s would be invalid: %s: %s", file, d.Path, d.Message)
		default:
			c.ask(MustFix, "", "", topic, nil,
				"the %s would be invalid: %s: %s; a bug in the porter, unless an answer causes it", file, d.Path, d.Message)
		}
	}
}

// hasAsked reports whether a question about an artifact contains a text.
func (c *checker) hasAsked(text string) bool {
	contains := func(t Todo) bool { return strings.Contains(t.Message, text) }
	return slices.ContainsFunc(c.res.Todos, contains) || slices.ContainsFunc(c.res.Answered, contains)
}

// askRampUp asks for a longer phase timeout if it is too short for the load.
func (c *checker) askRampUp(r *recipes.Recipe, w *recipes.Workload) (asked bool) {
	for _, t := range recipes.CheckTimeouts(w, r.Benchmark.Levels) {
		if !t.Known || t.OK || !t.Binding {
			continue
		}
		c.addTodo("ramp-up", Todo{
			Kind: Confirm, File: Workload, Path: "phase_timeout_seconds",
			Candidates: []Candidate{{Value: fmt.Sprintf("%.1f", math.Ceil(t.Need))}},
			Message: fmt.Sprintf("%g s is too short for concurrency level %d: "+
				"ramp-up, settling and the minimum measurement take %g s",
				t.Timeout, t.Level, t.Need),
		})
		return true
	}
	return false
}

// askTimeLimit asks for the job's time limit if the run may take longer than the default.
func (c *checker) askTimeLimit(r *recipes.Recipe, w *recipes.Workload) {
	e := check.EstimateRun(r, w)
	if e == nil || e.Most <= defaultLimit {
		return
	}
	value := e.TimeLimit()
	c.addTodo("", Todo{
		Kind: Confirm, File: Recipe, Path: timeLimitField, Candidates: []Candidate{{Value: value}},
		Message: fmt.Sprintf("a run directory does not record the time limit; the default is the cluster's, or 1 h, "+
			"but this run may take up to %s: set a limit, or accept the default", value),
	})
}

// unaccountedTopic begins the topics of questions about differences without a reason.
const unaccountedTopic = "proof "

// IsUnaccounted reports whether a question is about a part of an old line that is unaccounted for.
func (t Todo) IsUnaccounted() bool {
	return strings.HasPrefix(t.ID, questionID("", "", unaccountedTopic))
}

// prove makes the proof and asks about unexplained differences.
func (c *checker) prove() {
	p := &c.res.Proof
	if len(c.run.Launches.All()) == 0 {
		*p = proof.Count(c.run, "job.log shows no launch line")
		return
	}
	r, err := c.parseRecipe()
	var pl *plan.Plan
	if err == nil {
		pl, err = plan.Build(plan.Request{Recipe: r, Target: plan.Slurm})
	}
	if err != nil {
		*p = proof.Count(c.run, strings.TrimPrefix(err.Error(), "plan recipe: "))
		if q, _ := c.Question("resources", "layout"); q != "" {
			return // it shows that the workers do not fit
		}
		c.ask(MustFix, Recipe, "resources", "proof", nil, "no plan for the recipe: %s; a bug in the porter, "+
			"unless a question or an answer about resources explains it", p.Problem)
		return
	}
	*p = proof.Compare(c.run, pl, c.rewrites, c)
	unexplained := p.Unexplained()
	for _, text := range unexplained[:min(len(unexplained), maxProblems)] {
		c.ask(MustFix, "", "", unaccountedTopic+text, nil,
			"a bug in the porter: %s, which no rule explains: correct the recipe by hand and report the bug", text)
	}
}
