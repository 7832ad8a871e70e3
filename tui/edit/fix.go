package edit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// phaseTimeoutRule is the id of the rule that is always in view.
const phaseTimeoutRule = "phase-timeout"

// fixMenu lists suggested changes: for the line of the cursor, then those that satisfy
// the timeout rule, then all others. It returns nil if there are none.
func fixMenu(here, all []finding, r timeoutResult) *question {
	q := &question{Menu: ui.Menu{
		Title: "Suggested changes", Footer: "enter or a number applies · ctrl+z undoes · esc closes",
	}}
	c, _ := r.binding()
	seen := map[recipes.Edit]bool{}
	add := func(ps []finding) {
		for _, p := range ps {
			if !p.fixable() || seen[*p.Edit] || p.Rule == phaseTimeoutRule && len(c.Fixes) > 0 {
				continue
			}
			seen[*p.Edit] = true
			note := fmt.Sprintf("%s:%d %s", p.side, p.Line, p.Message)
			q.add(p.fixMsg(), ui.Item{Text: editText(*p.Edit), Note: note, Role: p.role()})
		}
	}
	add(here)
	for _, k := range c.Fixes {
		q.add(ruleFixMsg(k, c.Level), ui.Item{Text: k.String(), Note: "satisfies the timeout rule"})
	}
	add(all)
	if len(q.Items) == 0 {
		return nil
	}
	return q
}

// editText formats an edit.
func editText(e recipes.Edit) string {
	switch e.Op {
	case recipes.OpUnset:
		return "remove " + e.Path
	case recipes.OpRename:
		return "rename " + e.Path + " to " + e.Value
	}
	return e.Path + ": " + e.Value
}

// fixable reports whether a finding has an edit of one of the texts.
func (p finding) fixable() bool { return p.Edit != nil && p.side != otherFile }

// fixMsg returns the message that applies the edit of a finding.
func (p finding) fixMsg() editMsg {
	return editMsg{p.side, func(text []byte) ([]byte, error) {
		out, err := edit.Apply(text, []recipes.Edit{*p.Edit})
		if err != nil {
			return nil, fmt.Errorf("fix %s: %w", p.Path, err)
		}
		return out, nil
	}}
}

// ruleFixMsg returns the message that makes a concurrency level satisfy the timeout rule.
func ruleFixMsg(k recipes.Fix, level int) editMsg {
	m := editMsg{side: workload, change: func(text []byte) ([]byte, error) {
		value := k.Value
		if !strings.Contains(value, ".") {
			value += ".0" // as in the client's own files
		}
		return edit.Set(text, k.Key, value)
	}}
	if k.Key == "concurrency" {
		m = editMsg{side: recipe, change: func(text []byte) ([]byte, error) { return setConcurrency(text, level, k.Value) }}
	}
	do := m.change
	m.change = func(text []byte) ([]byte, error) {
		out, err := do(text)
		if err != nil {
			return nil, fmt.Errorf("apply %s: %w", k, err)
		}
		return out, nil
	}
	return m
}

// setConcurrency replaces one concurrency level of a recipe.
func setConcurrency(text []byte, level int, value string) ([]byte, error) {
	r, found := recipes.ParseRecipe("recipe", text)
	if r == nil {
		return nil, problem.Errorf(problem.YAMLInvalid, "read the recipe: %s", firstError(found))
	}
	if r.Has("benchmark.concurrency") {
		return edit.Set(text, r.Position("benchmark.concurrency").Path, value)
	}
	levels := make([]string, 0, len(r.Benchmark.Levels))
	for _, l := range r.Benchmark.Levels {
		n := strconv.Itoa(l)
		if l == level {
			n = value
		}
		levels = append(levels, n)
	}
	return edit.Set(text, r.Position("benchmark.concurrencies").Path, "["+strings.Join(levels, ", ")+"]")
}
