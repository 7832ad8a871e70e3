package edit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// apply makes the fix that was chosen, as one step that can be undone.
func (s *Screen) apply() tea.Cmd {
	c, ok := s.bar.binding()
	s.focus = onText
	if !ok || s.fix >= len(c.Fixes) {
		return nil
	}
	k := c.Fixes[s.fix]
	which := workload
	if k.Key == "concurrency" {
		which = recipe
	}
	f := &s.sides[which]
	next, err := knob([]byte(f.text.Text()), which, c.Level, k)
	if err != nil {
		return ui.Fail(fmt.Errorf("apply %s: %w", k, err))
	}
	s.active = which
	return s.swap(which, string(next))
}

// knob is a text with a fix of the timeout rule made in it.
func knob(text []byte, which, level int, k recipes.Knob) ([]byte, error) {
	if which == workload {
		value := k.Value
		if !strings.Contains(value, ".") {
			value += ".0" // the client's own files write seconds so
		}
		return edit.Set(text, k.Key, value)
	}
	r, _ := recipes.ParseRecipe("recipe", text)
	if r == nil {
		return nil, errors.New("the recipe can't be read")
	}
	if at := r.Place("benchmark.concurrency"); r.Has("benchmark.concurrency") {
		return edit.Set(text, at.Path, k.Value)
	}
	levels := make([]string, 0, len(r.Benchmark.Levels))
	for _, l := range r.Benchmark.Levels {
		n := strconv.Itoa(l)
		if l == level {
			n = k.Value
		}
		levels = append(levels, n)
	}
	return edit.Set(text, r.Place("benchmark.concurrencies").Path, "["+strings.Join(levels, ", ")+"]")
}

// swap replaces what differs of a text, so that the cursor lands on the change.
func (s *Screen) swap(which int, next string) tea.Cmd {
	f := &s.sides[which]
	from, to, text := difference(f.text.Text(), next)
	f.text.Replace(from, to, text)
	f.text.Centre()
	return s.changed()
}

// difference is the one part in which two texts differ: where it is in the first,
// and what stands there in the second.
func difference(a, b string) (from, to ui.Pos, text string) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return place(a, head), place(a, len(a)-tail), b[head : len(b)-tail]
}

// place is a byte of a text as line and column.
func place(s string, at int) ui.Pos {
	return ui.Pos{Line: strings.Count(s[:at], "\n"), Col: at - strings.LastIndexByte(s[:at], '\n') - 1}
}

// fixable says whether a program can fix the problem under the list's cursor.
func (s *Screen) fixable() bool {
	return s.cursor < len(s.problems) && s.problems[s.cursor].Edit != nil && s.problems[s.cursor].side >= 0
}

// fixProblem makes the edit that the problem under the list's cursor comes with.
func (s *Screen) fixProblem() tea.Cmd {
	if !s.fixable() {
		return ui.Do(ui.Toast{Text: "this one needs a person: enter goes there", Role: ui.Muted})
	}
	p := s.problems[s.cursor]
	next, err := edit.Apply([]byte(s.sides[p.side].text.Text()), []recipes.Edit{*p.Edit})
	if err != nil {
		return ui.Fail(fmt.Errorf("fix %s: %w", p.Path, err))
	}
	s.active = p.side
	return s.swap(p.side, string(next))
}
