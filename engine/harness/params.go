package harness

import (
	"context"
	"fmt"
	"io"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// parseParams reads shell assignments, one per line; the last one of a name holds. A
// line that is none is a problem, not an end.
func (r *Run) parseParams(ctx context.Context, f io.Reader, a *Artifact) error {
	err := newLineReader(io.LimitReader(f, maxLine), "").each(ctx, func(l rawLine) bool {
		a.Lines = l.number
		if l.cut {
			a.problem(l.number, "line is too long")
		} else {
			r.assign(a, l.number, clean(l.text))
		}
		return true
	})
	a.Found = count(len(r.Params), "variable")
	return err
}

func (r *Run) assign(a *Artifact, number int, line string) {
	cmds, err := parseShell(line)
	if err != nil {
		a.problem(number, err.Error())
		return
	}
	for _, c := range cmds {
		if len(c.words) > 0 {
			a.problem(number, fmt.Sprintf("a command (%s) where an assignment is expected; values with spaces need quotes",
				safetext.Clip(c.words[0].Text, 40)))
			continue
		}
		for _, as := range c.assigns {
			text := as.value.Text
			if as.name == "" { // += with nothing before it
				a.problem(number, "an assignment without a name")
				continue
			}
			if old, again := r.Params[as.name]; again && old.Text != text {
				a.problem(number, fmt.Sprintf("%s is set again (first on line %d); the last one counts", as.name, old.At.Line))
			}
			r.Params[as.name] = Value{text, evidence(a.Name, number, line, as.name, text, as.value.Offset)}
		}
	}
}
