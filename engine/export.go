package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/engine/report"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
)

// Export reads all that is told of a run: figures, phases over time in buckets
// of so many seconds (0 chooses them), and the configured service levels.
func (e *Engine) Export(ctx context.Context, l RunRef, bucketSeconds float64) (report.Run, error) {
	known, err := l.Context()
	if err != nil {
		return report.Run{}, err
	}
	run, series, err := results.LoadSeries(ctx, l.Logs, known, bucketSeconds)
	if err != nil {
		return report.Run{}, err
	}
	return report.Run{Name: l.Label(), Run: run, Series: series, Tiers: results.TierResults(run.Phases, e.Tiers())}, nil
}

// Curve gives throughput per GPU against speed per user, a point for each level
// of each run. The GPUs are those of the run's recipe, unless they are given;
// of a local run and of one whose recipe is not at hand they are unknown.
func (e *Engine) Curve(ctx context.Context, runs []string, gpus int) ([]results.Point, error) {
	points := []results.Point{}
	for _, name := range runs {
		more, _, err := e.Levels(ctx, name, gpus)
		if err != nil {
			return nil, err
		}
		points = append(points, more...)
	}
	return points, nil
}

// Levels are a run's levels, as points of Curve, and which of them keep the
// configured service levels.
func (e *Engine) Levels(ctx context.Context, name string, gpus int) ([]results.Point, []results.TierResult, error) {
	l, err := e.Find(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	run, err := e.Results(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	if gpus <= 0 {
		gpus = l.GPUs()
	}
	return results.Curve(l.Label(), run.Phases, gpus), results.TierResults(run.Phases, e.Tiers()), nil
}

// WriteComparison writes a comparison as a page of HTML into a folder and gives its
// path: parity-REF-CAND.html, with a number where that is there already.
func (e *Engine) WriteComparison(dir string, c parity.Comparison) (string, error) {
	var page bytes.Buffer
	if err := report.ComparisonHTML(&page, c); err != nil {
		return "", fmt.Errorf("write the comparison: %w", err)
	}
	plain := func(r rune) rune {
		if strings.ContainsRune("._-", r) || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '-'
	}
	stem := filepath.Join(dir, strings.Map(plain, fmt.Sprintf("parity-%.60s-%.60s", c.Reference.Name, c.Candidate.Name)))
	for n := 1; ; n++ {
		path := stem + ".html"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.html", stem, n)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) // the name is taken by this
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = errors.Join(f.Close(), renameio.WriteFile(path, page.Bytes(), 0o644))
		}
		if err != nil {
			return "", fmt.Errorf("write the comparison: %w", err)
		}
		return filepath.Abs(path)
	}
}
