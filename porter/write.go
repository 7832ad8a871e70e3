package porter

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/engine/outfile"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// ExistsError reports that output files already exist. Nothing was written.
type ExistsError struct{ Paths []string }

func (e *ExistsError) Error() string {
	verb := "exists"
	if len(e.Paths) > 1 {
		verb = "exist"
	}
	return fmt.Sprintf("write port: %s already %s; choose another name or pass --force", strings.Join(e.Paths, ", "), verb)
}

// Unwrap gives the error its id.
func (e *ExistsError) Unwrap() error { return problem.New(problem.FileExists, e.Error()) }

// ProvenancePath returns the path of a recipe's report.
func ProvenancePath(recipe string) string {
	for _, ext := range []string{".yaml", ".yml"} {
		if stem, ok := strings.CutSuffix(recipe, ext); ok {
			return stem + ".provenance.json"
		}
	}
	return recipe + ".provenance.json"
}

// output is one file of a port.
type output struct {
	path   string
	file   File   // empty for the report
	real   string // path with symbolic links resolved
	staged *renameio.PendingFile
	render func() ([]byte, error)
	data   []byte // rendered; nil if the file need not be written
}

func (r *Result) outputs(recipe, workload string) []output {
	return []output{
		{path: recipe, file: Recipe, render: r.RecipeYAML},
		{path: workload, file: Workload, render: r.WorkloadYAML},
		{path: ProvenancePath(recipe), render: r.ProvenanceJSON},
	}
}

// isArtifact reports whether a file has the name of a harness artifact.
func (r *Result) isArtifact(path string) bool {
	return slices.ContainsFunc(r.Artifacts, func(a Artifact) bool { return a.Name == filepath.Base(path) })
}

// Write writes the recipe, the workload and, next to the recipe, the report. Only the user can read a file with secrets
// that is written. All files are checked and staged before the first one is replaced, each atomically. Without force,
// an existing file with different content is an [ExistsError]. Files with the same content are not written again.
// written is the number of files that were written.
func (r *Result) Write(recipe, workload string, force bool) (written int, err error) {
	outs := r.outputs(recipe, workload)
	var exist ExistsError
	seen := map[string]bool{}
	for i := range outs {
		o := &outs[i]
		exists, err := o.target()
		if err != nil {
			return 0, fmt.Errorf("write port: %w", err)
		}
		if seen[filepath.Clean(o.real)] {
			return 0, problem.Errorf(problem.OutputConflict,
				"write port: %s would be written twice; give recipe and workload different names", o.path)
		}
		seen[filepath.Clean(o.real)] = true
		if exists && (r.isArtifact(o.path) || r.isArtifact(o.real)) {
			return 0, problem.Errorf(problem.OutputConflict,
				"write port: %s exists and has the name of a harness artifact; give another name", o.path)
		}
		if o.data, err = o.render(); err != nil {
			return 0, err
		}
		switch {
		case exists && hasContent(o.path, o.data):
			o.data = nil
		case exists && !force:
			exist.Paths = append(exist.Paths, o.path)
		}
	}
	if len(exist.Paths) > 0 {
		return 0, &exist
	}
	for i := range outs {
		o := &outs[i]
		if o.data == nil {
			continue
		}
		if err := o.stage(r.mode(o.file)); err != nil {
			return 0, fmt.Errorf("write port: %w", outfile.WithPath(o.path, err))
		}
		defer o.staged.Cleanup() // no effect after the file is replaced
	}
	for _, o := range outs {
		if o.staged == nil {
			continue
		}
		if err := o.staged.CloseAtomicallyReplace(); err != nil {
			return 0, fmt.Errorf("write port: %w", outfile.WithPath(o.path, err))
		}
		written++
	}
	return written, nil
}

// stage stages the file. One that is private does not keep the mode of the file that it replaces.
func (o *output) stage(mode fs.FileMode) (err error) {
	o.staged, err = outfile.Stage(o.real, o.data, mode)
	if err != nil || mode != private {
		return err
	}
	if err := o.staged.Chmod(mode); err != nil {
		return errors.Join(err, o.staged.Cleanup())
	}
	return nil
}

// private is the mode of files with secrets.
const private fs.FileMode = 0o600

// mode returns the mode of a file, or of the report if it is empty.
func (r *Result) mode(file File) fs.FileMode {
	if r.hasSecrets(file) {
		return private
	}
	return 0o644
}

// WriteDirectory writes a port to a new directory, which is created with all its files at once. Unlike
// [Result.Write] it does not sync the files, since that is slow for thousands of ports, which can
// be repeated.
func (r *Result) WriteDirectory(dir string) error {
	part := dir + ".part"
	err := os.RemoveAll(part) // left by an interrupted port
	if err == nil {
		err = os.MkdirAll(part, 0o755)
	}
	for _, o := range r.outputs(filepath.Join(part, "recipe.yaml"), filepath.Join(part, "workload.yaml")) {
		var data []byte
		if err == nil {
			data, err = o.render()
		}
		if err == nil {
			err = os.WriteFile(o.path, data, r.mode(o.file))
		}
	}
	if err == nil {
		err = os.Rename(part, dir)
	}
	if err != nil {
		return fmt.Errorf("write port: %w", err)
	}
	return nil
}

// hasContent reports whether a file has exactly this content.
func hasContent(path string, data []byte) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() != int64(len(data)) {
		return false
	}
	have, err := os.ReadFile(path)
	return err == nil && bytes.Equal(have, data)
}

// target sets o.real and reports whether the file exists. It returns an error if
// the file can't be written.
func (o *output) target() (exists bool, err error) {
	real, exists, plain, err := outfile.Target(o.path)
	if err == nil && !plain {
		err = problem.Errorf(problem.NotAFile, "%s: is not a regular file; give another name", o.path)
	}
	o.real = real
	return exists, err
}
