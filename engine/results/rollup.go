package results

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// RollupFile is the name of the roll-up in the log directory.
const RollupFile = "benchmark-rollup.json"

// Rollup is the content of RollupFile. It has the keys that srt-slurm writes and, under
// agentperf_tui, the figures recomputed from the request rows.
type Rollup struct {
	Benchmark  string        `json:"benchmark"`         // "agentperf"
	Phases     []RollupPhase `json:"phases"`            // by phase, then file name
	Partial    bool          `json:"partial,omitempty"` // the run is incomplete, see Recomputed.Partial
	Recomputed Run           `json:"agentperf_tui"`
	// Identity is the content of identity.json.
	Identity json.RawMessage `json:"identity,omitempty"`
	Skipped  []string        `json:"-"` // JSON files that were ignored, and why
}

// RollupPhase is the content of a statistics file of the client.
type RollupPhase struct {
	File            string          `json:"file"`
	Concurrency     int             `json:"concurrency"`
	PhaseIdx        int             `json:"phase_idx"`
	PhaseTimeout    float64         `json:"phase_timeout_seconds"`
	SettlingTime    float64         `json:"settling_time_seconds"`
	TrajectoriesPer int             `json:"trajectories_per_user"`
	Stats           json.RawMessage `json:"stats"` // as written by the client
}

func (l *loader) rollup() Rollup {
	run := l.run()
	doc := Rollup{
		Benchmark: "agentperf", Phases: []RollupPhase{}, Partial: run.Partial != "", Recomputed: run,
		Identity: l.context.Identity, Skipped: l.skipped,
	}
	doc.Recomputed.LogDir = "" // known from the path of the file
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

// WriteRollup writes RollupFile to the log directory atomically and returns its path. It
// writes nothing and returns an empty path if there is no statistics file, unless the run
// is partial and has phases with request rows.
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
