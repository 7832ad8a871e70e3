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

// Write writes the recipe, the workload and the provenance beside the recipe,
// each atomically, after all three were checked. Without force a file that
// exists is an [ExistsError].
func (r *Result) Write(recipe, workload string, force bool) error {
	outs := []struct {
		path   string
		render func() ([]byte, error)
		data   []byte
	}{
		{path: recipe, render: r.RecipeYAML},
		{path: workload, render: r.WorkloadYAML},
		{path: ProvenancePath(recipe), render: r.ProvenanceJSON},
	}
	var exist ExistsError
	seen := map[string]bool{}
	for i := range outs {
		o := &outs[i]
		switch info, err := os.Stat(o.path); {
		case err == nil && info.IsDir():
			return fmt.Errorf("write the port: %s is a directory; give a file name", o.path)
		case err == nil && !force:
			exist.Paths = append(exist.Paths, o.path)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("write the port: %w", err)
		}
		if clean := filepath.Clean(o.path); seen[clean] {
			return fmt.Errorf("write the port: %s would be written twice; give recipe and workload names of their own", o.path)
		} else {
			seen[clean] = true
		}
		if info, err := os.Stat(filepath.Dir(o.path)); err != nil || !info.IsDir() {
			return fmt.Errorf("write the port: there is no folder %s; create it first", filepath.Dir(o.path))
		}
		var err error
		if o.data, err = o.render(); err != nil {
			return err
		}
	}
	if len(exist.Paths) > 0 {
		return &exist
	}
	for _, o := range outs {
		if err := renameio.WriteFile(o.path, o.data, 0o644); err != nil {
			return fmt.Errorf("write the port: %s: %w", o.path, err)
		}
	}
	return nil
}
