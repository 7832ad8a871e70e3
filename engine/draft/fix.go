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

// Recipes lists the recipes that a name stands for, each as [Files] takes it: the
// name itself for a plain file, file:selector for each of a file of several.
func (*Drafts) Recipes(name string) ([]string, error) {
	file, selector := recipes.SplitSelector(name)
	data, err := recipes.Read(file)
	if err != nil {
		return nil, fmt.Errorf("load recipe: %w", err)
	}
	all, _ := recipes.Variants(file, data, selector) // its findings come with each recipe
	if len(all) < 2 {
		return []string{name}, nil
	}
	names := make([]string, 0, len(all))
	for _, v := range all {
		names = append(names, file+":"+v.Selector)
	}
	return names, nil
}

// FixedFile is one file that [Drafts.Fix] changed, and what it did there.
type FixedFile struct {
	File  string         `json:"file"`
	Edits []recipes.Edit `json:"edits"`
}

// Fix makes the given edits, and those of the findings that say the same as
// before, in the files themselves. One that can't be made is left to the person.
func (d *Drafts) Fix(ctx context.Context, f Files) ([]FixedFile, error) {
	p, err := d.Load(ctx, f)
	if err != nil {
		return nil, err
	}
	file, _ := recipes.SplitSelector(f.Recipe)
	data, err := recipes.Read(file)
	if err != nil {
		return nil, fmt.Errorf("fix: %w", err)
	}
	forRecipe, forWorkload := edits(data, f.Edits)
	todo := map[string][]recipes.Edit{file: forRecipe}
	names := []string{file}
	if p.Workload != nil {
		todo[p.Workload.File] = forWorkload
		names = append(names, p.Workload.File)
	}
	for _, f := range p.Report.Diagnostics {
		if _, ours := todo[f.File]; ours && f.Edit != nil && f.Edit.Safe {
			todo[f.File] = append(todo[f.File], *f.Edit)
		}
	}
	var done []FixedFile
	for _, name := range names {
		made, err := d.rewrite(ctx, name, todo[name])
		if err != nil {
			return done, err
		}
		if len(made) > 0 {
			done = append(done, FixedFile{File: name, Edits: made})
		}
	}
	return done, nil
}

// rewrite makes edits in a file, each that can be made.
func (d *Drafts) rewrite(ctx context.Context, file string, todo []recipes.Edit) (made []recipes.Edit, err error) {
	before, err := recipes.Read(file)
	if err != nil {
		return nil, fmt.Errorf("fix: %w", err)
	}
	after := before
	for _, ed := range todo {
		next, err := edit.Apply(after, []recipes.Edit{ed})
		if err != nil || bytes.Equal(next, after) {
			continue // it stays among the findings
		}
		after, made = next, append(made, ed)
	}
	if len(made) == 0 {
		return nil, nil
	}
	return made, d.Save(ctx, file, after, before)
}

// edits parts what a person asked for by file, and writes each value as its field takes it.
func edits(recipe []byte, all []recipes.Edit) (forRecipe, forWorkload []recipes.Edit) {
	version := recipes.LayoutOf(recipe)
	for _, e := range all {
		table := schema.Recipe(version)
		first, _, _ := strings.Cut(e.Path, ".")
		ours := schema.Workload().Lookup(first) != nil && schema.Recipe(1).Lookup(first) == nil &&
			schema.Recipe(2).Lookup(first) == nil
		if ours {
			table = schema.Workload()
		}
		if e.Op == recipes.OpSet {
			e.Value = recipes.YAMLValue(table, e.Path, e.Value)
		}
		if ours {
			forWorkload = append(forWorkload, e)
		} else {
			forRecipe = append(forRecipe, e)
		}
	}
	return forRecipe, forWorkload
}
