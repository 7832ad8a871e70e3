package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Target is a file that a port would write, compared with the existing file.
type Target struct {
	Path    string
	Exists  bool     // the file exists
	Same    bool     // it exists with the same content
	Diff    []string // unified diff from the existing to the new content
	Added   int      // lines
	Removed int
	Problem string // why it can't be written or compared; else empty
}

// maxCompared bounds what is read of a file to compare it, in bytes.
const maxCompared = 8 << 20

// Targets compares the recipe, workload and report that a port would write with the existing files.
func (Session) Targets(ctx context.Context, r *porter.Result, recipe, workload string) ([]Target, error) {
	recipe, workload = ExpandHome(recipe), ExpandHome(workload)
	var out []Target
	for _, f := range []struct {
		path   string
		render func() ([]byte, error)
	}{{recipe, r.RecipeYAML}, {workload, r.WorkloadYAML}, {porter.ProvenancePath(recipe), r.ProvenanceJSON}} {
		data, err := f.render()
		if err != nil {
			return nil, err
		}
		t, err := runUntilDone(ctx, f.path, func() (Target, error) { return compare(f.path, data), nil })
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// compare compares a file with its new content.
func compare(path string, data []byte) Target {
	t := Target{Path: path}
	dir := filepath.Dir(path)
	info, err := os.Lstat(path)
	switch {
	case !isDirectory(dir):
		err = problem.Errorf(problem.NotADirectory, "no such directory: %s", dir)
	case errors.Is(err, fs.ErrNotExist):
		return t
	case err == nil:
		t.Exists = true
		err = t.compare(info, string(data))
	}
	if err != nil {
		t.Problem = err.Error()
	}
	return t
}

func (t *Target) compare(info fs.FileInfo, content string) (err error) {
	if info.Mode()&fs.ModeSymlink != 0 {
		info, err = os.Stat(t.Path)
	}
	switch {
	case err != nil:
		return problem.New(problem.FileNotFound, "is a broken symbolic link")
	case !info.Mode().IsRegular():
		return problem.New(problem.NotAFile, "is not a regular file")
	case info.Size() > maxCompared:
		return problem.New(problem.FileTooLarge, "is too large to compare")
	}
	old, err := smallfile.Read(t.Path, maxCompared>>20)
	if err != nil {
		return err
	}
	return t.setDiff(string(old), content)
}

func (t *Target) setDiff(old, content string) error {
	if t.Same = old == content; t.Same {
		return nil
	}
	text, err := udiff.ToUnified("", "", old, udiff.Lines(old, content), 3)
	if err != nil {
		return err
	}
	_, text, _ = strings.Cut(text, "\n@@") // skip the file names
	t.Diff = strings.Split(strings.TrimSuffix("@@"+text, "\n"), "\n")
	for _, l := range t.Diff {
		switch {
		case strings.HasPrefix(l, "+"):
			t.Added++
		case strings.HasPrefix(l, "-"):
			t.Removed++
		}
	}
	return nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
