package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Limits for the lines about the recipes of a file, so that a sweep fits on a screen.
const (
	maxFindingLines = 24
	maxTimeoutLines = 5
	maxTimeLines    = 3
	maxChangeLines  = 4
)

// checkedFileText prints the findings of all recipes of a file. Lines that several recipes have in
// common are printed once.
func (a *app) checkedFileText(name string, pairs []*engine.Pair) error {
	each := make([]recipes.Diagnostics, len(pairs))
	todos, questions, failed := 0, 0, 0
	times, timeouts, changes := newLineCount(pairs), newLineCount(pairs), newLineCount(pairs)
	for i, p := range pairs {
		each[i] = p.Report.Diagnostics
		todos += p.Report.Todos
		questions += p.Report.Questions
		if !p.Report.OK() {
			failed++
		}
		for _, t := range p.Report.Timeouts {
			timeouts.add(i, timeoutLine(t, len(p.Report.Timeouts) > 1))
		}
		if est := p.Report.Estimate; est != nil {
			times.add(i, "run time, "+est.Summary())
		}
		for _, c := range p.Changes {
			changes.add(i, "  "+changeText(c))
		}
	}
	a.say("%s: %d recipes\n", safetext.Clean(name), len(pairs))
	all := recipes.ShareFindings(each)
	a.sharedFindings(pairs, all)
	a.noteWithoutWorkload(pairs)
	a.atMost(failedFirst(timeouts.lines()), maxTimeoutLines)
	a.atMost(times.lines(), maxTimeLines)
	a.say("%s\n", safetext.Clean(clusterFile(pairs[0])))
	a.atMost(changes.lines(), maxChangeLines)
	var total recipes.Diagnostics
	for _, f := range all {
		total = append(total, f.Diagnostic)
	}
	return a.say("%s; %d of %d recipes have errors\n", countText(total, todos, questions), failed, len(pairs))
}

// sharedFindings prints findings with the recipes that they are about.
func (a *app) sharedFindings(pairs []*engine.Pair, all []recipes.SharedFinding) {
	printed := 0
	for i, f := range all {
		if printed+2 > maxFindingLines {
			one := safetext.Clean(pairs[f.Recipes[0]].File)
			a.say("%s more; check %s lists all of one recipe\n", ui.Plural(len(all)-i, "finding"), one)
			return
		}
		printed++
		about := inRecipes(pairs, f.Recipes)
		if f.Texts > 1 {
			about = fmt.Sprintf("and %s, %s", ui.Plural(f.Texts-1, "similar text"), about)
		}
		a.say("%s (%s)\n", safetext.Clean(f.String()), safetext.Clean(about))
		if f.Fix != "" {
			printed++
			a.say("    fix: %s\n", safetext.Clean(f.Fix))
		}
	}
}

// inRecipes names the recipes with the given indexes.
func inRecipes(pairs []*engine.Pair, recipes []int) string {
	switch n := len(recipes); n {
	case 1:
		file := pairs[recipes[0]].File
		return "in " + file[strings.LastIndexByte(file, ':')+1:]
	case len(pairs):
		return fmt.Sprintf("in all %d recipes", n)
	default:
		return fmt.Sprintf("in %d recipes", n)
	}
}

// lineCount counts in how many recipes of a file a line occurs.
type lineCount struct {
	pairs   []*engine.Pair
	order   []string
	recipes map[string][]int
}

func newLineCount(pairs []*engine.Pair) *lineCount {
	return &lineCount{pairs: pairs, recipes: map[string][]int{}}
}

func (c *lineCount) add(recipe int, line string) {
	if c.recipes[line] == nil {
		c.order = append(c.order, line)
	}
	c.recipes[line] = append(c.recipes[line], recipe)
}

func (c *lineCount) lines() []string {
	out := make([]string, 0, len(c.order))
	for _, line := range c.order {
		out = append(out, fmt.Sprintf("%s (%s)", line, inRecipes(c.pairs, c.recipes[line])))
	}
	return out
}

// failedFirst moves the lines about failed checks to the front.
func failedFirst(lines []string) []string {
	failed := func(line string) int {
		if strings.HasPrefix(line, "✗") {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(lines, func(a, b string) int { return failed(a) - failed(b) })
	return lines
}

// atMost prints at most limit lines.
func (a *app) atMost(all []string, limit int) {
	for i, line := range all {
		if i == limit-1 && len(all) > limit {
			a.say("%d more lines of this kind; check a single recipe to see its own\n", len(all)-i)
			return
		}
		a.say("%s\n", safetext.Clean(line))
	}
}
