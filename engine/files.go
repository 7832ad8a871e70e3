package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/outfile"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/edit"
)

// Files names what a user gives for a run.
type Files struct {
	Recipe   string // behind a colon a selector, where the file holds several recipes
	Workload string // empty: the recipe's agentperf_config, where this machine can see it
	Cluster  string // empty: searched for as srtctl does
	// NoCluster says that there is no cluster file, whatever a search would find.
	NoCluster bool
	// Edits are made in memory before anything else is done; a path that begins
	// with a key of the workload file is meant for that one.
	Edits []recipes.Edit
}

// Pair is a loaded recipe with what belongs to it, and all that is to be said
// about them.
type Pair struct {
	Recipe   *recipes.Recipe
	Workload *recipes.Workload // nil: not given and not found
	Cluster  *recipes.Cluster
	Changes  []recipes.Change
	Report   check.Report

	recipeBytes, workloadBytes []byte

	File  string        // of the recipe, as it was given
	again rundir.Record // the earlier run that these are the files of
}

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
func (e *Engine) Load(ctx context.Context, f Files) (*Pair, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, _ := recipes.SplitSelector(f.Recipe)
	d := Draft{RecipePath: f.Recipe, WorkloadPath: f.Workload, Cluster: f.Cluster, NoCluster: f.NoCluster}
	var err error
	if d.Recipe, err = recipes.Read(file); err != nil {
		return nil, fmt.Errorf("load recipe: %w", err)
	}
	forRecipe, forWorkload := edits(d.Recipe, f.Edits)
	if d.Recipe, err = edit.Apply(d.Recipe, forRecipe); err != nil {
		return nil, fmt.Errorf("edit %s: %w", file, err)
	}
	if d.WorkloadPath == "" {
		d.WorkloadPath = e.WorkloadOf(ctx, f.Recipe, d.Recipe)
	}
	switch {
	case d.WorkloadPath != "":
		if d.Workload, err = recipes.Read(d.WorkloadPath); err != nil {
			return nil, fmt.Errorf("load workload: %w", err)
		}
		if d.Workload, err = edit.Apply(d.Workload, forWorkload); err != nil {
			return nil, fmt.Errorf("edit %s: %w", d.WorkloadPath, err)
		}
	case len(forWorkload) > 0:
		return nil, fmt.Errorf("edit %s: a key of the workload file, and none is given or found: give it with --workload", forWorkload[0].Path)
	}
	p, err := e.checkText(ctx, d, e.lookAround())
	if err == nil && p.Recipe != nil && f.Workload != "" {
		e.warnOfAnother(p, f.Workload)
	}
	return p, err
}

// warnOfAnother tells when the workload that was given is not the one that a job
// of the recipe reads: what was checked would not be what runs.
func (e *Engine) warnOfAnother(p *Pair, given string) {
	const field = "benchmark.agentperf_config"
	path := p.Recipe.Benchmark.ConfigPath
	runs, err := os.Stat(e.visible(p.Recipe, path))
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
func (e *Engine) WorkloadOf(ctx context.Context, recipePath string, recipe []byte) string {
	if ctx.Err() != nil {
		return ""
	}
	file, selector := recipes.SplitSelector(recipePath)
	r, _, _ := recipes.Select(file, recipe, selector)
	if r == nil {
		return ""
	}
	return e.visible(r, r.Benchmark.ConfigPath)
}

// CheckText checks the files of a run as they stand in an editor. Of the disk
// only the cluster file is read.
func (e *Engine) CheckText(ctx context.Context, d Draft) (*Pair, error) {
	return e.checkText(ctx, d, check.Host{})
}

func (e *Engine) checkText(ctx context.Context, d Draft, host check.Host) (*Pair, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &Pair{File: d.RecipePath, workloadBytes: d.Workload}
	file, selector := recipes.SplitSelector(d.RecipePath)
	var found recipes.Diagnostics
	p.Recipe, p.recipeBytes, found = recipes.Select(file, d.Recipe, selector)
	more, err := e.loadCluster(p, d)
	if err != nil {
		return nil, err
	}
	found = append(found, more...)
	if p.Recipe != nil {
		p.Changes = p.Cluster.Apply(p.Recipe, e.getenv)
	}
	if d.WorkloadPath != "" {
		var ds recipes.Diagnostics
		p.Workload, ds = recipes.ParseWorkload(d.WorkloadPath, d.Workload)
		found = append(found, ds...)
	}
	p.Report = check.Run(check.Files{Recipe: p.Recipe, Workload: p.Workload, Cluster: p.Cluster}, host)
	if p.Recipe != nil {
		for _, g := range plan.Unplanned(p.Recipe) {
			found = append(found, p.Recipe.Diag(recipes.Warning, g.Path, "a plan of this program leaves it out: "+g.Why, ""))
		}
	}
	p.Report.Diagnostics = append(found, p.Report.Diagnostics...)
	p.Report.Diagnostics.Sort()
	return p, nil
}

// ErrChanged says that a file is no longer what it was when it was read.
var ErrChanged = errors.New("changed on disk by someone else since it was read")

// Save writes an edited file atomically, if it still is on disk as it was read;
// before nil means that it must not be there yet.
func (e *Engine) Save(ctx context.Context, path string, data, before []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one: the file behind it is what is edited
	}
	now, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && before == nil:
	case err != nil:
		return fmt.Errorf("save: %w", err)
	case before == nil || !bytes.Equal(now, before):
		return fmt.Errorf("save %s: %w; reload it, or save under another name", path, ErrChanged)
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if mode&0o200 == 0 {
		return fmt.Errorf("save %s: it is read-only; make it writable, or save a copy", path)
	}
	if err := outfile.Write(path, data, mode); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return nil
}

// ReadFile reads a file that is to be edited, at most 4 MiB.
func (e *Engine) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return recipes.Read(path)
}

func (e *Engine) loadCluster(p *Pair, d Draft) (recipes.Diagnostics, error) {
	path := d.Cluster
	if path == "" && !d.NoCluster {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("look for a cluster file: %w", err)
		}
		if path, err = recipes.FindCluster(dir, e.getenv); err != nil {
			return nil, err
		}
	}
	c, diags, err := recipes.LoadCluster(path)
	if err != nil {
		return nil, err
	}
	if c == nil { // not even YAML: the diagnostics say so
		if c, _, err = recipes.LoadCluster(""); err != nil {
			return nil, err
		}
	}
	p.Cluster = c
	return diags, nil
}

// visible is where this machine sees a container path: as it is, or through the
// recipe's mounts; empty if nowhere.
func (e *Engine) visible(r *recipes.Recipe, path string) string {
	if path == "" {
		return ""
	}
	if _, err := os.Stat(path); err == nil {
		return path
	}
	for _, m := range r.ExtraMounts {
		host, container, ok := strings.Cut(m, ":")
		if !ok {
			continue
		}
		container, _, _ = strings.Cut(container, ":")
		rest, ok := strings.CutPrefix(path, strings.TrimRight(container, "/")+"/")
		if !ok {
			continue
		}
		candidate := filepath.Join(os.Expand(host, e.getenv), rest)
		if _, err := os.Stat(candidate); err == nil {
			return candidate
		}
	}
	return ""
}

// PlanOptions say where and how large a run is to be.
type PlanOptions struct {
	Target    plan.Target
	Smoke     bool
	OutputDir string // empty: the engine's
	Local     plan.LocalScale
}

// ErrInvalid says that the files of a run have errors; the report has them.
var ErrInvalid = errors.New("the files have errors; run check for the list")

// Plan makes the plan of a loaded pair. With errors in the report it is
// [ErrInvalid]; open placeholders alone do not stand against a plan.
func (e *Engine) Plan(p *Pair, opt PlanOptions) (*plan.Plan, error) {
	if p.Recipe == nil || !p.Report.OnlyTodos() {
		return nil, ErrInvalid
	}
	out := opt.OutputDir
	if out == "" {
		out = e.Paths.Output
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	req := plan.Request{Recipe: p.Recipe, Workload: p.Workload, Cluster: p.Cluster, Changes: p.Changes, Target: opt.Target, OutputDir: out, Smoke: opt.Smoke, StallSeconds: e.stall, Local: opt.Local}
	if opt.Target == plan.Local && p.Workload != nil {
		for _, d := range []struct{ key, path string }{{"trajectory_path", p.Workload.TrajectoryPath}, {"user_assignments_path", p.Workload.AssignmentsPath}} {
			if here := e.visible(p.Recipe, d.path); here != "" && here != d.path {
				req.Local.Paths = append(req.Local.Paths, recipes.Var{Name: d.key, Value: here})
			}
		}
	}
	return plan.Build(req)
}

// Diff compares two recipes or two workload files field by field; which they
// are is told by their keys.
func (e *Engine) Diff(ctx context.Context, a, b string) (recipes.Comparison, error) {
	var c recipes.Comparison
	if err := ctx.Err(); err != nil {
		return c, err
	}
	kinds := [2]bool{}
	for i, name := range []string{a, b} {
		path, _ := recipes.SplitSelector(name)
		data, err := recipes.Read(path)
		if err != nil {
			return c, fmt.Errorf("diff: %w", err)
		}
		kinds[i] = recipes.IsWorkload(path, data)
	}
	if kinds[0] != kinds[1] {
		return c, fmt.Errorf("diff: one of %s and %s is a recipe and the other a workload file", a, b)
	}
	if kinds[0] {
		wa, err := usable(recipes.LoadWorkload(a))
		wb, err2 := usable(recipes.LoadWorkload(b))
		if err := errors.Join(err, err2); err != nil {
			return c, err
		}
		return recipes.DiffWorkloads(wa, wb), nil
	}
	ra, err := usable(recipes.Load(a))
	rb, err2 := usable(recipes.Load(b))
	if err := errors.Join(err, err2); err != nil {
		return c, err
	}
	return recipes.DiffRecipes(ra, rb), nil
}

// usable makes an error of a file that has some: what it means is not certain.
func usable[T any](v *T, found recipes.Diagnostics, err error) (*T, error) {
	if i := slices.IndexFunc(found, func(d recipes.Diagnostic) bool { return d.Severity == recipes.Error }); err == nil && i >= 0 {
		err = fmt.Errorf("%s: not compared while it has errors", found[i])
	}
	return v, err
}
