package draft

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// FixedFile is a file that [Drafts.Fix] changed, with the applied edits.
type FixedFile struct {
	File  string         `json:"file"`
	Edits []recipes.Edit `json:"edits"`
}

// Fix applies the given edits and the safe suggested changes to the files on disk, for all recipes of
// a file that f.Recipe selects. It skips a change that can't be applied.
func (d *Drafts) Fix(ctx context.Context, f Files) ([]FixedFile, error) {
	pairs, err := d.LoadAll(ctx, f)
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
	for _, p := range pairs {
		if p.Workload != nil && !slices.Contains(names, p.Workload.File) {
			todo[p.Workload.File] = slices.Clone(forWorkload)
			names = append(names, p.Workload.File)
		}
		for _, d := range p.Report.Diagnostics {
			if slices.Contains(names, d.File) && d.Edit != nil && d.Edit.Safe && !slices.Contains(todo[d.File], *d.Edit) {
				todo[d.File] = append(todo[d.File], *d.Edit)
			}
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
		next, err := edit.ApplyToAll(after, []recipes.Edit{ed})
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
