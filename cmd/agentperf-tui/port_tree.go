package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/tree"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// portTree ports every run directory below root and prints a row for each: as JSON when
// the run is ported, as text in one table at the end.
func (a *app) portTree(ctx context.Context, root string, opt tree.Options, strict bool) error {
	t := treeReport{states: map[string]int{}, rows: [][]string{{
		"run", "state", "fields", "copied", "translated", "inferred", "default", "guessed", "todo",
		"must-fix", "confirm", "note", "error",
	}}}
	progress := &treeProgress{a: a, last: time.Now()}
	defer debug.SetGCPercent(debug.SetGCPercent(portGC))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(treeMemory))
	opt.Progress = progress.report
	err := tree.Port(ctx, root, opt, func(r tree.Row) error {
		t.add(r)
		if a.json {
			return a.printLine(r)
		}
		return nil
	})
	if err == nil {
		err = a.stderr.err
	}
	if !a.json && len(t.rows) > 1 {
		a.table(t.rows)
	}
	if err == nil || len(t.rows) > 1 {
		a.note("%s\n", t.summary())
	}
	switch {
	case errors.Is(err, context.Canceled):
		return exitError{code: 1, err: err}
	case err != nil:
		return badInput(err)
	case t.states[tree.Failed] > 0:
		return exitWith(1)
	case strict && t.mustFix > 0:
		return exitError{
			code: 1,
			err: problem.Errorf(problem.QuestionUnanswered, "port: %s open",
				ui.Plural(t.mustFix, "must-fix question")),
		}
	}
	return nil
}

const (
	// portGC is the value of GOGC during a port. A port of one run then ends before the first garbage
	// collection.
	portGC = 1000
	// treeMemory bounds the memory of a port of a tree, in bytes: there are collections if it is reached.
	treeMemory = 60 << 20
)

// treeReport collects the rows and totals of a ported tree.
type treeReport struct {
	rows    [][]string
	states  map[string]int
	mustFix int
}

func (t *treeReport) add(r tree.Row) {
	t.states[r.Status]++
	t.mustFix += r.Todos[porter.MustFix]
	total := 0
	var counts []string
	for _, c := range []porter.Class{
		porter.Copied, porter.Translated, porter.Inferred, porter.Default, porter.Guessed, porter.Missing,
	} {
		total += r.Fields[c]
		counts = append(counts, strconv.Itoa(r.Fields[c]))
	}
	for _, k := range []porter.TodoKind{porter.MustFix, porter.Confirm, porter.Note} {
		counts = append(counts, strconv.Itoa(r.Todos[k]))
	}
	row := append([]string{r.Run, r.Status, strconv.Itoa(total)}, counts...)
	t.rows = append(t.rows, append(row, r.Error))
}

func (t *treeReport) summary() string {
	return fmt.Sprintf("%d runs: %d ported, %d unchanged, %d skipped (ported before from the same inputs), %d failed; "+
		"%d must-fix questions open", len(t.rows)-1, t.states[tree.Ported], t.states[tree.Unchanged],
		t.states[tree.Skipped], t.states[tree.Failed], t.mustFix)
}

// treeProgress prints progress to stderr, at most every two seconds.
type treeProgress struct {
	a    *app
	last time.Time
}

func (p *treeProgress) report(s porter.Progress) {
	if time.Since(p.last) < 2*time.Second {
		return
	}
	p.last = time.Now()
	if s.Stage == "search" {
		p.a.note("searching for datasets: %d entries\n", s.Done)
		return
	}
	p.a.note("ported %d of %d\n", s.Done, s.Total)
}
