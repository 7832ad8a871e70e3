package edit

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// checker checks the texts while they are edited: the timeout rule first, and the rest
// once the rule was evaluated for the latest text, so that fast typing does not start
// a check for each key. At most one request of each kind runs at a time.
type checker struct {
	rule                          timeoutResult
	recipeLayout                  int      // 1 or 2, of the last recipe that could be parsed
	todos, questions              int      // number of errors that are open placeholders, open questions of a port
	err                           error    // why the last check failed
	ruleVersions, checkedVersions versions // of the texts in the latest results
	ruleBusy, checking            bool
}

type (
	ruleMsg struct {
		versions versions
		rule     timeoutResult
	}
	checkedMsg struct {
		versions         versions
		problems         []finding
		recipeLayout     int
		todos, questions int
		entries          []formField
		err              error
	}
)

// startNext returns the command of the next request, or nil if none is needed now. typed is
// the value that is being typed in the form, or nil.
func (c *checker) startNext(p *pair, typed *pendingValue, at versions) tea.Cmd {
	switch {
	case !p.docs[recipe].loaded:
	case !c.ruleBusy && at != c.ruleVersions:
		c.ruleBusy = true
		d := p.draft()
		return func() tea.Msg { return ruleMsg{at, evaluateRule(typed.applyTo(d))} }
	case !c.checking && at == c.ruleVersions && at != c.checkedVersions:
		c.checking = true
		ctx, eng, d := p.docs[recipe].ctx, p.docs[recipe].eng, p.draft()
		return func() tea.Msg { return check(ctx, eng, at, typed.applyTo(d)) }
	}
	return nil
}

func check(ctx context.Context, eng Engine, at versions, d engine.Draft) checkedMsg {
	p, err := eng.CheckText(ctx, d)
	if err != nil {
		return checkedMsg{versions: at, err: err}
	}
	file, _ := recipes.SplitSelector(d.RecipePath)
	m := checkedMsg{
		versions: at, problems: sortFindings(p.Report.Diagnostics, file, d.WorkloadPath),
		todos: p.Report.Todos, questions: p.Report.Questions, entries: formFieldsOf(p.Recipe, p.Workload),
	}
	if p.Recipe != nil {
		m.recipeLayout = p.Recipe.Schema
	}
	return m
}

func (c *checker) handleRule(m ruleMsg) {
	c.ruleBusy, c.ruleVersions, c.rule = false, m.versions, m.rule
}

func (c *checker) handleChecked(m checkedMsg) {
	c.checking, c.checkedVersions, c.err = false, m.versions, m.err
	if m.err != nil {
		return
	}
	if c.todos, c.questions = m.todos, m.questions; m.recipeLayout == 1 || m.recipeLayout == 2 {
		c.recipeLayout = m.recipeLayout
	}
}

// fieldTable returns the table of fields of a text.
func (c *checker) fieldTable(which side) *schema.Table {
	if which == workload {
		return schema.Workload()
	}
	return schema.Recipe(c.recipeLayout)
}

// submitBlocker returns why the texts can't be submitted now; empty if they can. A text that
// is not checked yet can be submitted, as the submit screen checks it again.
func (c *checker) submitBlocker(p *pair, now versions, l *problemList) string {
	switch errors, _ := l.count(); {
	case !p.docs[recipe].loaded:
		return "no recipe loaded"
	case now != c.checkedVersions:
	case errors > c.todos+c.questions:
		return ui.Plural(errors, "error")
	case c.todos > 0:
		return ui.Plural(c.todos, "open placeholder")
	case c.questions > 0:
		return ui.Plural(c.questions, "open must-fix question")
	}
	return ""
}

// timeoutResult is the result of the timeout rule.
type timeoutResult struct {
	checks  []recipes.TimeoutCheck
	unknown string // why the rule could not be evaluated
}

// binding returns the check of the concurrency level that needs the most time.
func (r timeoutResult) binding() (recipes.TimeoutCheck, bool) {
	for _, c := range r.checks {
		if c.Binding {
			return c, true
		}
	}
	return recipes.TimeoutCheck{}, false
}

// evaluateRule applies the timeout rule to a draft.
func evaluateRule(d engine.Draft) timeoutResult {
	file, selector := recipes.SplitSelector(d.RecipePath)
	r, _, found := recipes.Select(file, d.Recipe, selector)
	if r == nil {
		return timeoutResult{unknown: "can't read the recipe: " + firstError(found)}
	}
	if len(r.Benchmark.Levels) == 0 {
		return timeoutResult{unknown: "the recipe sets no concurrency"}
	}
	if d.WorkloadPath == "" {
		return timeoutResult{unknown: "no workload file"}
	}
	w, found := recipes.ParseWorkload(d.WorkloadPath, d.Workload)
	if w == nil {
		return timeoutResult{unknown: "can't read the workload: " + firstError(found)}
	}
	return timeoutResult{checks: recipes.CheckTimeouts(w, r.Benchmark.Levels)}
}

func firstError(ds recipes.Diagnostics) string {
	if ds.Errors() == 0 {
		return "unknown"
	}
	d := ds.BySeverity()[0]
	return fmt.Sprintf("line %d: %s", d.Line, d.Message)
}

// View draws the rule in two lines of w cells: the comparison with its slack, and below
// it the fixes.
func (r timeoutResult) View(th ui.Theme, w int) string {
	title := " " + th.Paint(ui.Muted, "phase timeout  ")
	c, ok := r.binding()
	switch {
	case !ok:
		return title + th.Paint(ui.Warn, "? unknown: ") + ui.Clean(r.unknown)
	case !c.Known:
		return title + th.Paint(ui.Warn, "? unknown: "+strings.Join(c.Unknown, ", ")+" is not a valid number") +
			"\n " + th.Paint(ui.Muted, "needs "+c.Formula)
	}
	op, verdict := "≥", th.Paint(ui.OK, "✓ slack "+seconds(c.Slack))
	if !c.OK {
		op, verdict = "<", th.Paint(ui.Bad, "✗ short by "+seconds(-c.Slack))
	}
	sum := fmt.Sprintf("%s %s %s = %s", number(c.Timeout), op, c.Formula, number(c.Need))
	levels := fmt.Sprintf("concurrency %d", c.Level)
	if n := len(r.checks); n > 1 {
		levels = fmt.Sprintf("concurrency %d, tightest of %d", c.Level, n)
	}
	line := title + sum + "   " + verdict
	right := th.Paint(ui.Muted, levels) + " "
	switch {
	case ui.Width(line)+ui.Width(right) < w:
		line = ui.LeftRight(line, right, w)
	case ui.Width(line) > w:
		line = " " + verdict + "  " + sum
	}
	return line + "\n" + fixesOrSlack(th, c, w)
}

// fixesOrSlack draws the fixes or, if the rule is satisfied, the time for the measurement.
func fixesOrSlack(th ui.Theme, c recipes.TimeoutCheck, w int) string {
	if c.OK {
		text := number(c.Measurement) + " s left for the measurement"
		if len(c.Assumed) > 0 {
			text += " · not in the file, default assumed: " + strings.Join(c.Assumed, ", ")
		}
		return " " + th.Paint(ui.Muted, text)
	}
	hint := th.Paint(ui.Accent, "ctrl+f") + th.Paint(ui.Muted, " apply ")
	line := " " + th.Paint(ui.Muted, "fix ")
	for i, k := range c.Fixes {
		part, rest := shortFix(k), ""
		if i > 0 {
			part = th.Rule.Render(" · ") + part
		}
		if n := len(c.Fixes) - i - 1; n > 0 {
			rest = fmt.Sprintf(" +%d", n)
		}
		if i > 0 && ui.Width(line+part+rest)+ui.Width(hint)+2 > w {
			line += th.Paint(ui.Muted, fmt.Sprintf(" +%d", len(c.Fixes)-i))
			break
		}
		line += part
	}
	return ui.LeftRight(line, hint, w)
}

// shortFix formats a fix so that five of them fit in a line.
func shortFix(k recipes.Fix) string {
	names := map[string]string{
		"phase_timeout_seconds": "timeout", "user_spawn_rate": "rate", "settling_time_seconds": "settle",
		"min_measurement_seconds": "measure", "concurrency": "users",
	}
	return cmp.Or(names[k.Key], k.Key) + " " + k.Op + " " + k.Value
}

func number(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", f), "0"), ".")
}

func seconds(f float64) string { return number(f) + " s" }
