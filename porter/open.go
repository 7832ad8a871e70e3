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

// OpenMustFix lists the must-fix questions of a ported recipe that nobody has answered: no answer
// was given, and the files still hold what the port wrote. A recipe without a stored report has
// none. With no workload file its questions count as open.
func OpenMustFix(recipe, workload string) ([]Todo, error) {
	p, err := LoadProvenance(ProvenancePath(recipe))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now := map[File]map[string]any{}
	if now[Recipe], err = valuesIn(recipe, recipes.ParseRecipe); err == nil && workload != "" {
		now[Workload], err = valuesIn(workload, recipes.ParseWorkload)
	}
	if err != nil {
		return nil, fmt.Errorf("look for open questions: %w", err)
	}
	var open []Todo
	for _, t := range p.Todos {
		if t.Kind == MustFix && !p.editedSince(t, now) {
			open = append(open, t)
		}
	}
	return open, nil
}

// editedSince says whether what a question is about was changed by hand.
func (p *Provenance) editedSince(t Todo, now map[File]map[string]any) bool {
	file, path := questionField(t.ID)
	values := now[file]
	if path == "" || values == nil {
		return false
	}
	written, present := map[string]any{}, map[string]any{}
	for _, r := range p.Fields {
		if r.File == file && within(r.Path, path) {
			written[r.Path] = decoded(r.Value)
		}
	}
	for name, v := range values {
		if within(name, path) {
			present[name] = v
		}
	}
	return !maps.EqualFunc(written, present, reflect.DeepEqual)
}

// within says whether a path is another one or below it. A level may be given
// in either of two fields.
func within(path, top string) bool {
	if top == "benchmark.concurrency" && path == "benchmark.concurrencies" {
		return true
	}
	return path == top || strings.HasPrefix(path, top+".")
}

func decoded(text string) any {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return text
	}
	return v
}

// written is a recipe or a workload.
type written interface {
	comparable
	Leaves() []recipes.Leaf
}

// valuesIn reads a file and decodes its leaves by their canonical paths.
func valuesIn[F written](path string, parse func(string, []byte) (F, recipes.Diagnostics)) (map[string]any, error) {
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
