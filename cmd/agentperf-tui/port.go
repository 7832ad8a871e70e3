package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/porter/tree"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// portFlags holds the flags of port that apply to one run and to --tree.
type portFlags struct {
	opt      porter.Options
	rewrites []string
	answers  string
	strict   bool
	force    bool
}

func portCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "port [RUN_DIR]", Short: "Port a harness run to a recipe and a workload",
		Args: usage(cobra.MaximumNArgs(1)),
		Long: `Port a harness run directory c<N>/ to an srt-slurm recipe, the workload file of the
client, and a report that names the artifact and line of every field. A value that
can't be found becomes a question. The report accounts for each token of the old launch
lines and of the client's command.

An answers file maps question ids, which the report shows in brackets, to values:

  recipe:resources.gpu_type: gb300
  recipe:benchmark.agentperf_client_dir#readable: {accepted: true}

With --tree, port every run directory below a directory, each to a directory of its own
below --out-dir. Runs that were ported before from the same inputs are skipped.`,
		Example: `  agentperf-tui port results/bm_dsv4/c1010 --out r.yaml --workload-out w.yaml
  agentperf-tui port results/bm_dsv4/c1010 --out r.yaml --workload-out w.yaml --answers answers.yaml
  agentperf-tui port --tree results --out-dir ported`,
	}
	f := &portFlags{}
	fl := cmd.Flags()
	out := fl.String("out", "", "recipe to write")
	workload := fl.String("workload-out", "", "workload file to write")
	root := fl.String("tree", "", "port every run directory below this directory")
	outDir := fl.String("out-dir", "", "output directory of --tree")
	fl.StringArrayVar(&f.opt.DatasetRoots, "dataset-root", nil, "directory to search for the datasets; repeatable")
	fl.StringArrayVar(&f.rewrites, "path-rewrite", nil,
		"OLD=NEW: rewrite a path prefix; precedes the default /lustre/=/scratch/; repeatable")
	fl.BoolVar(&f.opt.NoDefaultRewrites, "no-default-rewrites", false, "keep /lustre/ paths")
	fl.StringVar(&f.opt.GPUType, "gpu-type", "", "GPU type of the nodes, such as gb300")
	fl.IntVar(&f.opt.Schema, "schema", 2, "recipe layout, 2 or 1")
	fl.StringVar(&f.answers, "answers", "", "YAML or JSON file or pipe with answers, by the ids in the report; "+
		"they are kept with the recipe and reused when the run is ported again")
	fl.BoolVar(&f.strict, "strict", false, "exit 1 if must-fix questions are open")
	fl.BoolVar(&f.force, "force", false, "replace files that exist")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.read(cmd.Context()); err != nil {
			return badInput(err)
		}
		single := len(args) == 1 && *out != "" && *workload != "" && *root == "" && *outDir == ""
		switch {
		case *root != "" && *outDir != "" && len(args) == 0 && *out == "" && *workload == "":
			opt := tree.Options{Options: f.opt, OutDir: *outDir, Force: f.force, Program: version}
			return a.portTree(cmd.Context(), *root, opt, f.strict)
		case !single:
			return badInput(portUsage(args, *root, *outDir))
		}
		f.opt.RecipeOut, f.opt.WorkloadOut = *out, *workload
		return a.portOne(cmd.Context(), args[0], f)
	}
	return cmd
}

// portUsage says what is wrong with a combination of run directory and flags, or with the directory itself.
func portUsage(args []string, root, outDir string) error {
	if root == "" && len(args) > 0 {
		if _, err := harness.Open(args[0]); err != nil {
			return fmt.Errorf("port %s: %w", args[0], err)
		}
	}
	return problem.New(problem.Usage, portUsageText(args, root, outDir))
}

func portUsageText(args []string, root, outDir string) string {
	switch {
	case root != "" && outDir == "":
		return "port --tree " + root + ": --out-dir is missing; name the directory to write to"
	case root != "":
		return "port --tree " + root + ": the files are written below --out-dir; leave out the run directory, " +
			"--out and --workload-out"
	case len(args) == 0:
		return "port: no run directory; give one with --out and --workload-out, or pass --tree with --out-dir"
	case outDir != "":
		return "port " + args[0] + ": --out-dir belongs to --tree; name the files to write with --out and --workload-out"
	}
	return "port " + args[0] + ": name the files to write with both --out and --workload-out"
}

// read parses the flags that are given as text.
func (f *portFlags) read(ctx context.Context) error {
	for _, r := range f.rewrites {
		from, to, ok := strings.Cut(r, "=")
		if !ok || from == "" {
			return problem.Errorf(problem.FlagValue, "--path-rewrite: must be OLD=NEW, got %q", r)
		}
		f.opt.PathRewrites = append(f.opt.PathRewrites, rules.Rewrite{Old: from, New: to})
	}
	if f.answers == "" {
		return nil
	}
	var err error
	f.opt.Answers, err = porter.LoadAnswers(ctx, f.answers)
	return err
}

func (a *app) portOne(ctx context.Context, dir string, f *portFlags) error {
	defer debug.SetGCPercent(debug.SetGCPercent(portGC))
	r, err := porter.Port(ctx, dir, f.opt)
	if err != nil {
		return badInput(err)
	}
	if _, err := r.Write(f.opt.RecipeOut, f.opt.WorkloadOut, f.force); err != nil {
		return badInput(err)
	}
	if err := a.portReport(r, f.opt.RecipeOut, f.opt.WorkloadOut); err != nil {
		return err
	}
	if n := r.CountOpen(porter.MustFix); f.strict && n > 0 {
		return exitError{
			code: 1,
			err: problem.Errorf(
				problem.QuestionUnanswered,
				"port: %s open; answer with --answers",
				ui.Plural(n, "must-fix question"),
			),
		}
	}
	return nil
}

// portReport prints the report of a port and the names of the written files.
func (a *app) portReport(r *porter.Result, recipe, workload string) error {
	a.notes(r.Notices)
	if a.json {
		doc, err := r.ShownJSON()
		if err != nil {
			return err
		}
		return a.say("%s", doc)
	}
	a.lines(r.ProvenanceText())
	return a.say("\nwrote %s, %s, %s\n", recipe, workload, porter.ProvenancePath(recipe))
}

// portReports finds and reads the port report beside a recipe.
type portReports struct{}

// Report returns the path of the report of a recipe.
func (portReports) Report(recipe string) string { return porter.ProvenancePath(recipe) }

// Questions lists the open questions of a port.
func (portReports) Questions(r *recipes.Recipe, w *recipes.Workload) ([]check.Question, error) {
	todos, err := porter.OpenQuestions(r, w)
	open := make([]check.Question, 0, len(todos))
	for _, t := range todos {
		open = append(open, check.Question{
			ID: t.ID, MustFix: t.Kind == porter.MustFix, InWorkload: t.File == porter.Workload, Path: t.Path,
			Message: t.Message,
		})
	}
	return open, err
}
