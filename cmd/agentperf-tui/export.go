package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/outfile"
	"github.com/agentperf/agentperf-tui/engine/report"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// exportFlags holds the flags of export.
type exportFlags struct {
	format, table, out string
	parity, force      bool
	bucket             float64
	gpus, phase        int

	noFigures error // why the exported run has no figures; set by exportRun
}

func exportCmd(a *app) *cobra.Command {
	var x exportFlags
	cmd := &cobra.Command{
		Use: "export RUN...", Short: "Export figures as CSV, JSON, Markdown or HTML", Args: usage(cobra.MinimumNArgs(1)),
		Long: `Export a run as CSV, JSON, Markdown or a self-contained HTML page. CSV contains one table: the
figures of the phases; the phases over time (series); the concurrency levels that meet
each configured service level (tiers); or throughput per GPU against speed per user over
the levels of one or several runs (curve).

With --parity, export the comparison of two runs, REF and CAND.`,
		Example: `  agentperf-tui export dsv4_12345 --format html -o run.html
  agentperf-tui export dsv4_12345 --format markdown
  agentperf-tui export dsv4_12345 --table series -o series.csv
  agentperf-tui export --table curve dsv4_12345 dsv4_12346
  agentperf-tui export --parity REF CAND --format html -o parity.html`,
	}
	f := cmd.Flags()
	addChoiceFlag(f, &x.format, "format", "", "csv", "json", "markdown", "html")
	addChoiceFlag(f, &x.table, "table", "; other formats than CSV contain the first three",
		"phases", "series", "tiers", "curve")
	f.StringVarP(&x.out, "out", "o", "", "file to write (default: standard output)")
	f.BoolVar(&x.parity, "parity", false, "export the comparison of REF and CAND")
	f.BoolVar(&x.force, "force", false, "with --parity: compare runs that are not comparable")
	f.Float64Var(&x.bucket, "bucket", 0, "seconds per point of the series (default: by the length of the phase)")
	f.IntVar(&x.gpus, "gpus", 0, "number of GPUs of a run, for the curve (default: from its recipe)")
	f.IntVar(&x.phase, "phase", parity.AnyPhase, "with --parity: phase to compare; required if a side has several")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.json {
			x.format = "json"
		}
		var out bytes.Buffer
		err := a.export(cmd, args, &x, &out)
		switch {
		case err != nil:
			return badInput(err)
		case x.out == "":
			_, err = a.stdout.Write(out.Bytes())
		default:
			err = written("export", outfile.Write(x.out, out.Bytes(), 0o644))
		}
		return cmp.Or(err, x.noFigures) // what was exported says why
	}
	return cmd
}

// written adds what was attempted to the error of a write. A path that can't be written to
// is bad input; a failed write is not.
func written(what string, err error) error {
	var target *outfile.TargetError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &target):
		return badInput(fmt.Errorf("%s: %w", what, err))
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (a *app) export(cmd *cobra.Command, args []string, x *exportFlags, w io.Writer) error {
	e, err := a.engine()
	if err != nil {
		return err
	}
	to := newApp(w, a.stderr)
	switch {
	case x.gpus < 0:
		return problem.Errorf(problem.FlagValue, "--gpus: must be the number of GPUs of all workers, got %d", x.gpus)
	case !(x.bucket >= 0):
		return problem.Errorf(problem.FlagValue, "--bucket: must be a number of seconds, not negative, got %g", x.bucket)
	case x.parity:
		return to.exportParity(cmd, e, args, x)
	case x.table == "curve":
		points, err := e.Curve(cmd.Context(), args, x.gpus)
		if err != nil {
			return err
		}
		switch x.format {
		case "json":
			return to.print(points)
		case "csv":
			return report.CurveCSV(w, points)
		case "markdown":
			return report.CurveMarkdown(w, points)
		}
		return report.CurveHTML(w, points)
	case len(args) != 1:
		return problem.Errorf(problem.Usage, "%d runs were given; give one, or use --table curve or --parity", len(args))
	}
	return to.exportRun(cmd, e, args[0], x)
}

func (a *app) exportRun(cmd *cobra.Command, e *engine.Engine, name string, x *exportFlags) error {
	ref, err := e.Find(cmd.Context(), name)
	if err != nil {
		return err
	}
	run, err := e.Export(cmd.Context(), ref, x.bucket)
	x.noFigures = run.WithoutFigures(name)
	switch {
	case err != nil:
		return err
	case x.format == "json":
		return a.print(run)
	case x.format == "markdown":
		return report.RunMarkdown(a.stdout, run)
	case x.format == "html":
		return report.RunHTML(a.stdout, run)
	case x.table == "series":
		return report.SeriesCSV(a.stdout, run)
	case x.table == "tiers":
		return report.TiersCSV(a.stdout, run)
	}
	return report.PhasesCSV(a.stdout, run)
}

func (a *app) exportParity(cmd *cobra.Command, e *engine.Engine, args []string, x *exportFlags) error {
	if len(args) != 2 {
		return problem.Errorf(problem.Usage, "--parity: needs two runs, REF and CAND, got %d", len(args))
	}
	c, err := e.Parity(cmd.Context(), args[0], args[1], x.phase, parity.Options{Force: x.force, Paired: true})
	switch {
	case err != nil:
		return err
	case x.format == "json":
		return a.print(c)
	case x.format == "csv":
		return report.ComparisonCSV(a.stdout, c)
	case x.format == "markdown":
		a.say("%s", c.Markdown())
		return nil
	}
	return report.ComparisonHTML(a.stdout, c)
}
