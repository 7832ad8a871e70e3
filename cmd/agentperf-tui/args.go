package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// usage makes a wrong number of arguments exit 2.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return badInput(problem.Errorf(problem.Usage, "%w; see %s --help", err, cmd.CommandPath()))
		}
		return nil
	}
}

// recipeFlag accepts -f FILE wherever a recipe is a positional argument.
func recipeFlag(cmd *cobra.Command) *string {
	return cmd.Flags().StringP("file", "f", "", "recipe file, instead of the argument")
}

// recipeArg is the recipe of a command line, given either way.
func recipeArg(args []string, flag string) (string, error) {
	switch {
	case flag != "" && len(args) > 0:
		return "", badInput(fmt.Errorf("two recipes are given, %s and -f %s", args[0], flag))
	case flag != "":
		return flag, nil
	case len(args) == 1:
		return args[0], nil
	}
	return "", badInput(errors.New("no recipe is given"))
}

// inputs are the files of a run as a command line names and changes them.
type inputs struct {
	engine.Files
	file *string // the recipe as -f gives it
}

// inputFlags bind the flags that name a run's files and change them.
func inputFlags(cmd *cobra.Command) *inputs {
	f := &inputs{file: recipeFlag(cmd)}
	cmd.Flags().StringVar(&f.Workload, "workload", "",
		"workload file (default: the recipe's agentperf_config, where it can be seen)")
	cmd.Flags().StringVar(&f.Cluster, "cluster", "",
		"cluster file (default: $SRTSLURM_CONFIG, or srtslurm.yaml here or up to two folders above)")
	cmd.Flags().Var(&edits{op: recipes.OpSet, to: &f.Edits}, "set",
		"`path=value` to use instead of what the files say, in the order given; keys of the workload file too")
	cmd.Flags().Var(&edits{op: recipes.OpUnset, to: &f.Edits}, "unset", "`path` to leave out of the files")
	return f
}

// edits is a flag that may be given several times; --set and --unset share one
// list, since their order counts.
type edits struct {
	op recipes.Op
	to *[]recipes.Edit
}

// Set takes one edit.
func (e *edits) Set(text string) error {
	path, value, ok := text, "", true
	if e.op == recipes.OpSet {
		path, value, ok = strings.Cut(text, "=")
	}
	if !ok || path == "" {
		return fmt.Errorf("want path=value, found %q", text)
	}
	*e.to = append(*e.to, recipes.Edit{Op: e.op, Path: path, Value: value})
	return nil
}

// String is empty: there is no default to show.
func (e *edits) String() string { return "" }

// Type names the value in help texts.
func (e *edits) Type() string { return "string" }

// load reads the files of a command line.
func (a *app) load(ctx context.Context, args []string, f *inputs) (e *engine.Engine, p *engine.Pair, err error) {
	if f.Recipe, err = recipeArg(args, *f.file); err != nil {
		return nil, nil, err
	}
	if e, err = a.engine(); err != nil {
		return nil, nil, err
	}
	p, err = e.Load(ctx, f.Files)
	return e, p, badInput(err)
}

// required refuses a command line that lacks one of these flags.
func required(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Lookup(name).Value.String() == "" {
			return badInput(fmt.Errorf("--%s is required", name))
		}
	}
	return nil
}

func (a *app) find(ctx context.Context, run string) (*engine.Engine, engine.RunRef, error) {
	e, err := a.engine()
	if err != nil {
		return nil, engine.RunRef{}, err
	}
	l, err := e.Find(ctx, run)
	return e, l, badInput(err)
}

// scaleFlags bind what target local plays of a run.
func scaleFlags(cmd *cobra.Command, s *plan.LocalScale) {
	cmd.Flags().IntVar(&s.Users, "users", plan.DefaultUsers, "launcher local: users of the highest level")
	cmd.Flags().Float64Var(&s.Seconds, "seconds", plan.DefaultSeconds, "launcher local: length of a phase, its timeout")
}

// checkScale makes nonsense bad input.
func checkScale(s plan.LocalScale) error {
	if s.Users < 1 || !(s.Seconds > 0) || math.IsInf(s.Seconds, 0) {
		return badInput(fmt.Errorf("--users %d --seconds %g: want at least one user and more than 0 s", s.Users, s.Seconds))
	}
	return nil
}

// target reads --launcher.
func target(launcher string) (plan.Target, error) {
	switch launcher {
	case "slurm":
		return plan.Slurm, nil
	case "local":
		return plan.Local, nil
	case "srtctl":
		return plan.Srtctl, nil
	}
	return "", badInput(fmt.Errorf("launcher %q: want slurm, local or srtctl", launcher))
}

// parseLevels reads concurrency levels: 64,1010.
func parseLevels(text string) ([]int, error) {
	var levels []int
	for l := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(l))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("--concurrencies %q: %q is no whole number above 0", text, l)
		}
		levels = append(levels, n)
	}
	return levels, nil
}
