// Package draft loads, checks, fixes and saves a recipe and its workload while they are
// edited. A save never overwrites a file that someone else has changed. Unsaved
// changes are kept on disk when the program exits.
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

// Options are the arguments of [New].
type Options struct {
	Getenv func(string) string
	Now    func() time.Time
	Host   string // the name of this machine
	State  string // the user's state directory
	// PortReports finds the questions of ported recipes; nil: no recipe was ported.
	PortReports PortReports
}

// Drafts reads and writes the files of runs. Create it with [New].
type Drafts struct{ opt Options }

// New returns a Drafts.
func New(opt Options) *Drafts { return &Drafts{opt: opt} }

// Files names the input files of a run.
type Files struct {
	Recipe    string // path, with :selector if the file contains several recipes
	Workload  string // empty: the recipe's agentperf_config, if it exists on this machine
	Cluster   string // empty: searched for as srtctl does
	NoCluster bool   // use none and do not search
	// Edits are applied in memory after loading. A path that begins with a key of the
	// workload file applies to the workload.
	Edits []recipes.Edit
}

// Pair is a loaded recipe with its workload and cluster file, and the report of their checks.
type Pair struct {
	Recipe   *recipes.Recipe
	Workload *recipes.Workload // nil: not given and not found
	Cluster  *recipes.Cluster
	Changes  []recipes.Change
	Report   check.Report

	File        string        // path of the recipe, as given
	Resubmitted rundir.Record // the earlier run that is submitted again; zero: none

	RecipeText, WorkloadText []byte // the text that was checked

	getenv func(string) string
}

// HostPath returns the path on this machine for a container path of the recipe, resolved through
// the recipe's mounts if necessary. It is empty if the file does not exist here.
func (p *Pair) HostPath(path string) string { return hostPath(p.Recipe, path, p.getenv) }

// Draft is the text of a run's files in an editor, saved or not.
type Draft struct {
	RecipePath   string
	Recipe       []byte
	WorkloadPath string // empty: there is no workload
	Workload     []byte
	Cluster      string // path; empty: searched for as srtctl does
	NoCluster    bool   // use none and do not search
}

// Load reads and checks the files of a run. Problems in their content go to the report;
// an error means that a file can't be read or edited.
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
	forRecipe, forWorkload := splitEdits(t.Recipe, f.Edits)
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
	p, err := d.checkText(ctx, t, d.localHost())
	if err == nil && p.Recipe != nil && f.Workload != "" {
		warnWorkloadMismatch(p, f.Workload)
	}
	return p, err
}

// warnWorkloadMismatch adds a warning if the given workload is not the file that a job of
// the recipe reads, because the run would use an unchecked file.
func warnWorkloadMismatch(p *Pair, given string) {
	const field = "benchmark.agentperf_config"
	path := p.Recipe.Benchmark.ConfigPath
	jobFile, err := os.Stat(p.HostPath(path))
	if err != nil {
		return // the path exists only in the container
	}
	if checked, err := os.Stat(given); err == nil && !os.SameFile(jobFile, checked) {
		p.Report.Diagnostics = append(p.Report.Diagnostics, p.Recipe.Diag(recipes.Warning, field,
			"a Slurm job reads this file, but "+given+" was checked", "pass the same file, or change the field"))
		p.Report.Diagnostics.Sort()
	}
}

// WorkloadOf returns the path on this machine of the workload that a recipe names, resolved
// through the recipe's mounts if necessary. It is empty if the file does not exist here.
func (d *Drafts) WorkloadOf(ctx context.Context, recipePath string, recipe []byte) string {
	if ctx.Err() != nil {
		return ""
	}
	file, selector := recipes.SplitSelector(recipePath)
	r, _, _ := recipes.Select(file, recipe, selector)
	if r == nil {
		return ""
	}
	return hostPath(r, r.Benchmark.ConfigPath, d.opt.Getenv)
}
