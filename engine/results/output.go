package results

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// PredecessorRequestsFile is the name of [RequestsFile] in the output of the client's predecessor.
const PredecessorRequestsFile = harness.PredecessorRequestsFile

// findOutput returns the log directory and the directory of the client's output.
func findOutput(dir string) (logDir, outDir string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", "", fmt.Errorf("read results: %w", err)
	}
	if !info.IsDir() {
		return "", "", problem.Errorf(problem.NotADirectory,
			"read results: %s: is not a directory; give the log directory that contains %s/", dir, clientDir)
	}
	logs := []string{dir, filepath.Join(dir, "logs")}
	for _, log := range logs {
		if out := filepath.Join(log, clientDir); harness.HasOutput(out) {
			return log, out, nil
		}
	}
	if !hasOutput(dir) {
		for _, log := range logs {
			if out := filepath.Join(log, clientDir); isDir(out) {
				return log, out, nil
			}
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", "", fmt.Errorf("read results: %s: %w", dir, err)
	}
	if filepath.Base(abs) == clientDir {
		return filepath.Dir(abs), abs, nil
	}
	return dir, dir, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// OutputDir returns the directory of the client's output below a log directory: agentperf or,
// if each client start has a directory in it, that of the last start.
func OutputDir(logDir string) string {
	dir, _ := lastStart(filepath.Join(logDir, clientDir))
	return dir
}

// OtherStarts returns a warning for each directory of another client start than the last.
func OtherStarts(logDir string) []string {
	last, others := lastStart(filepath.Join(logDir, clientDir))
	return startNotes(logDir, last, others)
}

// startNotes says which client starts are not counted.
func startNotes(logDir, last string, others []string) []string {
	notes := make([]string, 0, len(others))
	for _, other := range others {
		notes = append(notes, fmt.Sprintf("%s: output of another client start, not counted; the last one is %s",
			relative(logDir, other), relative(logDir, last)))
	}
	return notes
}

// RequestsPath returns the file of request rows in the client's output directory.
func RequestsPath(outDir string) string {
	old := filepath.Join(outDir, PredecessorRequestsFile)
	if path := filepath.Join(outDir, RequestsFile); fileExists(path) || !fileExists(old) {
		return path
	}
	return old
}

// lastStart returns the directory of the last client start: the client's output directory
// or one of those in it. The others are returned too.
func lastStart(outDir string) (last string, others []string) {
	if filepath.Base(outDir) != clientDir {
		return outDir, nil
	}
	all := []string{}
	if hasOutput(outDir) {
		all = append(all, outDir)
	}
	entries, err := os.ReadDir(outDir)
	if err != nil { // reading the files reports it
		return outDir, nil
	}
	for _, e := range entries {
		if path := filepath.Join(outDir, e.Name()); !e.Type().IsRegular() && hasOutput(path) {
			all = append(all, path)
		}
	}
	switch len(all) {
	case 0:
		return outDir, nil
	case 1:
		return all[0], nil
	}
	times := map[string]float64{}
	for _, dir := range all {
		times[dir] = lastActivity(dir)
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(times[a], times[b]) })
	return all[len(all)-1], all[:len(all)-1]
}

// hasOutput reports whether the client wrote any output to a directory.
func hasOutput(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return harness.IsOutput(e.Name()) })
}

// lastActivity returns when the last request in a directory ended, in Unix s. Without rows it
// returns when a file was last changed. Rows are preferred, since copying a file changes its time.
func lastActivity(dir string) float64 {
	if end := lastRowEnd(RequestsPath(dir)); !math.IsNaN(end) {
		return end
	}
	files, err := outputFiles(dir)
	if err != nil || len(files) == 0 {
		return 0
	}
	return unix(files[len(files)-1].ModTime())
}

// tailBytes is the part of a file of request rows in which the last rows are looked for.
const tailBytes = 64 << 10

// lastRowEnd returns the latest end of the last rows of a file, or NaN if there is none.
func lastRowEnd(path string) float64 {
	end := math.NaN()
	f, info, err := smallfile.Open(path)
	if err != nil {
		return end
	}
	defer f.Close()
	from := max(0, info.Size()-tailBytes)
	tail := make([]byte, info.Size()-from)
	if _, err := f.ReadAt(tail, from); err != nil {
		return end
	}
	for line := range bytes.Lines(tail) {
		if at := RowEndTime(line); !(at <= end) && !math.IsNaN(at) {
			end = at
		}
	}
	return end
}

// relative returns a path relative to the log directory, for messages.
func relative(logDir, path string) string {
	if rel, err := filepath.Rel(logDir, path); err == nil {
		return rel
	}
	return path
}
