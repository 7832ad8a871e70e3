package porter

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// OpenMustFix returns the open must-fix questions of a ported recipe. A question is open if it has
// no answer and the files still hold the value that the port wrote. A recipe without a stored
// report has none. If workload is empty, no workload file is read, and the questions about it count
// as open.
func OpenMustFix(recipe, workload string) ([]Todo, error) {
	p, err := LoadProvenance(ProvenancePath(recipe))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	current := map[File]map[string]any{}
	if current[Recipe], err = loadValues(recipe, recipes.ParseRecipe); err == nil && workload != "" {
		current[Workload], err = loadValues(workload, recipes.ParseWorkload)
	}
	if err != nil {
		return nil, fmt.Errorf("check for open questions: %w", err)
	}
	var open []Todo
	for _, t := range p.Todos {
		if t.Kind == MustFix && !p.editedSince(t, current) {
			open = append(open, t)
		}
	}
	return open, nil
}

// editedSince reports whether the values that a question is about were edited after the port.
func (p *Provenance) editedSince(t Todo, current map[File]map[string]any) bool {
	file, path := questionField(t.ID)
	values := current[file]
	if path == "" || values == nil {
		return false
	}
	written, present := map[string]any{}, map[string]any{}
	for _, r := range p.Fields {
		if r.File == file && isWithin(r.Path, path) {
			written[r.Path] = decodeYAML(r.Value)
		}
	}
	for name, v := range values {
		if isWithin(name, path) {
			present[name] = v
		}
	}
	return !maps.EqualFunc(written, present, reflect.DeepEqual)
}

// isWithin reports whether a path equals top or is below it. Concurrency levels may be in either of
// two fields.
func isWithin(path, top string) bool {
	if top == "benchmark.concurrency" && path == "benchmark.concurrencies" {
		return true
	}
	return path == top || strings.HasPrefix(path, top+".")
}

func decodeYAML(text string) any {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return text
	}
	return v
}

// parsedFile is a recipe or a workload.
type parsedFile interface {
	comparable
	Leaves() []recipes.Leaf
}

// loadValues reads a file and decodes its leaves. Keys are canonical paths.
func loadValues[F parsedFile](
	path string, parse func(string, []byte) (F, recipes.Diagnostics),
) (map[string]any, error) {
	data, err := recipes.Read(path)
	if err != nil {
		return nil, err
	}
	var none F
	f, found := parse(path, data)
	if f == none {
		return nil, problem.New(problem.RecipeInvalid, found[0].String())
	}
	out := map[string]any{}
	for _, l := range f.Leaves() {
		out[l.Canonical] = l.Decoded()
	}
	return out, nil
}
