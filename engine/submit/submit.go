// Package submit takes a run from loaded files to a job that is known and queued, or
// at work: plan, gate, preflight, staging, and the three ways to submit. It knows how
// a run begins, not how it goes on.
package submit

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/local"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Options are what [New] needs.
type Options struct {
	Registry     rundir.Registry
	Files        *draft.Drafts
	State        string  // the folder of the user's state, which holds the submits under way
	Output       string  // base of run folders
	StallSeconds float64 // how long a client may say nothing until its run is called stalled
	Program      string  // this executable
	ProgramsDir  string  // holds it for other architectures of nodes; may be empty
	Version      string
	Host         string // the name of this machine
	Now          func() time.Time
	PortReports  PortReports // nil: no recipe comes from a port
}

// Submitter plans and submits runs. Make it with [New].
type Submitter struct{ opt Options }

// New makes a submitter.
func New(opt Options) *Submitter { return &Submitter{opt: opt} }

// launcher is a way to submit: to Slurm, to this machine, to srtctl.
type launcher interface {
	// preflight looks at what a submit needs and returns what a user should know before
	// saying yes; the error is what makes the submit impossible.
	preflight(ctx context.Context, p *draft.Pair, pl *plan.Plan) ([]string, error)
	// submit stages, records and starts a run, and returns its record.
	submit(ctx context.Context, p *draft.Pair, pl *plan.Plan, rec rundir.Record) (rundir.Record, error)
}

func (s *Submitter) launcher(t plan.Target) launcher {
	switch t {
	case plan.Slurm:
		return slurmLauncher{s}
	case plan.Srtctl:
		return srtctlLauncher{s}
	}
	return localLauncher{s}
}

// Apply submits a planned pair and returns the run once it is recorded and at work. Errors in the
// files are [ErrInvalid]; open placeholders are an error too, unless allowed.
func (s *Submitter) Apply(ctx context.Context, p *draft.Pair, pl *plan.Plan, allowTodo bool) (rundir.Record, error) {
	return s.ApplyAfter(ctx, p, pl, allowTodo, rundir.Record{})
}

// ApplyAfter is Apply for a run that starts when another one has ended, however
// that ends: repeated runs are to measure the same, not one another. A local run is
// not submitted before; the zero record is no run to wait for.
func (s *Submitter) ApplyAfter(
	ctx context.Context, p *draft.Pair, pl *plan.Plan, allowTodo bool, after rundir.Record,
) (rundir.Record, error) {
	if err := s.Gate(p, pl, allowTodo); err != nil {
		return rundir.Record{}, err
	}
	if err := ctx.Err(); err != nil {
		return rundir.Record{}, err
	}
	rec, err := s.newRecord(p, pl)
	if err != nil {
		return rundir.Record{}, err
	}
	rec.After = after.ID
	if pl.Target == plan.Local && after.ID != "" {
		if err := local.AwaitEnd(ctx, after.Dir); err != nil {
			return rec, fmt.Errorf("submit %s: wait for the end of %s: %w", pl.Name, after.ID, err)
		}
	}
	return s.launcher(pl.Target).submit(ctx, p, pl, rec)
}

// newRecord is what is known of a run before it is submitted.
func (s *Submitter) newRecord(p *draft.Pair, pl *plan.Plan) (rundir.Record, error) {
	rec := rundir.Record{
		Version: 1, Name: pl.Name, Launcher: string(pl.Target), Host: s.opt.Host, Created: s.opt.Now().UTC(), Model: pl.Model,
		Levels: []int{}, Smoke: pl.Smoke,
	}
	if pl.Target == plan.Local {
		rec.Users, rec.Seconds = pl.Scale.Users, pl.Scale.Seconds
	}
	var err error
	if rec.Recipe, err = filepath.Abs(p.Recipe.File); err != nil {
		return rec, fmt.Errorf("submit %s: %w", pl.Name, err)
	}
	if p.Workload != nil {
		if rec.Workload, err = filepath.Abs(p.Workload.File); err != nil {
			return rec, fmt.Errorf("submit %s: %w", pl.Name, err)
		}
	}
	if p.Resubmitted.ID != "" { // its files are copies: where they came from is more use
		rec.Again, rec.Recipe, rec.Workload = p.Resubmitted.ID, p.Resubmitted.Recipe, p.Resubmitted.Workload
	}
	for _, ph := range pl.Phases {
		rec.Levels = append(rec.Levels, ph.Concurrency)
	}
	return rec, nil
}

// errPlaceholders is the error of files in which a port left placeholders.
var errPlaceholders = problem.New(problem.PlaceholderOpen,
	"submit: the files have open placeholders; replace them, or pass --allow-todo")

// PortReports knows the reports of the ports that recipes come from.
type PortReports interface {
	// Report is where the report of a recipe lies, or would.
	Report(recipe string) string
	// Open lists the must-fix questions of a port that nobody has answered. A recipe
	// without a report has none; an empty workload is one that is not seen here.
	Open(recipe, workload string) ([]string, error)
}

// Gate says what stands against submitting a planned pair: nil is nothing. It is
// asked before the user is.
func (s *Submitter) Gate(p *draft.Pair, pl *plan.Plan, allowTodo bool) error {
	switch {
	case !p.Report.OnlyTodos():
		return ErrInvalid
	case p.Report.Todos > 0 && !allowTodo:
		return errPlaceholders
	}
	if pl.Target == plan.Local {
		if err := checkDatasetsExist(p, pl); err != nil {
			return err
		}
	}
	if allowTodo || s.opt.PortReports == nil {
		return nil
	}
	workload := "" // only the compute nodes have it
	if p.Workload != nil {
		workload = p.Workload.File
	}
	open, err := s.opt.PortReports.Open(p.Recipe.File, workload)
	if err == nil && len(open) > 0 {
		err = problem.Errorf(problem.QuestionUnanswered, "submit: %d must-fix questions of the port are open (first: %s); "+
			"answer them, or pass --allow-todo", len(open), open[0])
	}
	return err
}

// PlanOptions say where and how large a run is to be.
type PlanOptions struct {
	Target    plan.Target
	Smoke     bool
	OutputDir string // empty: that of [Options]
	Local     plan.LocalScale
}

// ErrInvalid is the error of files with errors. The check report lists them.
var ErrInvalid = problem.New(problem.RecipeInvalid, "the files have errors; list them with agentperf-tui check")

// Plan makes the plan of a loaded pair. With errors in the report it is
// [ErrInvalid]; open placeholders alone do not stand against a plan.
func (s *Submitter) Plan(p *draft.Pair, opt PlanOptions) (*plan.Plan, error) {
	if p.Recipe == nil || !p.Report.OnlyTodos() {
		return nil, ErrInvalid
	}
	out, err := filepath.Abs(cmp.Or(opt.OutputDir, s.opt.Output))
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	req := plan.Request{
		Recipe: p.Recipe, Workload: p.Workload, Cluster: p.Cluster, Changes: p.Changes, Target: opt.Target,
		OutputDir: out, Smoke: opt.Smoke, StallSeconds: s.opt.StallSeconds, Local: opt.Local,
	}
	if opt.Target == plan.Local {
		for _, d := range p.Workload.Datasets() {
			if here := p.HostPath(d.Value); here != "" && here != d.Value {
				req.Local.Paths = append(req.Local.Paths, recipes.Var{Name: d.Name, Value: here})
			}
		}
	}
	return plan.Build(req)
}

// Again loads what an earlier run was submitted with, as its folder has it: recipe,
// workload, cluster file and how large it was to be. Edits are made on top.
func (s *Submitter) Again(ctx context.Context, ref runs.Ref, edits []recipes.Edit) (*draft.Pair, PlanOptions, error) {
	r := ref.Record
	opt := PlanOptions{
		Target: plan.Target(r.Launcher), Smoke: r.Smoke,
		Local: plan.LocalScale{Users: r.Users, Seconds: r.Seconds},
	}
	if r.ID == "" {
		return nil, opt, problem.Errorf(problem.ResubmitNotPossible,
			"submit %s again: external run: its inputs are not recorded; apply its recipe", ref.Dir)
	}
	f := draft.Files{Recipe: filepath.Join(ref.Dir, rundir.RecipeFile), Edits: edits}
	for name, to := range map[string]*string{rundir.WorkloadFile: &f.Workload, rundir.ClusterFile: &f.Cluster} {
		if path := filepath.Join(ref.Dir, name); exists(path) {
			*to = path
		}
	}
	f.NoCluster = f.Cluster == "" // the one that a search finds today was not the run's
	p, err := s.opt.Files.Load(ctx, f)
	if err != nil {
		return nil, opt, fmt.Errorf("submit %s again: %w", ref.Label(), err)
	}
	p.Resubmitted = r
	return p, opt, nil
}
