package edit

import (
	"errors"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

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
