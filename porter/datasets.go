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
		s.walk(folder{path: abs})
	}
	for len(s.links) > 0 {
		next := s.links[0]
		s.links = s.links[1:]
		s.walk(next)
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
	path   string
	info   os.FileInfo
	linked bool // reached through a link
}

// folder is one to be walked.
type folder struct {
	path   string
	depth  int
	linked bool
}

// search walks folders, links last, so that a file is found under its own name
// first. Each real folder is entered once: a loop of links ends.
type search struct {
	ctx        context.Context
	names      []string
	report     func(Progress)
	seen       map[string]bool // real paths of folders
	links      []folder
	hits       map[string][]hit
	entries    int
	unreadable int
}

func (s *search) walk(d folder) {
	real, err := filepath.EvalSymlinks(d.path)
	if err != nil {
		s.unreadable++
		return
	}
	if s.seen[real] || d.depth > maxSearchDepth || s.over() {
		return
	}
	s.seen[real] = true
	f, err := os.Open(d.path)
	if err != nil {
		s.unreadable++
		return
	}
	var below []folder
	for !s.over() {
		entries, err := f.ReadDir(1024)
		for _, e := range entries {
			if sub := s.visit(d, e); sub.linked && !d.linked {
				s.links = append(s.links, sub)
			} else if sub.path != "" {
				below = append(below, sub)
			}
		}
		s.entries += len(entries)
		s.report(Progress{Stage: "search", Name: d.path, Done: int64(s.entries)})
		if err != nil {
			if !errors.Is(err, io.EOF) {
				s.unreadable++
			}
			break
		}
	}
	f.Close() // a deep tree must not hold a descriptor a level
	slices.SortFunc(below, func(a, b folder) int { return strings.Compare(a.path, b.path) })
	for _, sub := range below {
		s.walk(sub)
	}
}

func (s *search) over() bool { return s.ctx.Err() != nil || s.entries >= maxSearchEntries }

// visit keeps a wanted file, and returns the folder to descend into, if any.
func (s *search) visit(d folder, e os.DirEntry) folder {
	link := e.Type()&os.ModeSymlink != 0
	sub := folder{filepath.Join(d.path, e.Name()), d.depth + 1, d.linked || link}
	if e.IsDir() {
		return sub
	}
	wanted := slices.Contains(s.names, e.Name())
	if !link && !(wanted && e.Type().IsRegular()) {
		return folder{}
	}
	info, err := os.Stat(sub.path)
	if err != nil {
		return folder{}
	}
	if wanted && info.Mode().IsRegular() && len(s.hits[e.Name()]) < maxCandidates {
		s.hits[e.Name()] = append(s.hits[e.Name()], hit{sub.path, info, sub.linked})
	}
	if info.IsDir() {
		return sub
	}
	return folder{}
}

// candidates sorts the hits, real names first; several names of one file count
// once.
func (s *search) candidates() map[string][]Candidate {
	out := map[string][]Candidate{}
	for name, hits := range s.hits {
		slices.SortFunc(hits, func(a, b hit) int {
			if a.linked != b.linked {
				return map[bool]int{false: -1, true: 1}[a.linked]
			}
			return strings.Compare(a.path, b.path)
		})
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
