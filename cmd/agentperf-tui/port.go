package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine/safetext"
	"github.com/agentperf/agentperf-tui/porter"
)

func portCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "port RUN_DIR", Short: "Turn a harness run directory into a recipe and a workload", Args: usage(cobra.ExactArgs(1)),
		Long: "Turn a harness run directory c<N>/ into an srt-slurm recipe, the client's workload\nfile and a provenance report: for every field the artifact and line that it came\nfrom. What can't be found is asked for, never guessed in silence.",
	}
	var opt porter.Options
	fl := cmd.Flags()
	out := fl.String("out", "", "recipe to write (required)")
	workload := fl.String("workload-out", "", "workload file to write (required)")
	fl.StringArrayVar(&opt.DatasetRoots, "dataset-root", nil, "folder to look for the datasets in; repeat")
	rewrites := fl.StringArray("path-rewrite", nil, "OLD=NEW: rewrite a path prefix, before the default /lustre/=/scratch/; repeat")
	fl.BoolVar(&opt.NoDefaultRewrites, "no-default-rewrites", false, "keep /lustre/ paths")
	fl.StringVar(&opt.GPUType, "gpu-type", "", "GPU type of the nodes, such as gb300")
	fl.IntVar(&opt.Schema, "schema", 2, "recipe layout, 2 or 1")
	answers := fl.String("answers", "", "YAML or JSON file of answers to open questions, by their IDs in the report; they are kept and given again when the recipe is ported anew")
	strict := fl.Bool("strict", false, "exit 1 if must-fix questions are open")
	force := fl.Bool("force", false, "replace files that exist")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *out == "" || *workload == "" {
			return badInput(errors.New("--out and --workload-out are required: where to write the recipe and the workload"))
		}
		opt.RecipeOut, opt.WorkloadOut = *out, *workload
		if *answers != "" {
			var err error
			if opt.Answers, err = porter.LoadAnswers(*answers); err != nil {
				return badInput(err)
			}
		}
		for _, r := range *rewrites {
			from, to, ok := strings.Cut(r, "=")
			if !ok || from == "" {
				return badInput(fmt.Errorf("--path-rewrite %q: want OLD=NEW", r))
			}
			opt.PathRewrites = append(opt.PathRewrites, porter.Rewrite{Old: from, New: to})
		}
		r, err := porter.Port(cmd.Context(), args[0], opt)
		if err != nil {
			return badInput(err)
		}
		if err := r.Write(*out, *workload, *force); err != nil {
			return badInput(err)
		}
		if err := a.portReport(r, *out, *workload); err != nil {
			return err
		}
		if n := r.Open(porter.MustFix); *strict && n > 0 {
			return exitError{code: 1, err: fmt.Errorf("%d must-fix questions are open", n)}
		}
		return nil
	}
	return cmd
}

// portReport prints what was written, where it came from and what is open.
func (a *app) portReport(r *porter.Result, recipe, workload string) error {
	for _, n := range r.Notices {
		if err := a.note("%s\n", safetext.Clean(n)); err != nil {
			return err
		}
	}
	if a.json {
		doc, err := r.ProvenanceJSON()
		if err != nil {
			return err
		}
		return a.say("%s", doc)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(r.ProvenanceText(), "\n"), "\n") {
		if err := a.say("%s\n", safetext.Clean(line)); err != nil {
			return err
		}
	}
	return a.say("\nwrote %s, %s, %s\n", recipe, workload, porter.ProvenancePath(recipe))
}
