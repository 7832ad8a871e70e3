package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/local/simulate"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/tui"
	"github.com/agentperf/agentperf-tui/tui/runs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// tour opens the demo in the workbench, where the user takes each step.
func (d *demo) tour(ctx context.Context) error {
	run, err := d.unpack()
	if err != nil {
		return err
	}
	if err := os.Chdir(d.dir); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	e, err := d.engine()
	if err != nil {
		return err
	}
	compare := &tourParity{Engine: e, dir: d.dir}
	factory := screens(e, samplePort{portSession(e), filepath.Join(run, "datasets")}, compare, computed, plan.Local)
	m := tui.New(factory, runs.New(e, ui.NewTheme(true), []string{d.dir}),
		tui.Options{Dark: true, Hint: hint, Open: []ui.Open{ui.OpenPort{Dir: run}}})
	return d.workbench(ctx, m)
}

// hint returns the advice that the tour shows on a screen.
func hint(screen string) string {
	switch screen {
	case "runs":
		return "enter opens a run, p ports the sample again, q ends the tour"
	case "port":
		return "each line shows its source: move with ↑ ↓; w writes recipe and workload"
	case "edit":
		return "ctrl+t, set phase_timeout_seconds to 1548: the rule above fails; set 1549 or more; ctrl+r submits"
	case "submit":
		return "the whole plan for this machine; enter submits it"
	case "parity":
		return "the run against the computed figures of the mock servers; q goes back"
	}
	return "the run continues by itself; when it is done, c compares it with the computed figures"
}

// samplePort ports the sample with known values for its datasets and GPU type.
type samplePort struct {
	portEngine
	datasets string
}

// Port ports the sample.
func (s samplePort) Port(ctx context.Context, dir string, opt porter.Options) (*porter.Result, error) {
	opt.DatasetRoots = append(slices.Clone(opt.DatasetRoots), s.datasets)
	if opt.GPUType == "" {
		opt.GPUType = "gb300"
	}
	return s.portEngine.Port(ctx, dir, opt)
}

// tourParity compares a run with figures computed from the timing of its mock servers.
type tourParity struct {
	*engine.Engine
	dir string
}

// computed is the name of the reference in the tour. Parity replaces it with a file for each run.
const computed = "computed"

// Parity computes the reference of a run when it is first needed.
func (t *tourParity) Parity(
	ctx context.Context, ref, cand string, phase int, opt parity.Options,
) (parity.Comparison, error) {
	if ref == computed {
		found, err := t.Find(ctx, cand)
		if err != nil {
			return parity.Comparison{}, err
		}
		ref = filepath.Join(t.dir, "reference-"+found.Record.ID+".yaml")
		if err := simulate.WriteReference(ctx, found.Dir, ref); err != nil && !errors.Is(err, fs.ErrExist) {
			return parity.Comparison{}, err
		}
	}
	return t.Engine.Parity(ctx, ref, cand, phase, opt)
}
