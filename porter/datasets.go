package porter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of a dataset search.
const (
	maxSearchEntries = 5_000_000
	maxSearchDepth   = 64
	maxCandidates    = 100
)

// datasetHits are the files found below the roots, by base name, sorted by path.
type datasetHits struct {
	searched bool
	byName   map[string][]Candidate
	partial  string // why the search is not complete; empty if it is
}

// datasetNames are the base names that the banner and the client's config show.
func (b *builder) datasetNames() []string {
	var names []string
	for _, key := range []string{"trajectory_path", "user_assignments_path"} {
		if v, ok := b.datasetEvidence(key); ok {
			names = append(names, filepath.Base(v.value))
		}
	}
	return names
}

func (b *builder) searchDatasets(ctx context.Context) error {
	names := b.datasetNames()
	if len(b.opt.DatasetRoots) == 0 || len(names) == 0 {
		return nil
	}
	s := search{ctx: ctx, names: names, report: b.opt.report, seen: map[string]bool{}, hits: map[string][]hit{}}
	for _, root := range b.opt.DatasetRoots {
		abs, err := filepath.Abs(root)
		if err != nil {
			return fmt.Errorf("search datasets below %s: %w", root, err)
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			if err == nil {
				err = errors.New("not a directory")
			}
			return fmt.Errorf("search datasets below %s: %w", root, err)
		}
		s.walk(abs, 0)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("search datasets: %w", ctx.Err())
	}
	b.datasets = datasetHits{searched: true, byName: s.candidates()}
	if s.unreadable > 0 {
		b.datasets.partial = count(s.unreadable, "folder") + " could not be read"
	}
	if s.entries >= maxSearchEntries {
		b.datasets.partial = fmt.Sprintf("the search stopped after %d entries", maxSearchEntries)
	}
	if b.datasets.partial != "" {
		b.res.Notices = append(b.res.Notices, "dataset search: "+b.datasets.partial)
	}
	return nil
}

type hit struct {
	path string
	info os.FileInfo
}

// search walks folders, links included; each real folder is entered once, so
// that a loop of links ends.
type search struct {
	ctx        context.Context
	names      []string
	report     func(Progress)
	seen       map[string]bool // real paths of folders
	hits       map[string][]hit
	entries    int
	unreadable int
}

func (s *search) walk(dir string, depth int) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		s.unreadable++
		return
	}
	if s.seen[real] || depth > maxSearchDepth {
		return
	}
	s.seen[real] = true
	f, err := os.Open(dir)
	if err != nil {
		s.unreadable++
		return
	}
	defer f.Close()
	var below []string
	for s.ctx.Err() == nil && s.entries < maxSearchEntries {
		entries, err := f.ReadDir(1024)
		for _, e := range entries {
			if s.isFolder(dir, e) {
				below = append(below, e.Name())
			}
		}
		s.entries += len(entries)
		s.report(Progress{Stage: "search", Name: dir, Done: int64(s.entries)})
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.unreadable++
			}
			break
		}
	}
	slices.Sort(below)
	for _, name := range below {
		if s.ctx.Err() != nil || s.entries >= maxSearchEntries {
			return
		}
		s.walk(filepath.Join(dir, name), depth+1)
	}
}

// isFolder says whether to descend into an entry; a wanted file is kept.
func (s *search) isFolder(dir string, e os.DirEntry) bool {
	if e.IsDir() {
		return true
	}
	link := e.Type()&os.ModeSymlink != 0
	wanted := slices.Contains(s.names, e.Name())
	if !link && !(wanted && e.Type().IsRegular()) {
		return false
	}
	path := filepath.Join(dir, e.Name())
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if wanted && info.Mode().IsRegular() && len(s.hits[e.Name()]) < maxCandidates {
		s.hits[e.Name()] = append(s.hits[e.Name()], hit{path, info})
	}
	return info.IsDir()
}

// candidates sorts the hits; several names of one file count once.
func (s *search) candidates() map[string][]Candidate {
	out := map[string][]Candidate{}
	for name, hits := range s.hits {
		slices.SortFunc(hits, func(a, b hit) int { return strings.Compare(a.path, b.path) })
		var kept []hit
		for _, h := range hits {
			if !slices.ContainsFunc(kept, func(k hit) bool { return os.SameFile(k.info, h.info) }) {
				kept = append(kept, h)
				out[name] = append(out[name], Candidate{Value: h.path, Size: h.info.Size(), Modified: h.info.ModTime()})
			}
		}
	}
	return out
}

// listDir lists at most limit names of a folder, sorted.
func listDir(dir string, limit int) ([]string, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, errors.New("not a directory")
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}
