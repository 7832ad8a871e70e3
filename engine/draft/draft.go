// Package draft loads, checks, fixes and saves a recipe and its workload while they are
// edited. A save never overwrites a file that someone else has changed. Unsaved
// changes are kept on disk when the program exits.
package draft

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// ResolvedModel returns the model's directory with symbolic links resolved; empty if this machine does not
// have it.
func (p *Pair) ResolvedModel() string {
	if !filepath.IsAbs(p.Recipe.ModelPath) {
		return ""
	}
	dir, err := filepath.EvalSymlinks(p.Recipe.ModelPath)
	if err != nil { // a path of other machines, or of compute nodes only
		return ""
	}
	return dir
}

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
	in, err := d.open(ctx, f)
	if err != nil {
		return nil, err
	}
	r, text, found := recipes.Select(in.file, in.recipe, in.selector)
	return in.pair(ctx, f.Recipe, r, text, found)
}

// LoadAll is like [Drafts.Load] for all recipes of a file that f.Recipe selects. Each of them has the
// findings about the structure of the file.
func (d *Drafts) LoadAll(ctx context.Context, f Files) ([]*Pair, error) {
	in, err := d.open(ctx, f)
	if err != nil {
		return nil, err
	}
	all, structure := recipes.Variants(in.file, in.recipe, in.selector)
	if len(all) < 2 {
		r, text, found := recipes.Select(in.file, in.recipe, in.selector)
		p, err := in.pair(ctx, f.Recipe, r, text, found)
		return []*Pair{p}, err
	}
	pairs := make([]*Pair, 0, len(all))
	for _, v := range all {
		r, text, found := v.Load(in.recipe)
		p, err := in.pair(ctx, in.file+":"+v.Selector, r, text, slices.Concat(structure, found))
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// inputs are the files of a run, read once for all recipes of a file.
type inputs struct {
	*Drafts
	files          Files
	file, selector string // of the recipe
	recipe         []byte // with the edits
	forWorkload    []recipes.Edit
	workloads      map[string][]byte // with the edits, by path
	cluster        *recipes.Cluster
	clusterFound   recipes.Diagnostics
	host           check.Host
}

func (d *Drafts) open(ctx context.Context, f Files) (in inputs, err error) {
	if err := ctx.Err(); err != nil {
		return in, err
	}
	in = inputs{Drafts: d, files: f, workloads: map[string][]byte{}, host: d.localHost()}
	in.file, in.selector = recipes.SplitSelector(f.Recipe)
	if in.recipe, err = recipes.Read(in.file); err != nil {
		return in, fmt.Errorf("load recipe: %w", err)
	}
	var forRecipe []recipes.Edit
	forRecipe, in.forWorkload = splitEdits(in.recipe, f.Edits)
	if in.recipe, err = edit.ApplyToAll(in.recipe, forRecipe); err != nil {
		return in, fmt.Errorf("edit %s: %w", in.file, err)
	}
	in.cluster, in.clusterFound, err = d.loadCluster(f.Cluster, f.NoCluster)
	return in, err
}

// pair checks one recipe with its workload. found are the findings of loading the recipe.
func (in inputs) pair(
	ctx context.Context, name string, r *recipes.Recipe, text []byte, found recipes.Diagnostics,
) (*Pair, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &Pair{File: name, Recipe: r, RecipeText: text, Cluster: in.cluster, getenv: in.opt.Getenv}
	path := in.files.Workload
	if path == "" && r != nil {
		path = hostPath(r, r.Benchmark.ConfigPath, in.opt.Getenv)
	}
	if path == "" && len(in.forWorkload) > 0 {
		return nil, problem.Errorf(problem.WorkloadMissing,
			"edit %s: this is a key of the workload, and no workload file was given or found; pass --workload FILE",
			in.forWorkload[0].Path)
	}
	found = slices.Concat(found, in.clusterFound)
	if path != "" {
		var err error
		if p.WorkloadText, err = in.workload(path); err != nil {
			return nil, err
		}
		var more recipes.Diagnostics
		p.Workload, more = recipes.ParseWorkload(path, p.WorkloadText)
		found = append(found, more...)
	}
	in.check(p, found, in.host)
	if r != nil && in.files.Workload != "" {
		warnWorkloadMismatch(p, in.files.Workload)
	}
	return p, nil
}

// workload returns the text of a workload file with the edits.
func (in inputs) workload(path string) ([]byte, error) {
	if text, ok := in.workloads[path]; ok {
		return text, nil
	}
	text, err := recipes.Read(path)
	if err != nil {
		return nil, fmt.Errorf("load workload: %w", err)
	}
	if text, err = edit.Apply(text, in.forWorkload); err != nil {
		return nil, fmt.Errorf("edit %s: %w", path, err)
	}
	in.workloads[path] = text
	return text, nil
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
