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
)

// ExistsError says that an output file is there already; nothing was written.
type ExistsError struct{ Paths []string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("write the port: %s is there already; choose another name or pass --force", strings.Join(e.Paths, ", "))
}

// ProvenancePath is where the report of a recipe lies.
func ProvenancePath(recipe string) string {
	for _, ext := range []string{".yaml", ".yml"} {
		if stem, ok := strings.CutSuffix(recipe, ext); ok {
			return stem + ".provenance.json"
		}
	}
	return recipe + ".provenance.json"
}

// Write writes the recipe, the workload and the provenance beside the recipe.
// All three are checked and staged before the first takes its place, each
// atomically. Without force a file that holds something else is an [ExistsError].
func (r *Result) Write(recipe, workload string, force bool) error {
	_, err := r.write(recipe, workload, force)
	return err
}

// output is one file of a port.
type output struct {
	path   string
	render func() ([]byte, error)
	data   []byte // rendered
}

func (r *Result) outputs(recipe, workload string) []output {
	return []output{{recipe, r.RecipeYAML, nil}, {workload, r.WorkloadYAML, nil}, {ProvenancePath(recipe), r.ProvenanceJSON, nil}}
}

// isArtifact says whether a file is called what harness runs call theirs.
func (r *Result) isArtifact(path string) bool {
	return slices.ContainsFunc(r.Artifacts, func(a Artifact) bool { return a.Name == filepath.Base(path) })
}

// write says how many files it had to write: those that hold the same already
// are left alone.
func (r *Result) write(recipe, workload string, force bool) (written int, err error) {
	outs := r.outputs(recipe, workload)
	var exist ExistsError
	seen := map[string]bool{}
	for i := range outs {
		o := &outs[i]
		if seen[filepath.Clean(o.path)] {
			return 0, fmt.Errorf("write the port: %s would be written twice; give recipe and workload names of their own", o.path)
		}
		seen[filepath.Clean(o.path)] = true
		there, err := checkTarget(o.path)
		if err != nil {
			return 0, fmt.Errorf("write the port: %w", err)
		}
		if there && r.isArtifact(o.path) {
			return 0, fmt.Errorf("write the port: %s has the name of a harness artifact and is there already: it may be the source of a port; give another name", o.path)
		}
		if o.data, err = o.render(); err != nil {
			return 0, err
		}
		switch {
		case there && holds(o.path, o.data):
			o.data = nil
		case there && !force:
			exist.Paths = append(exist.Paths, o.path)
		}
	}
	if len(exist.Paths) > 0 {
		return 0, &exist
	}
	var staged []*renameio.PendingFile
	for _, o := range outs {
		if o.data == nil {
			continue
		}
		f, err := renameio.NewPendingFile(o.path, renameio.WithTempDir(filepath.Dir(o.path)), renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
		if err != nil {
			return 0, fmt.Errorf("write the port: %s: %w", o.path, err)
		}
		defer f.Cleanup() // no effect once the file is in its place
		if _, err := f.Write(o.data); err != nil {
			return 0, fmt.Errorf("write the port: %s: %w", o.path, err)
		}
		staged = append(staged, f)
	}
	for _, f := range staged {
		if err := f.CloseAtomicallyReplace(); err != nil {
			return 0, fmt.Errorf("write the port: %w", err)
		}
	}
	return len(staged), nil
}

// holds says whether a file holds just these bytes.
func holds(path string, data []byte) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() != int64(len(data)) {
		return false
	}
	have, err := os.ReadFile(path)
	return err == nil && bytes.Equal(have, data)
}

// checkTarget says whether a file is there, and whether one could be.
func checkTarget(path string) (there bool, err error) {
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return false, fmt.Errorf("there is no folder %s; create it first", dir)
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.IsDir():
		return true, fmt.Errorf("%s is a directory; give a file name", path)
	}
	return true, nil
}
