package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Registry is the list of runs known to a user: one small file a run, in the
// user's state folder. The runs' folders stay where the user put them.
type Registry struct{ Dir string }

// Add records a run.
func (g Registry) Add(r Record) error {
	if err := os.MkdirAll(g.Dir, 0o755); err != nil {
		return fmt.Errorf("record run %s: %w", r.ID, err)
	}
	return smallfile.WriteJSON(filepath.Join(g.Dir, r.ID+".json"), r, 0o644)
}

// Lose notes what became of a listed run whose folder is gone.
func (g Registry) Lose(id, why string) error {
	path := filepath.Join(g.Dir, id+".json")
	var r Record
	if err := smallfile.ReadJSON(path, &r); err != nil {
		return fmt.Errorf("note what became of run %s: %w", id, err)
	}
	r.Lost = why
	return smallfile.WriteJSON(path, r, 0o644)
}

// List reads all recorded runs. Entries that can't be read come back as errors
// beside the ones that can. A run's folder may be gone, for a while or for good.
func (g Registry) List() ([]Record, error) {
	entries, err := os.ReadDir(g.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var out []Record
	var bad []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		var r Record
		if err := smallfile.ReadJSON(filepath.Join(g.Dir, e.Name()), &r); err != nil {
			bad = append(bad, err)
			continue
		}
		out = append(out, r)
	}
	return out, errors.Join(bad...)
}
