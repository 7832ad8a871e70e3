package porter

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// params holds job_params.env: the last assignment of each name.
type params struct {
	artifact string
	vars     map[string]located
	problems []problem
	lines    int
}

// located is a value and where it stands.
type located struct {
	value string
	at    Evidence
}

// problem is something that could not be read as it should.
type problem struct {
	line int
	text string
}

// readEnvFile reads shell assignments, one a line. A line that is none is a
// problem, not an end.
func readEnvFile(ctx context.Context, r io.Reader, artifact string) (params, error) {
	p := params{artifact: artifact, vars: map[string]located{}}
	err := newLineReader(r, "").each(ctx, func(l rawLine) bool {
		p.lines = l.number
		if l.cut {
			p.problems = append(p.problems, problem{l.number, "line is too long"})
			return true
		}
		p.add(l.number, strings.ToValidUTF8(string(l.text), "\ufffd"))
		return true
	})
	return p, err
}

func (p *params) add(number int, line string) {
	cmds, err := parseShell(line)
	if err != nil {
		p.problems = append(p.problems, problem{number, err.Error()})
		return
	}
	for _, c := range cmds {
		if len(c.words) > 0 {
			p.problems = append(p.problems, problem{number, fmt.Sprintf("a command (%s) where an assignment is expected; values with spaces need quotes", clip(c.words[0].text, 40))})
			continue
		}
		for _, a := range c.assigns {
			if a.name == "" { // += with nothing before it
				p.problems = append(p.problems, problem{number, "an assignment without a name"})
				continue
			}
			if old, again := p.vars[a.name]; again && old.value != a.value.text {
				p.problems = append(p.problems, problem{number, fmt.Sprintf("%s is set again (first on line %d); the last one counts", a.name, old.at.Line)})
			}
			p.vars[a.name] = located{a.value.text, evidence(p.artifact, number, line, a.name, a.value.text, a.value.offset)}
		}
	}
}

// evidence makes an Evidence of raw, which is to be found in the line at or
// after the byte offset.
func evidence(artifact string, number int, line, key, raw string, offset int) Evidence {
	ev := Evidence{Artifact: artifact, Line: number, Key: key, Raw: raw}
	if len(ev.Raw) > maxRaw {
		ev.Raw = strings.ToValidUTF8(ev.Raw[:maxRaw], "")
	}
	offset = min(max(offset, 0), len(line))
	if i := strings.Index(line[offset:], ev.Raw); i >= 0 && ev.Raw != "" && i < 4096 {
		ev.Column = offset + i + 1
	}
	return ev
}

const maxRaw = 4096
