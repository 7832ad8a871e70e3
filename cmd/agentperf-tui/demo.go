package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/local/simulate"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/sample"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
)

func demoCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "demo", Short: "Run the whole pipeline on an embedded sample", Args: usage(cobra.NoArgs),
		Long: `Port an embedded run directory, check and plan the result, run it on this machine with
mock servers and the built-in client, watch it, roll it up, and compare the figures with
those computed from the timing of the mock servers. It takes about a minute. Exit code 0
if the pipeline works; the verdict of the comparison is printed.`,
		Example: `  agentperf-tui demo
  agentperf-tui demo --headless --keep demo-files`,
	}
	headless := cmd.Flags().Bool("headless", false, "print text instead of opening the workbench")
	keep := cmd.Flags().String("keep", "",
		"keep all files in this new directory (default: a temporary one, removed at the end)")
	d := &demo{app: a}
	addScaleFlags(cmd, &d.scale)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkScale(d.scale); err != nil {
			return err
		}
		if a.json {
			return badInput(problem.New(problem.JSONNotAvailable,
				"demo: --json is not supported; the commands that it runs support it"))
		}
		if !*headless && !isTerminal() {
			return badInput(problem.New(problem.TerminalRequired,
				"demo: not a terminal; pass --headless to run it as text"))
		}
		dir := *keep
		if dir == "" {
			tmp, err := os.MkdirTemp("", "agentperf-demo-")
			if err != nil {
				return err
			}
			dir = tmp
			defer func() { _ = os.RemoveAll(tmp) }() // best effort: the system cleans up its temporary directory
		} else if err := os.Mkdir(dir, 0o755); err != nil {
			return badInput(fmt.Errorf("--keep: %w; give a directory that does not exist", err))
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		// The runs of the demo are recorded in its own directory, not with those of the user.
		a.outputDir, a.stateDir = filepath.Join(dir, "outputs"), filepath.Join(dir, "state")
		d.dir = dir
		show := d.run
		if !*headless {
			show = d.tour
		}
		err = show(cmd.Context())
		// The directory may be removed next: cancel its runs first, also after an error.
		err = errors.Join(err, d.endRuns(context.WithoutCancel(cmd.Context())))
		if *keep == "" {
			a.note("removed the directory of the demo; pass --keep DIR to keep it\n")
		}
		return err
	}
	return cmd
}

// demo is one pass through the pipeline.
type demo struct {
	*app
	dir   string
	scale plan.LocalScale
	pair  *engine.Pair
}

func (d *demo) step(n int, what string) error { return d.say("\n── %d. %s\n", n, what) }

func (d *demo) run(ctx context.Context) error {
	recipe, err := d.port(ctx)
	if err != nil {
		return err
	}
	e, err := d.engine()
	if err != nil {
		return err
	}
	d.step(2, "check the recipe and the workload")
	files := engine.Files{Recipe: recipe, Workload: filepath.Join(d.dir, "workload.yaml")}
	if d.pair, err = e.Load(ctx, files); err != nil {
		return err
	}
	d.checkText(d.pair)
	ref, err := d.runAndWatch(ctx, e)
	if err != nil {
		return err
	}
	d.step(5, "roll up")
	path, _, err := e.Rollup(ctx, ref)
	if err != nil {
		return err
	}
	if path == "" {
		return problem.New(problem.ResultsNotFound, "demo: the run has no completed phase")
	}
	d.say("%s\n", path)
	return d.compare(ctx, e, ref)
}

func (d *demo) port(ctx context.Context) (string, error) {
	d.step(1, "port a harness run directory")
	run, err := d.unpack()
	if err != nil {
		return "", err
	}
	recipe, workload := filepath.Join(d.dir, "recipe.yaml"), filepath.Join(d.dir, "workload.yaml")
	r, err := porter.Port(ctx, run, porter.Options{
		DatasetRoots: []string{filepath.Join(run, "datasets")}, GPUType: "gb300", WorkloadOut: workload,
	})
	if err != nil {
		return "", err
	}
	if _, err := r.Write(recipe, workload, false); err != nil {
		return "", err
	}
	report := filepath.Base(porter.ProvenancePath(recipe))
	return recipe, d.say("%s\nwrote %s, workload.yaml and %s\n", r.SummaryLine(), recipe, report)
}

// unpack writes the sample run directory and returns its path.
func (d *demo) unpack() (string, error) {
	if err := os.CopyFS(d.dir, sample.Files); err != nil {
		return "", fmt.Errorf("unpack the sample: %w", err)
	}
	return filepath.Join(d.dir, filepath.FromSlash(sample.Dir)), nil
}

// endRuns cancels the runs of the demo that have not ended.
func (d *demo) endRuns(ctx context.Context) error {
	e, err := d.engine()
	if err != nil {
		return err
	}
	ctx, done := context.WithTimeout(ctx, time.Minute)
	defer done()
	runs, err := e.Runs(ctx, nil)
	for _, r := range runs {
		if !r.State.Final() {
			err = errors.Join(err, e.Cancel(ctx, r.Ref))
		}
	}
	return err
}

// runAndWatch plans the run, submits it and watches it.
func (d *demo) runAndWatch(ctx context.Context, e *engine.Engine) (engine.RunRef, error) {
	d.step(3, "plan the run for this machine")
	pl, err := e.Plan(d.pair, engine.PlanOptions{Target: plan.Local, Local: d.scale})
	if err != nil {
		return engine.RunRef{}, err
	}
	for _, s := range pl.Substitutions {
		d.say("  %s %s → %s\n", texttable.AlignLeft(s.What, 24), s.From, s.To)
	}
	if err := d.step(4, "run it and watch it"); err != nil {
		return engine.RunRef{}, err
	}
	rec, err := e.Apply(ctx, d.pair, pl, false)
	if err != nil {
		return engine.RunRef{}, err
	}
	ref, err := e.Find(ctx, rec.Dir)
	if err != nil {
		return ref, err
	}
	d.say("run %s in %s\n", ref.Label(), ref.Dir)
	return ref, d.watch(ctx, e, ref, engine.WatchOptions{})
}

func (d *demo) compare(ctx context.Context, e *engine.Engine, ref engine.RunRef) error {
	d.step(6, "compare with the figures computed from the mock servers' timing")
	computed := filepath.Join(d.dir, "reference.yaml")
	if err := simulate.WriteReference(ctx, ref.Dir, computed); err != nil {
		return err
	}
	c, err := e.Parity(ctx, computed, ref.Dir, parity.AnyPhase, parity.Options{})
	if err != nil {
		return err
	}
	return d.say("%s", c.Text())
}
