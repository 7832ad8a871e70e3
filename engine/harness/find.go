package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/rundir"
)

// Names of the client's outputs that are not derived from a [Stem].
const (
	RequestsFile            = "requests.jsonl"       // live rows of all phases and all client starts
	ManifestFile            = "phase_manifest.jsonl" // one row per completed phase
	PredecessorRequestsFile = "rwlt_requests.jsonl"  // live rows of the client's predecessor
)

// IsOutput reports whether a file name is that of an output of the client.
func IsOutput(name string) bool {
	_, ok := ParseStem(strings.TrimSuffix(name, filepath.Ext(name)))
	return ok || name == RequestsFile || name == PredecessorRequestsFile || name == ManifestFile
}

// HasOutput reports whether the client wrote any output to its output directory. If the directory is
// named agentperf, each client start may have a directory in it.
func HasOutput(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return IsOutput(e.Name()) }) {
		return true
	}
	return filepath.Base(dir) == Results && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !e.Type().IsRegular() && HasOutput(filepath.Join(dir, e.Name()))
	})
}

// Found is a run directory that [Find] has found.
type Found struct {
	Dir string
	// Portable reports whether it is a run of the harness. Others are the recorded runs of this
	// program, and log directories of srt-slurm, which contain the client's outputs only.
	Portable bool
}

// IsRunName reports whether a directory name has the form c<N>.
func IsRunName(name string) bool {
	digits, ok := strings.CutPrefix(name, "c")
	n, err := strconv.Atoi(digits)
	return ok && err == nil && n > 0 && digits[0] != '+'
}

// Find returns the run directories below root, at most depth levels down, sorted by path. A directory
// is a run if it contains
//   - the record of a run of this program, or
//   - any artifact of the harness, and its name is c<N>, or
//   - the job parameters or the client script of the harness, or one of its logs with another artifact, or
//   - outputs of the client in the directory agentperf; the name alone is not enough, since the
//     client's sources are in a directory agentperf too.
//
// It does not search inside them, except that c<N> directories take precedence over the directory
// that contains them. An unreadable c<N> directory is included, so that reading it reports the
// reason. Other unreadable directories are in unreadable. Symbolic links below root are not followed.
func Find(ctx context.Context, root string, depth int) (found []Found, unreadable []error, err error) {
	s := search{ctx: ctx, depth: depth}
	start := root
	if info, err := os.Lstat(root); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		start += string(filepath.Separator) // root itself may be a link
	}
	entries, err := os.ReadDir(start)
	if err != nil {
		if IsRunName(filepath.Base(root)) && !errors.Is(err, fs.ErrNotExist) {
			return []Found{{root, true}}, nil, nil
		}
		return nil, nil, fmt.Errorf("search for run directories: %w", err)
	}
	s.visit(root, entries, 0)
	return s.found, s.unreadable, ctx.Err()
}

// FindRuns returns the runs of the harness that [Find] finds, and ignores unreadable directories.
func FindRuns(ctx context.Context, root string, depth int) ([]string, error) {
	found, _, err := Find(ctx, root, depth)
	var runs []string
	for _, f := range found {
		if f.Portable {
			runs = append(runs, f.Dir)
		}
	}
	return runs, err
}

// search is the state of [Find].
type search struct {
	ctx        context.Context
	depth      int
	found      []Found
	unreadable []error
}

// visit adds dir if it is a run, or searches inside it. level is the level of dir below the root.
func (s *search) visit(dir string, entries []fs.DirEntry, level int) {
	if hasEntry(entries, rundir.RecordFile) {
		s.found = append(s.found, Found{dir, false})
		return
	}
	isRun, portable := isRun(dir, entries)
	if isRun && IsRunName(filepath.Base(dir)) {
		s.found = append(s.found, Found{dir, portable})
		return
	}
	before := len(s.found)
	for _, e := range entries {
		if s.ctx.Err() != nil {
			return
		}
		if e.IsDir() && level < s.depth && (!isRun || IsRunName(e.Name())) {
			s.enter(filepath.Join(dir, e.Name()), level+1)
		}
	}
	if isRun && len(s.found) == before {
		s.found = append(s.found, Found{dir, portable})
	}
}

func (s *search) enter(dir string, level int) {
	if filepath.Base(dir) == rundir.StagingDir || dir == "/proc" || dir == "/sys" {
		return
	}
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil:
		s.visit(dir, entries, level)
	case IsRunName(filepath.Base(dir)) && !errors.Is(err, fs.ErrNotExist):
		s.found = append(s.found, Found{dir, true})
	default:
		s.unreadable = append(s.unreadable, err)
	}
}

// isRun reports whether a directory without a record is a run, and whether it can be ported.
func isRun(dir string, entries []fs.DirEntry) (isRun, portable bool) {
	files, logs := 0, 0 // artifacts other than outputs; logs among them
	for _, name := range ArtifactNames {
		if name != Results && hasArtifact(entries, name) {
			files++
		}
	}
	for _, name := range []string{JobLog, ClientLog} {
		if hasArtifact(entries, name) {
			logs++
		}
	}
	switch {
	case files > 0 && IsRunName(filepath.Base(dir)),
		hasArtifact(entries, JobParams), hasArtifact(entries, ClientScript), logs > 0 && files > 1:
		return true, true
	case hasEntry(entries, Results):
		out := HasOutput(filepath.Join(dir, Results))
		return out, out && filepath.Base(dir) != rundir.LogsDir
	}
	return false, false
}

func hasArtifact(entries []fs.DirEntry, name string) bool {
	return hasEntry(entries, name) || hasEntry(entries, name+".gz")
}

// hasEntry reports whether sorted entries contain a name.
func hasEntry(entries []fs.DirEntry, name string) bool {
	compare := func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) }
	_, ok := slices.BinarySearchFunc(entries, name, compare)
	return ok
}
