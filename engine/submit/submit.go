// Package submit plans runs and submits them with one of three launchers: Slurm, srtctl or this
// machine. It checks the files and the cluster, stages the run directory, records the run and
// starts it.
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

// Options configures [New].
type Options struct {
	Registry     rundir.Registry
	Files        *draft.Drafts
	State        string  // state directory of the user, with the submissions in progress
	Output       string  // default output directory
	StallSeconds float64 // how long a client may be silent before its run counts as stalled
	Program      string  // path of this executable
	ProgramsDir  string  // directory of its builds for other architectures; may be empty
	Version      string
	Host         string // name of this host
	Now          func() time.Time
	PortReports  draft.PortReports // copied to the run directory; nil: no recipe was ported
}

// Submitter plans and submits runs. Use [New] to create one.
type Submitter struct{ opt Options }

// New returns a Submitter.
func New(opt Options) *Submitter { return &Submitter{opt: opt} }

// launcher submits runs to a target: Slurm, srtctl or this machine.
type launcher interface {
	// preflight returns notes for the user to read before confirming. The error says why the
	// run can't be submitted.
	preflight(ctx context.Context, p *draft.Pair, pl *plan.Plan) ([]string, error)
	// submit stages, records and starts a run and returns its record.
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

// Apply submits a planned pair and returns the record of the run, which is then queued or
// running. It returns the error of [Submitter.Gate] if the pair can't be submitted.
func (s *Submitter) Apply(ctx context.Context, p *draft.Pair, pl *plan.Plan, allowTodo bool) (rundir.Record, error) {
	return s.ApplyAfter(ctx, p, pl, allowTodo, rundir.Record{})
}

// ApplyAfter is Apply for a run that starts after another one has ended, in whatever state, so
// that repeated runs do not disturb each other. For a local run it waits for that end. A zero
// record means no other run.
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

// newRecord returns the record of a run before it is submitted, without id and directory.
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
	if p.Resubmitted.ID != "" { // record the original files, not the copies in the run directory
		rec.Again, rec.Recipe, rec.Workload = p.Resubmitted.ID, p.Resubmitted.Recipe, p.Resubmitted.Workload
	}
	for _, ph := range pl.Phases {
		rec.Levels = append(rec.Levels, ph.Concurrency)
	}
	return rec, nil
}

// errPlaceholders means that the files still have placeholders of a port.
var errPlaceholders = problem.New(problem.PlaceholderOpen,
	"submit: the files have open placeholders; replace them, or pass --allow-todo")

// Gate returns an error if a planned pair can't be submitted: [ErrInvalid] if the files have
// errors, or one for a missing dataset of a local run. Open placeholders and must-fix
// questions of a port are errors unless allowTodo is set.
func (s *Submitter) Gate(p *draft.Pair, pl *plan.Plan, allowTodo bool) error {
	switch {
	case !p.Report.OnlyTodos():
		return ErrInvalid
	case p.Report.Todos > 0 && !allowTodo:
		return errPlaceholders
	case p.Report.Questions > 0 && !allowTodo:
		return problem.Errorf(problem.QuestionUnanswered, "submit: open must-fix questions of the port: %d (first: %s); "+
			"answer them, or pass --allow-todo", p.Report.Questions, p.Report.FirstQuestion())
	}
	if unset := p.Recipe.UnsetVariables(); len(unset) > 0 && pl.Target == plan.Slurm {
		return problem.Errorf(problem.PlanInvalid, "submit: %s: %q: the variable %s is not set; set it, or write the path",
			unset[0].Path, unset[0].Value, unset[0].Name)
	}
	if pl.Target == plan.Local {
		if err := checkDatasetsExist(p, pl); err != nil {
			return err
		}
	}
	return nil
}

// PlanOptions selects the target and the size of a run.
type PlanOptions struct {
	Target    plan.Target
	Smoke     bool
	OutputDir string // empty: Output of [Options]
	Local     plan.LocalScale
}

// ErrInvalid means that the files have errors, which the check report lists.
var ErrInvalid = problem.New(problem.RecipeInvalid, "the files have errors; list them with agentperf-tui check")

// Plan returns the plan of a loaded pair, or [ErrInvalid] if the report has errors other than
// open placeholders.
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
		ResolvedModel: p.ResolvedModel(), OutputDir: out, Smoke: opt.Smoke, StallSeconds: s.opt.StallSeconds,
		Local: opt.Local,
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

// Again loads the inputs of an earlier run from its run directory: recipe, workload, cluster
// file, and the options for its size. It applies edits to them.
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
	f.NoCluster = f.Cluster == "" // a search could find a cluster file that the run did not use
	p, err := s.opt.Files.Load(ctx, f)
	if err != nil {
		return nil, opt, fmt.Errorf("submit %s again: %w", ref.Label(), err)
	}
	p.Resubmitted = r
	return p, opt, nil
}
