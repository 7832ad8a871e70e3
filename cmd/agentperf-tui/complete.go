package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/reference"
)

// choice is a flag with a fixed set of values, which the shell completes.
type choice struct {
	value   *string
	allowed []string
}

// addChoiceFlag adds a flag with a fixed set of values; the first one is the default.
func addChoiceFlag(fl *pflag.FlagSet, p *string, name, usage string, allowed ...string) {
	*p = allowed[0]
	fl.Var(&choice{value: p, allowed: allowed}, name, strings.Join(allowed, ", ")+usage)
}

// Set stores an allowed value.
func (c *choice) Set(text string) error {
	if !slices.Contains(c.allowed, text) {
		return problem.Errorf(problem.FlagValue, "must be one of %s", strings.Join(c.allowed, ", "))
	}
	*c.value = text
	return nil
}

// String returns the value.
func (c *choice) String() string {
	if c.value == nil { // pflag calls it on a zero value
		return ""
	}
	return *c.value
}

// Type names the value in help texts.
func (c *choice) Type() string { return "string" }

// complete registers completions for a command and its subcommands. An argument is looked
// up by its word in Use, a flag by its name. A completion reads the recorded runs and at
// most one run directory; it never searches directories.
func (a *app) complete(cmd *cobra.Command) error {
	values := a.completions()
	var words []string
	for _, word := range strings.Fields(cmd.Use)[1:] {
		words = append(words, strings.Trim(word, "[]"))
	}
	if len(words) > 0 {
		cmd.ValidArgsFunction = func(
			cmd *cobra.Command, args []string, prefix string,
		) ([]cobra.Completion, cobra.ShellCompDirective) {
			i := len(args)
			if last := len(words) - 1; i > last && strings.HasSuffix(words[last], "...") {
				i = last
			}
			if i >= len(words) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			f, ok := values[strings.TrimSuffix(words[i], "...")]
			if !ok {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return f(cmd, args, prefix)
		}
	} else {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	var failed error
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		complete := values["--"+f.Name]
		if c, ok := f.Value.(*choice); ok {
			complete = cobra.FixedCompletions(c.allowed, cobra.ShellCompDirectiveNoFileComp)
		}
		if complete == nil {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			failed = err
		}
	})
	if failed != nil {
		return failed
	}
	for _, sub := range cmd.Commands() {
		if err := a.complete(sub); err != nil {
			return err
		}
	}
	return nil
}

// completions returns the completions of arguments, by their word in Use, and of
// flags, by their name. Flags without an entry take files, numbers or text.
func (a *app) completions() map[string]cobra.CompletionFunc {
	yaml := cobra.FixedCompletions([]string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt)
	dirs := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	return map[string]cobra.CompletionFunc{
		"RUN": a.completeRuns, "REF": a.completeRuns, "CAND": a.completeRuns, "STEP": a.completeSteps,
		"--again": a.completeRuns, "--ref": a.completeRuns,
		"RECIPE": yaml, "A": yaml, "B": yaml, "--file": yaml, "--workload": yaml, "--cluster": yaml,
		"--config": yaml, "--answers": yaml, "--out": cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault),
		"ROOT": dirs, "RUN_DIR": dirs, "--root": dirs, "--tree": dirs, "--out-dir": dirs, "--output-dir": dirs,
		"--dataset-root": dirs, "--results-dir": dirs, "--keep": dirs, "--run-dir": dirs, "--client-dir": dirs,
		"NAME": completeNames, "--set": completeFields("="), "--unset": completeFields(""),
	}
}

// completeRuns completes recorded runs, the latest first; a path is completed by the shell.
func (a *app) completeRuns(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	e, err := a.engine()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	records, _ := e.Recorded() // unreadable records are left out
	slices.SortFunc(records, func(x, y engine.Record) int { return y.Created.Compare(x.Created) })
	var out []cobra.Completion
	for _, r := range records {
		out = append(out, cobra.CompletionWithDesc(r.Name+"_"+r.ID,
			fmt.Sprintf("%s, submitted %s", r.Launcher, r.Created.Local().Format("2006-01-02 15:04"))))
	}
	return out, cobra.ShellCompDirectiveKeepOrder
}

// completeSteps completes the steps of the run in the first argument that have logs.
func (a *app) completeSteps(
	cmd *cobra.Command, args []string, _ string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	e, ref, err := a.find(cmd.Context(), args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	files, err := e.LogFiles(ref)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var out []cobra.Completion
	for _, f := range files {
		if !slices.Contains(args[1:], f.Step) {
			out = append(out, f.Step)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeNames completes the names that explain accepts.
func completeNames(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return reference.Names(), cobra.ShellCompDirectiveNoFileComp
}

// completeFields completes the paths of recipe and workload fields, with the suffix end.
func completeFields(end string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var out []cobra.Completion
		for _, e := range reference.Explain("").Entries {
			if e.File != "cluster" {
				out = append(out, cobra.CompletionWithDesc(e.Path+end, e.Doc))
			}
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		if end != "" {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return out, directive
	}
}
