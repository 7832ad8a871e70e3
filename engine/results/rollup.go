package results

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// RollupFile is the roll-up's name in the log dir.
const RollupFile = "benchmark-rollup.json"

// Rollup is the document of RollupFile: the upstream shape, and one key more
// with the figures that were computed anew from the request rows.
type Rollup struct {
	Benchmark  string        `json:"benchmark"`         // "agentperf"
	Phases     []RollupPhase `json:"phases"`            // by phase, then file name
	Partial    bool          `json:"partial,omitempty"` // the run did not come to its end; why is in Recomputed
	Recomputed Run           `json:"agentperf_tui"`
	// Identity is what the run ran with.
	Identity json.RawMessage `json:"identity,omitempty"`
	Skipped  []string        `json:"-"` // JSON files that were left out, and why
}

// RollupPhase is one statistics file of the client.
type RollupPhase struct {
	File            string          `json:"file"`
	Concurrency     int             `json:"concurrency"`
	PhaseIdx        int             `json:"phase_idx"`
	PhaseTimeout    float64         `json:"phase_timeout_seconds"`
	SettlingTime    float64         `json:"settling_time_seconds"`
	TrajectoriesPer int             `json:"trajectories_per_user"`
	Stats           json.RawMessage `json:"stats"` // as the client wrote it
}

func (l *loader) rollup() Rollup {
	run := l.run()
	doc := Rollup{
		Benchmark: "agentperf", Phases: []RollupPhase{}, Partial: run.Partial != "", Recomputed: run,
		Identity: l.context.Identity, Skipped: l.skipped,
	}
	doc.Recomputed.LogDir = "" // the file says by its place what it is about
	for _, s := range l.agg.stats {
		doc.Phases = append(doc.Phases, RollupPhase{
			File: s.stem.String() + ".json", Concurrency: s.stem.Concurrency, PhaseIdx: s.stem.Phase,
			PhaseTimeout: s.stem.Timeout, SettlingTime: s.stem.Settling, TrajectoriesPer: s.stem.Trajectories, Stats: s.raw,
		})
	}
	slices.SortFunc(doc.Phases, func(a, b RollupPhase) int {
		return cmp.Or(cmp.Compare(a.PhaseIdx, b.PhaseIdx), cmp.Compare(a.File, b.File))
	})
	return doc
}

// WriteRollup writes RollupFile into the log dir, atomically, and returns its
// path. A run that came to its end without any statistics file has none, and the
// path is empty; of a partial one the phases that its rows tell of are enough.
func WriteRollup(ctx context.Context, dir string, rc RunContext) (path string, doc Rollup, err error) {
	l, err := load(ctx, dir, rc)
	if err != nil {
		return "", Rollup{}, err
	}
	defer l.agg.Close()
	doc = l.rollup()
	if len(doc.Phases) == 0 && (!doc.Partial || len(doc.Recomputed.Phases) == 0) {
		return "", doc, nil
	}
	path = filepath.Join(l.logDir, RollupFile)
	if err := smallfile.WriteJSON(path, doc, 0o644); err != nil {
		return "", doc, err
	}
	return path, doc, nil
}
