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

// tour is the demo in the workbench: the same journey, pressed by the user.
func (d *demo) tour(ctx context.Context) error {
	run, err := d.unpack()
	if err != nil {
		return err
	}
	if err := os.Chdir(d.dir); err != nil {
		return fmt.Errorf("enter the demo's folder: %w", err)
	}
	e, err := d.engine()
	if err != nil {
		return err
	}
	compare := &toured{Engine: e, dir: d.dir}
	make := screens(e, samplePort{portSession(e), filepath.Join(run, "datasets")}, compare, arithmetic, plan.Local)
	m := tui.New(make, runs.New(e, ui.NewTheme(true), []string{d.dir}),
		tui.Options{Dark: true, Hint: hint, Open: []ui.Open{ui.OpenPort{Dir: run}}})
	return d.workbench(ctx, m)
}

// hint says what to press next, by the screen that is on.
func hint(screen string) string {
	switch screen {
	case "runs":
		return "enter opens a run, p ports the sample again, q ends the tour"
	case "port":
		return "each line tells where it comes from: move with ↑ ↓; w writes recipe and workload"
	case "edit":
		return "ctrl+t, set phase_timeout_seconds to 1548, watch the rule above, then to 1549 or more; ctrl+r submits"
	case "submit":
		return "the whole plan for this machine; enter submits it"
	case "parity":
		return "the run against what the mock servers' arithmetic gives; q goes back"
	}
	return "the run goes on by itself; when it is done, c compares it with the arithmetic"
}

// samplePort ports the sample, of which is known where its datasets lie and what GPUs it ran on.
type samplePort struct {
	porting
	datasets string
}

// Port ports with that in mind.
func (s samplePort) Port(ctx context.Context, dir string, opt porter.Options) (*porter.Result, error) {
	opt.DatasetRoots = append(slices.Clone(opt.DatasetRoots), s.datasets)
	if opt.GPUType == "" {
		opt.GPUType = "gb300"
	}
	return s.porting.Port(ctx, dir, opt)
}

// toured is the engine of the tour's comparison, whose reference is the arithmetic
// of the run's mock servers.
type toured struct {
	*engine.Engine
	dir string
}

// arithmetic is the tour's reference, which is another file for each run.
const arithmetic = "arithmetic"

// Parity computes a run's reference when it is first asked for.
func (t *toured) Parity(
	ctx context.Context, ref, cand string, phase int, opt parity.Options,
) (parity.Comparison, error) {
	if ref == arithmetic {
		l, err := t.Find(ctx, cand)
		if err != nil {
			return parity.Comparison{}, err
		}
		ref = filepath.Join(t.dir, "reference-"+l.Record.ID+".yaml")
		if err := simulate.WriteReference(ctx, l.Dir, ref); err != nil && !errors.Is(err, fs.ErrExist) {
			return parity.Comparison{}, err
		}
	}
	return t.Engine.Parity(ctx, ref, cand, phase, opt)
}
