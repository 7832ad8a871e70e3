package draft

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Diff compares two recipes or two workload files field by field; which they
// are is told by their keys.
func (*Drafts) Diff(ctx context.Context, a, b string) (recipes.Comparison, error) {
	var c recipes.Comparison
	if err := ctx.Err(); err != nil {
		return c, err
	}
	kinds := [2]bool{}
	for i, name := range []string{a, b} {
		path, _ := recipes.SplitSelector(name)
		data, err := recipes.Read(path)
		if err != nil {
			return c, fmt.Errorf("diff: %w", err)
		}
		kinds[i] = recipes.IsWorkload(path, data)
	}
	if kinds[0] != kinds[1] {
		return c, fmt.Errorf("diff: one of %s and %s is a recipe and the other a workload file", a, b)
	}
	if kinds[0] {
		wa, err := usable(recipes.LoadWorkload(a))
		wb, err2 := usable(recipes.LoadWorkload(b))
		if err := errors.Join(err, err2); err != nil {
			return c, err
		}
		return recipes.DiffWorkloads(wa, wb), nil
	}
	ra, err := usable(recipes.Load(a))
	rb, err2 := usable(recipes.Load(b))
	if err := errors.Join(err, err2); err != nil {
		return c, err
	}
	return recipes.DiffRecipes(ra, rb), nil
}

// usable makes an error of a file that has some: what it means is not certain.
func usable[T any](v *T, found recipes.Diagnostics, err error) (*T, error) {
	i := slices.IndexFunc(found, func(d recipes.Diagnostic) bool { return d.Severity == recipes.Error })
	if err == nil && i >= 0 {
		err = fmt.Errorf("%s: not compared while it has errors", found[i])
	}
	return v, err
}
