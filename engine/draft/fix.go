package draft

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Recipes lists the recipes of a file, each in the form of [Files.Recipe]: the name itself
// for a file with one recipe, file:selector for each recipe of a file with several.
func (*Drafts) Recipes(name string) ([]string, error) {
	file, selector := recipes.SplitSelector(name)
	data, err := recipes.Read(file)
	if err != nil {
		return nil, fmt.Errorf("load recipe: %w", err)
	}
	all, _ := recipes.Variants(file, data, selector) // loading each recipe reports the diagnostics
	if len(all) < 2 {
		return []string{name}, nil
	}
	names := make([]string, 0, len(all))
	for _, v := range all {
		names = append(names, file+":"+v.Selector)
	}
	return names, nil
}

// FixedFile is a file that [Drafts.Fix] changed, with the applied edits.
type FixedFile struct {
	File  string         `json:"file"`
	Edits []recipes.Edit `json:"edits"`
}

// Fix applies the given edits and the safe suggested changes to the files on disk. It
// skips a change that can't be applied.
func (d *Drafts) Fix(ctx context.Context, f Files) ([]FixedFile, error) {
	p, err := d.Load(ctx, f)
	if err != nil {
		return nil, err
	}
	file, _ := recipes.SplitSelector(f.Recipe)
	data, err := recipes.Read(file)
	if err != nil {
		return nil, fmt.Errorf("apply suggested changes: %w", err)
	}
	forRecipe, forWorkload := splitEdits(data, f.Edits)
	todo := map[string][]recipes.Edit{file: forRecipe}
	names := []string{file}
	if p.Workload != nil {
		todo[p.Workload.File] = forWorkload
		names = append(names, p.Workload.File)
	}
	for _, d := range p.Report.Diagnostics {
		if _, ok := todo[d.File]; ok && d.Edit != nil && d.Edit.Safe {
			todo[d.File] = append(todo[d.File], *d.Edit)
		}
	}
	var done []FixedFile
	for _, name := range names {
		applied, err := d.applyEdits(ctx, name, todo[name])
		if err != nil {
			return done, err
		}
		if len(applied) > 0 {
			done = append(done, FixedFile{File: name, Edits: applied})
		}
	}
	return done, nil
}

// applyEdits applies edits to a file on disk and returns those that could be applied.
func (d *Drafts) applyEdits(ctx context.Context, file string, todo []recipes.Edit) (applied []recipes.Edit, err error) {
	before, err := recipes.Read(file)
	if err != nil {
		return nil, fmt.Errorf("apply suggested changes: %w", err)
	}
	after := before
	for _, ed := range todo {
		next, err := edit.Apply(after, []recipes.Edit{ed})
		if err != nil || bytes.Equal(next, after) {
			continue // the next check reports it again
		}
		after, applied = next, append(applied, ed)
	}
	if len(applied) == 0 {
		return nil, nil
	}
	return applied, d.Save(ctx, file, after, before)
}

// splitEdits separates edits of the recipe from those of the workload, and formats each
// value for its field.
func splitEdits(recipe []byte, all []recipes.Edit) (forRecipe, forWorkload []recipes.Edit) {
	version := recipes.LayoutOf(recipe)
	for _, e := range all {
		table := schema.Recipe(version)
		first, _, _ := strings.Cut(e.Path, ".")
		inWorkload := schema.Workload().Lookup(first) != nil && schema.Recipe(1).Lookup(first) == nil &&
			schema.Recipe(2).Lookup(first) == nil
		if inWorkload {
			table = schema.Workload()
		}
		if e.Op == recipes.OpSet {
			e.Value = recipes.YAMLValue(table, e.Path, e.Value)
		}
		if inWorkload {
			forWorkload = append(forWorkload, e)
		} else {
			forRecipe = append(forRecipe, e)
		}
	}
	return forRecipe, forWorkload
}
