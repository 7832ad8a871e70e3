package porter

import (
	"errors"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// OpenQuestions returns the open questions of the port of a recipe, with canonical paths. A question
// is open if it has no answer and the files still have the value that the port wrote. A recipe
// without a stored report has none. If w is nil, all questions about the workload count as open.
func OpenQuestions(r *recipes.Recipe, w *recipes.Workload) ([]Todo, error) {
	file, _ := recipes.SplitSelector(r.File)
	p, err := loadQuestions(ProvenancePath(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	current := map[File]map[string]any{Recipe: decodeLeaves(r.Leaves())}
	if w != nil {
		current[Workload] = decodeLeaves(w.Leaves())
	}
	var open []Todo
	for _, t := range p.Todos {
		if t.Kind != Note && !p.editedSince(t, current) {
			_, t.Path = questionField(t.ID)
			open = append(open, t)
		}
	}
	return open, nil
}

// questions is the part of a [Provenance] that is needed to find open questions. Reading only this
// part is faster.
type questions struct {
	Version int
	Fields  []struct {
		File  File
		Path  string `json:"canonical"`
		Value string
	}
	Todos []Todo
}

func loadQuestions(path string) (questions, error) {
	var p questions
	err := loadReport(path, &p, &p.Version)
	return p, err
}

func decodeLeaves(leaves []recipes.Leaf) map[string]any {
	out := make(map[string]any, len(leaves))
	for _, l := range leaves {
		out[l.Canonical] = l.Decoded()
	}
	return out
}

// editedSince reports whether the values of all fields that a question is about were edited after the
// port.
func (p *questions) editedSince(t Todo, current map[File]map[string]any) bool {
	file, path := questionField(t.ID)
	paths := t.Fields
	if len(paths) == 0 && path != "" {
		paths = []string{path}
	}
	if len(t.Fields) > 0 {
		file = t.File
	}
	return len(paths) > 0 && current[file] != nil && !slices.ContainsFunc(paths, func(path string) bool {
		return !p.edited(file, path, current[file])
	})
}

// edited reports whether the values at and below a path differ from those that the port wrote.
func (p *questions) edited(file File, path string, current map[string]any) bool {
	written, present := map[string]any{}, map[string]any{}
	for _, r := range p.Fields {
		if r.File == file && isWithin(r.Path, path) {
			written[r.Path] = decodeYAML(r.Value)
		}
	}
	for name, v := range current {
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
