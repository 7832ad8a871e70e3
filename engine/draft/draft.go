// Package draft is a recipe and its workload while they are edited: read, checked as
// they are typed, corrected, saved over nobody's work, and kept when they were not
// saved. It knows files and findings; what becomes of them is for others.
package draft

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Options are what [New] needs.
type Options struct {
	Getenv func(string) string
	Now    func() time.Time
	Host   string // the name of this machine
	State  string // folder of the user's state
}

// Drafts reads and writes the files of runs. Make it with [New].
type Drafts struct{ opt Options }

// New makes drafts.
func New(opt Options) *Drafts { return &Drafts{opt: opt} }

// Files names what a user gives for a run.
type Files struct {
	Recipe    string // behind a colon a selector, where the file holds several recipes
	Workload  string // empty: the recipe's agentperf_config, where this machine can see it
	Cluster   string // empty: searched for as srtctl does
	NoCluster bool   // there is none, whatever a search would find
	// Edits are made in memory before anything else is done; a path that begins
	// with a key of the workload file is meant for that one.
	Edits []recipes.Edit
}

// Pair is a loaded recipe with what belongs to it, and all that is to be said about them.
type Pair struct {
	Recipe   *recipes.Recipe
	Workload *recipes.Workload // nil: not given and not found
	Cluster  *recipes.Cluster
	Changes  []recipes.Change
	Report   check.Report

	File        string        // of the recipe, as it was given
	Resubmitted rundir.Record // the earlier run that these are the files of; zero: none

	RecipeText, WorkloadText []byte // as they were checked

	getenv func(string) string
}

// HostPath is where this machine sees a path of the recipe's containers: as it stands,
// or through the recipe's mounts; empty: nowhere.
func (p *Pair) HostPath(path string) string { return visible(p.Recipe, path, p.getenv) }

// Draft is the files of a run as they stand in an editor, saved or not.
type Draft struct {
	RecipePath   string
	Recipe       []byte
	WorkloadPath string // empty: there is no workload
	Workload     []byte
	Cluster      string // path; empty: searched for as srtctl does
	NoCluster    bool   // there is none, whatever a search would find
}

// Load reads and checks the files of a run. What is wrong inside them is in the
// report; the error is about the files themselves.
func (d *Drafts) Load(ctx context.Context, f Files) (*Pair, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, _ := recipes.SplitSelector(f.Recipe)
	t := Draft{RecipePath: f.Recipe, WorkloadPath: f.Workload, Cluster: f.Cluster, NoCluster: f.NoCluster}
	var err error
	if t.Recipe, err = recipes.Read(file); err != nil {
		return nil, fmt.Errorf("load recipe: %w", err)
	}
	forRecipe, forWorkload := edits(t.Recipe, f.Edits)
	if t.Recipe, err = edit.Apply(t.Recipe, forRecipe); err != nil {
		return nil, fmt.Errorf("edit %s: %w", file, err)
	}
	if t.WorkloadPath == "" {
		t.WorkloadPath = d.WorkloadOf(ctx, f.Recipe, t.Recipe)
	}
	switch {
	case t.WorkloadPath != "":
		if t.Workload, err = recipes.Read(t.WorkloadPath); err != nil {
			return nil, fmt.Errorf("load workload: %w", err)
		}
		if t.Workload, err = edit.Apply(t.Workload, forWorkload); err != nil {
			return nil, fmt.Errorf("edit %s: %w", t.WorkloadPath, err)
		}
	case len(forWorkload) > 0:
		return nil, problem.Errorf(problem.WorkloadMissing,
			"edit %s: this is a key of the workload, and no workload file was given or found; pass --workload FILE",
			forWorkload[0].Path)
	}
	p, err := d.checkText(ctx, t, d.machine())
	if err == nil && p.Recipe != nil && f.Workload != "" {
		warnOfAnother(p, f.Workload)
	}
	return p, err
}

// warnOfAnother tells when the workload that was given is not the one that a job
// of the recipe reads: what was checked would not be what runs.
func warnOfAnother(p *Pair, given string) {
	const field = "benchmark.agentperf_config"
	path := p.Recipe.Benchmark.ConfigPath
	runs, err := os.Stat(p.HostPath(path))
	if err != nil {
		return // nothing to compare with here: the container's own path
	}
	if here, err := os.Stat(given); err == nil && !os.SameFile(runs, here) {
		p.Report.Diagnostics = append(p.Report.Diagnostics, p.Recipe.Diag(recipes.Warning, field,
			"a Slurm job reads this file, and "+given+" was checked", "give the same file, or change the field"))
		p.Report.Diagnostics.Sort()
	}
}

// WorkloadOf is the workload that a recipe's text names, where this machine can see
// it: as it stands, or through the recipe's mounts. Empty: nowhere.
func (d *Drafts) WorkloadOf(ctx context.Context, recipePath string, recipe []byte) string {
	if ctx.Err() != nil {
		return ""
	}
	file, selector := recipes.SplitSelector(recipePath)
	r, _, _ := recipes.Select(file, recipe, selector)
	if r == nil {
		return ""
	}
	return visible(r, r.Benchmark.ConfigPath, d.opt.Getenv)
}
