package porter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Bounds of a dataset search.
const (
	maxSearchEntries = 5_000_000
	maxSearchDepth   = 64
	maxCandidates    = 100
)

// Datasets is an index of the names of all files below some directories. It takes eight bytes per
// file, so it can cover a large tree. Concurrent ports can share it.
type Datasets struct {
	directories []directory
	files       []uint64 // upper half: hash of the name; lower half: index of the directory; sorted
	partial     string   // why the index is incomplete; else empty
}

// IndexDatasets indexes the files below the roots. Unreadable directories are skipped, and the
// search stops after 5 million entries; a [Result] has a notice in both cases. A root that is not a
// directory is an error. progress may be nil.
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
		s.walk(directory{path: abs})
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
		s.found.partial = fmt.Sprintf("%d directories could not be read", s.unreadable)
		if s.unreadable == 1 {
			s.found.partial = "1 directory could not be read"
		}
	}
	if s.entries >= s.limit {
		s.found.partial = fmt.Sprintf("the search stopped after %d entries", s.entries)
	}
	slices.Sort(s.found.files)
	return &s.found, nil
}

// directory is a directory to walk.
type directory struct {
	path   string
	depth  int
	linked bool
}

// search walks directories. Symbolic links are walked last, so that a file is found by its real
// path first. Each real directory is entered once, so loops of links end.
type search struct {
	ctx        context.Context
	report     func(Progress)
	seen       map[string]bool // real paths of directories
	links      []directory
	found      Datasets
	entries    int
	limit      int // maximum number of entries
	unreadable int
}

func (s *search) walk(d directory) {
	real, err := filepath.EvalSymlinks(d.path)
	if err != nil {
		s.unreadable++
		return
	}
	if s.seen[real] || d.depth > maxSearchDepth || s.done() {
		return
	}
	s.seen[real] = true
	f, err := os.Open(d.path)
	if err != nil {
		s.unreadable++
		return
	}
	number := uint64(len(s.found.directories))
	s.found.directories = append(s.found.directories, d)
	var below []directory
	for !s.done() {
		entries, err := f.ReadDir(1024)
		for _, e := range entries {
			sub, file := classify(d, e)
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
	f.Close() // before descending, so that a deep tree does not use up descriptors
	slices.SortFunc(below, func(a, b directory) int { return strings.Compare(a.path, b.path) })
	for _, sub := range below {
		s.walk(sub)
	}
}

func (s *search) done() bool { return s.ctx.Err() != nil || s.entries >= s.limit }

// classify returns a directory to descend into, with a path, or reports that e is a file.
func classify(d directory, e os.DirEntry) (sub directory, file bool) {
	mode := e.Type()
	link := mode&os.ModeSymlink != 0
	sub = directory{filepath.Join(d.path, e.Name()), d.depth + 1, d.linked || link}
	if link {
		info, err := os.Stat(sub.path)
		if err != nil {
			return directory{}, false
		}
		mode = info.Mode()
	}
	if mode.IsDir() {
		return sub, false
	}
	return directory{}, mode.IsRegular()
}

// nameHash returns the hash of a file's name in the upper half of 64 bits.
func nameHash(name string) uint64 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return uint64(h.Sum32()) << 32
}

type match struct {
	path   string
	info   os.FileInfo
	linked bool // reached through a symbolic link
}

// Find returns the files with a name, sorted by path, those reached through symbolic links last. Each
// file is listed once.
func (ds *Datasets) Find(name string) []Candidate {
	if ds == nil {
		return nil
	}
	want := nameHash(name)
	var hits []match
	first, _ := slices.BinarySearch(ds.files, want)
	for _, f := range ds.files[first:] {
		if f>>32 != want>>32 || len(hits) == maxCandidates {
			break
		}
		d := ds.directories[f&(1<<32-1)]
		h := match{path: filepath.Join(d.path, name), linked: d.linked}
		linkInfo, err := os.Lstat(h.path) // another name may have the same hash
		if err != nil {
			continue
		}
		h.linked = h.linked || linkInfo.Mode()&os.ModeSymlink != 0
		if h.info, err = os.Stat(h.path); err == nil && h.info.Mode().IsRegular() {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b match) int {
		if a.linked == b.linked {
			return strings.Compare(a.path, b.path)
		} else if a.linked {
			return 1
		}
		return -1
	})
	var out []Candidate
	for i, h := range hits {
		if !slices.ContainsFunc(hits[:i], func(k match) bool { return os.SameFile(k.info, h.info) }) {
			out = append(out, Candidate{Value: h.path, Size: h.info.Size(), Modified: h.info.ModTime()})
		}
	}
	return out
}

// maxDigest bounds the size of a file that is hashed, in bytes.
const maxDigest = 4 << 30

// addDigests adds the digests of files that have the same size, so that equal files can be told from others.
func addDigests(ctx context.Context, files []Candidate, progress func(Progress)) error {
	for i, f := range files {
		same := func(o Candidate) bool { return o.Size == f.Size && o.Value != f.Value }
		if f.Size > maxDigest || !slices.ContainsFunc(files, same) {
			continue
		}
		digest, err := digestOf(ctx, f.Value, progress)
		if ctx.Err() != nil {
			return fmt.Errorf("compare %s: %w", f.Value, ctx.Err())
		}
		if err == nil { // else the candidate is shown without
			files[i].SHA256 = digest
		}
	}
	return nil
}

// digestOf returns the SHA-256 of a file.
func digestOf(ctx context.Context, path string, progress func(Progress)) (string, error) {
	f, info, err := smallfile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	for done := int64(0); ; {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		n, err := io.CopyN(h, f, 64<<20)
		done += n
		progress(Progress{Stage: "compare", Name: path, Done: done, Total: info.Size()})
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// compareDigests tells whether files have the same content, as far as this is known.
func compareDigests(files []Candidate) string {
	first, unknown := files[0], false
	for _, f := range files[1:] {
		digests := f.SHA256 != "" && first.SHA256 != ""
		if f.Size != first.Size || digests && f.SHA256 != first.SHA256 {
			return ", with different content"
		}
		unknown = unknown || !digests
	}
	if unknown {
		return ""
	}
	return ", with the same content"
}
