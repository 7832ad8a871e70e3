package porter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
// atomically. Without force a file that exists is an [ExistsError].
func (r *Result) Write(recipe, workload string, force bool) error {
	outs := []struct {
		path   string
		render func() ([]byte, error)
	}{{recipe, r.RecipeYAML}, {workload, r.WorkloadYAML}, {ProvenancePath(recipe), r.ProvenanceJSON}}
	var exist ExistsError
	seen := map[string]bool{}
	for _, o := range outs {
		there, err := checkTarget(o.path)
		switch {
		case err != nil:
			return fmt.Errorf("write the port: %w", err)
		case seen[filepath.Clean(o.path)]:
			return fmt.Errorf("write the port: %s would be written twice; give recipe and workload names of their own", o.path)
		case there && !force:
			exist.Paths = append(exist.Paths, o.path)
		}
		seen[filepath.Clean(o.path)] = true
	}
	if len(exist.Paths) > 0 {
		return &exist
	}
	staged := make([]*renameio.PendingFile, len(outs))
	for i, o := range outs {
		data, err := o.render()
		if err != nil {
			return err
		}
		f, err := renameio.NewPendingFile(o.path, renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
		if err != nil {
			return fmt.Errorf("write the port: %s: %w", o.path, err)
		}
		defer f.Cleanup() // no effect once the file is in its place
		if _, err := f.Write(data); err != nil {
			return fmt.Errorf("write the port: %s: %w", o.path, err)
		}
		staged[i] = f
	}
	for i, f := range staged {
		if err := f.CloseAtomicallyReplace(); err != nil {
			return fmt.Errorf("write the port: %s: %w", outs[i].path, err)
		}
	}
	return nil
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
