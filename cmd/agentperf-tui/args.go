package main

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// usage wraps check: a wrong number of arguments is bad input, with a pointer to --help.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return badInput(problem.Errorf(problem.Usage, "%w; see %s --help", err, cmd.CommandPath()))
		}
		return nil
	}
}

// addRecipeFlag adds -f FILE, an alternative to the argument RECIPE.
func addRecipeFlag(cmd *cobra.Command) *string {
	return cmd.Flags().StringP("file", "f", "", "recipe file, instead of the argument RECIPE")
}

// recipeArg returns the recipe given as argument or with -f.
func recipeArg(args []string, flag string) (string, error) {
	switch {
	case flag != "" && len(args) > 0:
		return "", badInput(
			problem.Errorf(problem.FlagConflict, "two recipes were given: %s and -f %s; give only one", args[0], flag),
		)
	case flag != "":
		return flag, nil
	case len(args) == 1:
		return args[0], nil
	}
	return "", badInput(problem.New(problem.Usage, "no recipe was given; pass one as an argument or with -f"))
}

// inputFlags holds the flags that name the input files of a run and change their fields.
type inputFlags struct {
	engine.Files
	file *string // the value of -f
}

// addInputFlags adds the flags of inputFlags to a command.
func addInputFlags(cmd *cobra.Command) *inputFlags {
	f := &inputFlags{file: addRecipeFlag(cmd)}
	cmd.Flags().StringVar(&f.Workload, "workload", "",
		"workload file (default: agentperf_config of the recipe, if it is visible here)")
	cmd.Flags().StringVar(&f.Cluster, "cluster", "",
		"cluster file (default: $SRTSLURM_CONFIG, or srtslurm.yaml here or up to two directories above)")
	cmd.Flags().Var(&edits{op: recipes.OpSet, to: &f.Edits}, "set",
		"set a field of each recipe of the file, or of the workload: `path=value`; repeatable, applied in order")
	cmd.Flags().Var(&edits{op: recipes.OpUnset, to: &f.Edits}, "unset", "remove the field at `path`; repeatable")
	return f
}

// edits is the value of --set and --unset. Both append to one list, because their
// order matters.
type edits struct {
	op recipes.Op
	to *[]recipes.Edit
}

// Set appends one edit.
func (e *edits) Set(text string) error {
	path, value, ok := text, "", true
	if e.op == recipes.OpSet {
		path, value, ok = strings.Cut(text, "=")
	}
	if !ok || path == "" {
		return problem.Errorf(problem.FlagValue, "must be path=value, got %q", text)
	}
	*e.to = append(*e.to, recipes.Edit{Op: e.op, Path: path, Value: value})
	return nil
}

// String returns "": the flags have no default.
func (e *edits) String() string { return "" }

// Type names the value in help texts.
func (e *edits) Type() string { return "string" }

// load loads the files given on the command line.
func (a *app) load(ctx context.Context, args []string, f *inputFlags) (e *engine.Engine, p *engine.Pair, err error) {
	if f.Recipe, err = recipeArg(args, *f.file); err != nil {
		return nil, nil, err
	}
	if e, err = a.engine(); err != nil {
		return nil, nil, err
	}
	p, err = e.Load(ctx, f.Files)
	return e, p, badInput(err)
}

// required returns an error if one of the flags was not given.
func required(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Lookup(name).Value.String() == "" {
			return badInput(problem.Errorf(problem.Usage, "--%s is required", name))
		}
	}
	return nil
}

// find returns the run that a RUN argument refers to.
func (a *app) find(ctx context.Context, run string) (*engine.Engine, engine.RunRef, error) {
	e, err := a.engine()
	if err != nil {
		return nil, engine.RunRef{}, err
	}
	ref, err := e.Find(ctx, run)
	return e, ref, badInput(err)
}

// addScaleFlags adds --users and --seconds, the scale of a local run.
func addScaleFlags(cmd *cobra.Command, s *plan.LocalScale) {
	cmd.Flags().IntVar(&s.Users, "users", plan.DefaultUsers, "local launcher: users of the highest concurrency level")
	cmd.Flags().Float64Var(&s.Seconds, "seconds", plan.DefaultSeconds, "local launcher: timeout of a phase, in seconds")
}

// checkScale checks the values of --users and --seconds.
func checkScale(s plan.LocalScale) error {
	if s.Users < 1 || !(s.Seconds > 0) || math.IsInf(s.Seconds, 0) {
		return badInput(problem.Errorf(problem.FlagValue,
			"--users must be at least 1 and --seconds more than 0, got %d and %g", s.Users, s.Seconds))
	}
	return nil
}

// parseLevels parses concurrency levels such as 64,1010.
func parseLevels(text string) ([]int, error) {
	var levels []int
	for level := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(level))
		if err != nil || n < 1 {
			return nil, problem.Errorf(problem.FlagValue,
				"--concurrencies %q: %q is not a whole number above 0", text, level)
		}
		levels = append(levels, n)
	}
	return levels, nil
}
