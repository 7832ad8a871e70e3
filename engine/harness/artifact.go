package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Artifact is a file that a run directory may contain.
type Artifact struct {
	// Name is relative to the run directory. It is an absolute path if a launch line names a file outside.
	Name    string `json:"name"`
	Present bool   `json:"present"`
	Lines   int    `json:"-"`                 // lines read; fewer than the file has if reading stopped at a limit
	Found   string `json:"found,omitempty"`   // what was found in it, in a few words
	Problem string `json:"problem,omitempty"` // why it, or a part of it, could not be used; else empty

	// Kind is the usual name of such a file, one of the constants of this package. It differs from Name if
	// the file is compressed, or if a line of another artifact names it.
	Kind string `json:"-"`
	// Problems are the parts that could not be read, Notes the values that were interpreted
	// differently than a reader might expect. Those of an engine config are in its Config.
	Problems []Problem `json:"-"`
	Notes    []Problem `json:"-"`
}

func (a *Artifact) problem(line int, text string) {
	a.Problems = append(a.Problems, Problem{Line: line, Text: text})
}

// cutText is why the last line of a file is not used, followed by what it shows.
const cutText = "the last line has no line ending, so the file may have been cut; not read: "

// parser reads one artifact and sets what was found in it.
type parser func(context.Context, io.Reader, *Artifact) error

// readArtifact parses one artifact and adds it to r.Artifacts. An artifact that is missing, not a
// regular file or unreadable has a Problem. A compressed file takes the place of one that is missing or
// empty. The only error is that of ctx.
func (r *Run) readArtifact(ctx context.Context, kind, name string, parse parser) error {
	a := Artifact{Name: name, Kind: kind}
	defer func() { r.Artifacts = append(r.Artifacts, a) }()
	info, err := os.Stat(r.path(name))
	if packed, perr := os.Stat(r.path(name + ".gz")); perr == nil {
		if err != nil || info.Size() == 0 {
			a.Name, info, err = name+".gz", packed, nil
		} else {
			a.Notes = append(a.Notes, Problem{Text: name + ".gz exists as well; it was not read"})
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.Problem = "missing"
		if _, lerr := os.Lstat(r.path(name)); lerr == nil {
			a.Problem = "broken symbolic link"
		}
		for _, ext := range []string{".zst", ".xz", ".bz2"} {
			if r.has(name + ext) {
				a.Problem = fmt.Sprintf("missing, but %s%s exists: decompress it", name, ext)
			}
		}
		return nil
	case err != nil:
		a.Problem = reason(err)
		return nil
	case !info.Mode().IsRegular():
		a.Present, a.Problem = true, "not a regular file"
		return nil
	}
	a.Present = true
	r.progress(a.Name, 0, info.Size())
	err = r.parseFile(ctx, &a, parse)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("read %s: %w", a.Name, ctx.Err())
	case err != nil:
		a.Problem = reason(err)
	case info.Size() == 0:
		a.Problem = "empty"
	}
	return nil
}

// path returns the path of an artifact by its name.
func (r *Run) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.Dir, name)
}

func (r *Run) parseFile(ctx context.Context, a *Artifact, parse parser) error {
	f, err := os.Open(r.path(a.Name))
	if err != nil {
		return err
	}
	defer f.Close()
	unpacked, _, err := smallfile.Decompress(f)
	if err != nil {
		return err
	}
	mark := make([]byte, 2)
	if n, _ := f.ReadAt(mark, 0); n == 2 && (string(mark) == "\xff\xfe" || string(mark) == "\xfe\xff") {
		return problem.New(problem.ArtifactInvalid, "UTF-16 text; convert it to UTF-8")
	}
	text := text{Reader: unpacked}
	err = parse(ctx, &text, a)
	if text.cut {
		a.problem(0, "the compressed data ends early, so the file was cut")
	}
	return err
}

// text reads the text of a file, which may be compressed. Compressed data that ends early is text
// whose last line has no line ending.
type text struct {
	io.Reader
	cut bool // the compressed data ended early
}

func (t *text) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		t.cut, err = true, io.EOF
	}
	return n, err
}

// reason returns the text of an error without its path, which depends on the machine.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
