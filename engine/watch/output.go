package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/follow"
	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/results"
)

// output is the output of one client start. A client that is started again may write to another
// directory.
type output struct {
	requests  string               // file of request rows, which need not exist yet
	statFiles map[string]time.Time // modification times of the output files when last read, by name
	open      int                  // number of followed files
	cancel    []context.CancelFunc // of the followed files
}

// followOutput follows the output of the last client start unless it does so already. The figures of
// a run are those of its last start, so they start anew if that is another one than before.
func (f *follower) followOutput(ctx context.Context) (changed bool) {
	f.run = f.run.WithCurrentLogs()
	requests := results.RequestsPath(results.OutputDir(f.run.Logs))
	if f.output != nil {
		if f.output.requests == requests {
			return false
		}
		for _, cancel := range f.output.cancel {
			cancel()
		}
		f.aggregator.Close()
	}
	f.aggregator = results.NewAggregator()
	f.aggregator.AddPlan(f.context.Planned...)
	f.aggregator.SetMinMeasurement(f.context.MinMeasurement)
	if !f.clientStart.IsZero() {
		f.aggregator.SetStart(f.clientStart)
	}
	f.output = &output{requests: requests, statFiles: map[string]time.Time{}}
	f.followFile(ctx, requests, f.output)
	f.followFile(ctx, filepath.Join(filepath.Dir(requests), results.ManifestFile), f.output)
	return true
}

// followFile follows a file of an output, or an event log if of is nil, and sends its chunks to f.in.
func (f *follower) followFile(ctx context.Context, path string, of *output) {
	ctx, cancel := context.WithCancel(ctx)
	chunks, err := follow.File(ctx, path, follow.Options{Stop: f.stop, FinalPartial: true})
	if err != nil {
		cancel()
		f.err = err
		return
	}
	*f.openOf(of)++
	if of != nil {
		of.cancel = append(of.cancel, cancel)
	}
	base := filepath.Base(path)
	if base == results.PredecessorRequestsFile {
		base = results.RequestsFile
	}
	go func() {
		defer cancel()
		for c := range chunks {
			select {
			case f.in <- fileChunk{of: of, name: base, Chunk: c}:
			case <-ctx.Done():
			}
		}
		select {
		case f.in <- fileChunk{of: of, name: base, closed: true}:
		case <-ctx.Done():
		}
	}()
}

// openOf returns the number of followed files of an output, or of event logs if of is nil.
func (f *follower) openOf(of *output) *int {
	if of == nil {
		return &f.open
	}
	return &of.open
}

// readStatistics looks for new or changed files that the client writes at the end of a phase.
// Their names are not known in advance.
func (f *follower) readStatistics(ctx context.Context) {
	dir := filepath.Dir(f.output.requests)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.err = err
		}
		return
	}
	for _, entry := range entries {
		name := entry.Name()
		stemName, isStats := strings.CutSuffix(name, ".json")
		if rest, ok := strings.CutSuffix(name, ".jsonl"); ok {
			stemName = rest
		}
		stem, ok := harness.ParseStem(stemName)
		info, err := entry.Info()
		if !ok || err != nil { // removed since the listing, or not an output of the client
			continue
		}
		seen, known := f.output.statFiles[name]
		switch {
		case isStats && (!known || !seen.Equal(info.ModTime())):
			data, err := results.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = f.aggregator.AddStatistics(stem, data)
			}
			if err != nil {
				f.err = err // perhaps incomplete; read again after its next change
			}
		case !isStats && !known && filepath.Ext(name) == ".jsonl":
			f.followFile(ctx, filepath.Join(dir, name), f.output)
		}
		f.output.statFiles[name] = info.ModTime()
	}
}
