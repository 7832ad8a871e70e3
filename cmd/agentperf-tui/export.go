package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/outfile"
	"github.com/agentperf/agentperf-tui/engine/report"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
)

// exporting are the flags of export.
type exporting struct {
	format, table, out string
	parity, force      bool
	bucket             float64
	gpus, phase        int
}

func exportCmd(a *app) *cobra.Command {
	var x exporting
	cmd := &cobra.Command{
		Use: "export RUN...", Args: usage(cobra.MinimumNArgs(1)),
		Short: "Write figures, time series, curves or an HTML report for others",
		Long: `Write what is known of a run as CSV, JSON or an HTML page that needs no network.
CSV holds one table: the figures of the phases, the phases over time (series), which
level meets which of the configured service levels (tiers), or throughput per GPU
against speed per user over the levels of one or several runs (curve).
With --parity the two arguments are the sides of a comparison.`,
	}
	f := cmd.Flags()
	f.StringVar(&x.format, "format", "csv", "csv, json or html")
	f.StringVar(&x.table, "table", "phases", "phases, series, tiers or curve; JSON and HTML hold the first three together")
	f.StringVarP(&x.out, "out", "o", "", "file to write; standard output if not given")
	f.BoolVar(&x.parity, "parity", false, "export the comparison of REF and CAND")
	f.BoolVar(&x.force, "force", false, "with --parity: give a verdict although the runs are not comparable")
	f.Float64Var(&x.bucket, "bucket", 0, "seconds of a step of the series (default: chosen by the length of the phase)")
	f.IntVar(&x.gpus, "gpus", 0, "GPUs of a run, for the curve (default: those of its recipe)")
	f.IntVar(&x.phase, "phase", parity.AnyPhase, "with --parity: phase to compare; needed where a side has several")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if a.json {
			x.format = "json"
		}
		var out bytes.Buffer
		if err := a.export(cmd, args, x, &out); err != nil {
			return badInput(err)
		}
		if x.out == "" {
			_, err := a.stdout.Write(out.Bytes())
			return err
		}
		return written("export", outfile.Write(x.out, out.Bytes(), 0o644))
	}
	return cmd
}

// written is the outcome of a write to a file that the user named.
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

func (a *app) export(cmd *cobra.Command, args []string, x exporting, w io.Writer) error {
	e, err := a.engine()
	if err != nil {
		return err
	}
	to := newApp(w, a.stderr)
	switch {
	case x.format != "csv" && x.format != "json" && x.format != "html":
		return fmt.Errorf("--format %q: want csv, json or html", x.format)
	case !slices.Contains([]string{"phases", "series", "tiers", "curve"}, x.table):
		return fmt.Errorf("--table %q: want phases, series, tiers or curve", x.table)
	case x.gpus < 0:
		return fmt.Errorf("--gpus %d: want the GPUs of all workers", x.gpus)
	case !(x.bucket >= 0):
		return fmt.Errorf("--bucket %g: want seconds", x.bucket)
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
		}
		return report.CurveHTML(w, points)
	case len(args) != 1:
		return fmt.Errorf("%d runs: want one, or --table curve or --parity", len(args))
	}
	return to.exportRun(cmd, e, args[0], x)
}

func (a *app) exportRun(cmd *cobra.Command, e *engine.Engine, name string, x exporting) error {
	l, err := e.Find(cmd.Context(), name)
	if err != nil {
		return err
	}
	run, err := e.Export(cmd.Context(), l, x.bucket)
	switch {
	case err != nil:
		return err
	case x.format == "json":
		return a.print(run)
	case x.format == "html":
		return report.RunHTML(a.stdout, run)
	case x.table == "series":
		return report.SeriesCSV(a.stdout, run)
	case x.table == "tiers":
		return report.TiersCSV(a.stdout, run)
	}
	return report.PhasesCSV(a.stdout, run)
}

func (a *app) exportParity(cmd *cobra.Command, e *engine.Engine, args []string, x exporting) error {
	if len(args) != 2 {
		return fmt.Errorf("--parity with %d arguments: want REF and CAND", len(args))
	}
	c, err := e.Parity(cmd.Context(), args[0], args[1], x.phase, parity.Options{Force: x.force, Paired: true})
	switch {
	case err != nil:
		return err
	case x.format == "json":
		return a.print(c)
	case x.format == "csv":
		return report.ComparisonCSV(a.stdout, c)
	}
	return report.ComparisonHTML(a.stdout, c)
}
