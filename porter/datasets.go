package porter

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Bounds of a dataset search.
const (
	maxSearchEntries = 5_000_000
	maxSearchDepth   = 64
	maxCandidates    = 100
)

// Datasets is an index of the files below some folders, by name alone: eight bytes
// a file, so that it may cover a large tree. It is made once and can be shared by
// any number of ports, at the same time too.
type Datasets struct {
	folders []folder
	files   []uint64 // hash of the name, number of the folder; sorted
	partial string   // why the index is not complete; empty if it is
}

// IndexDatasets lists the files below the roots. Folders that can't be read are
// passed over, loops of links end, and beyond some millions of entries the search
// stops; [Port] tells of it. A root that is no folder is an error. progress may be nil.
func IndexDatasets(ctx context.Context, roots []string, progress func(Progress)) (*Datasets, error) {
	opt := Options{Progress: progress}
	s := search{ctx: ctx, report: opt.Report, seen: map[string]bool{}, limit: maxSearchEntries}
	return s.index(roots)
}

func (s *search) index(roots []string) (*Datasets, error) {
	for _, root := range roots {
		abs, err := filepath.Abs(root)
		if err != nil {
			return nil, fmt.Errorf("search for datasets: %s: %w", root, err)
		}
		if info, err := os.Stat(abs); err != nil {
			return nil, fmt.Errorf("search for datasets: %w", err)
		} else if !info.IsDir() {
			return nil, problem.Errorf(problem.NotADirectory, "search for datasets: %s: is not a directory", root)
		}
		s.walk(folder{path: abs})
	}
	for len(s.links) > 0 {
		next := s.links[0]
		s.links = s.links[1:]
		s.walk(next)
	}
	if err := s.ctx.Err(); err != nil {
		return nil, fmt.Errorf("search for datasets: %w", err)
	}
	if s.unreadable > 0 {
		s.found.partial = fmt.Sprintf("%d folders could not be read", s.unreadable)
		if s.unreadable == 1 {
			s.found.partial = "1 folder could not be read"
		}
	}
	if s.entries >= s.limit {
		s.found.partial = fmt.Sprintf("the search stopped after %d entries", s.entries)
	}
	slices.Sort(s.found.files)
	return &s.found, nil
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
	report     func(Progress)
	seen       map[string]bool // real paths of folders
	links      []folder
	found      Datasets
	entries    int
	limit      int // of entries
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
	number := uint64(len(s.found.folders))
	s.found.folders = append(s.found.folders, d)
	var below []folder
	for !s.over() {
		entries, err := f.ReadDir(1024)
		for _, e := range entries {
			sub, file := visit(d, e)
			switch {
			case file:
				s.found.files = append(s.found.files, nameHash(e.Name())|number)
			case sub.linked && !d.linked:
				s.links = append(s.links, sub)
			case sub.path != "":
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

func (s *search) over() bool { return s.ctx.Err() != nil || s.entries >= s.limit }

// visit tells a file from a folder to descend into; a folder has a path.
func visit(d folder, e os.DirEntry) (sub folder, file bool) {
	mode := e.Type()
	link := mode&os.ModeSymlink != 0
	sub = folder{filepath.Join(d.path, e.Name()), d.depth + 1, d.linked || link}
	if link {
		info, err := os.Stat(sub.path)
		if err != nil {
			return folder{}, false
		}
		mode = info.Mode()
	}
	if mode.IsDir() {
		return sub, false
	}
	return folder{}, mode.IsRegular()
}

// nameHash is a hash of a file's name in the upper half of 64 bits.
func nameHash(name string) uint64 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return uint64(h.Sum32()) << 32
}

type hit struct {
	path   string
	info   os.FileInfo
	linked bool // reached through a link
}

// Find lists the files of a name, sorted by path, real names before links;
// several names of one file count once.
func (ds *Datasets) Find(name string) []Candidate {
	if ds == nil {
		return nil
	}
	want := nameHash(name)
	var hits []hit
	first, _ := slices.BinarySearch(ds.files, want)
	for _, f := range ds.files[first:] {
		if f>>32 != want>>32 || len(hits) == maxCandidates {
			break
		}
		d := ds.folders[f&(1<<32-1)]
		h := hit{path: filepath.Join(d.path, name), linked: d.linked}
		own, err := os.Lstat(h.path) // another name may have the same hash
		if err != nil {
			continue
		}
		h.linked = h.linked || own.Mode()&os.ModeSymlink != 0
		if h.info, err = os.Stat(h.path); err == nil && h.info.Mode().IsRegular() {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		if a.linked == b.linked {
			return strings.Compare(a.path, b.path)
		} else if a.linked {
			return 1
		}
		return -1
	})
	var out []Candidate
	for i, h := range hits {
		if !slices.ContainsFunc(hits[:i], func(k hit) bool { return os.SameFile(k.info, h.info) }) {
			out = append(out, Candidate{Value: h.path, Size: h.info.Size(), Modified: h.info.ModTime()})
		}
	}
	return out
}
