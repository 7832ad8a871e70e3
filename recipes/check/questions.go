package check

import (
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Question is an open question of a port.
type Question struct {
	ID         string // for an answer; empty if it can't be answered
	MustFix    bool   // the recipe can't be used until it is answered; else a value to be confirmed
	InWorkload bool   // Path is a key of the workload
	Path       string // canonical path; empty if the question is not about a field
	Message    string
}

// Rules of findings about a port.
const (
	ruleQuestion = "port-question"
	ruleTodo     = "todo"
)

// FirstQuestion returns the text of the first open must-fix question; empty if there is none.
func (r Report) FirstQuestion() string {
	i := slices.IndexFunc(r.Diagnostics, func(d recipes.Diagnostic) bool {
		return d.Rule == ruleQuestion && d.Severity == recipes.Error
	})
	if i < 0 {
		return ""
	}
	return strings.TrimPrefix(r.Diagnostics[i].Message, openPrefix)
}

// openPrefix begins the messages of must-fix questions.
const openPrefix = "open since the port: "

// questions reports the open questions of a port. A question about a placeholder is added to the
// finding about it.
func (c *checker) questions() {
	if len(c.Questions) == 0 {
		return
	}
	places := map[string]recipes.Position{} // by canonical path, also inside engine configs
	for _, l := range c.r.Leaves() {
		places[l.Canonical] = l.Position
	}
	for _, q := range c.Questions {
		d := c.question(q, places)
		i := slices.IndexFunc(c.out.Diagnostics, func(o recipes.Diagnostic) bool {
			return o.Rule == ruleTodo && o.File == d.File && o.Path == d.Path
		})
		switch {
		case i >= 0 && q.MustFix:
			o := &c.out.Diagnostics[i]
			o.Message, o.Fix = o.Message+": "+q.Message, d.Fix
			continue
		case q.MustFix:
			c.out.Questions++
		}
		c.add(ruleQuestion, d)
	}
}

func (c *checker) question(q Question, places map[string]recipes.Position) recipes.Diagnostic {
	severity, message := recipes.Warning, "to be confirmed since the port: "+q.Message
	if q.MustFix {
		severity, message = c.severity[ruleQuestion], openPrefix+q.Message
	}
	fix := ""
	if q.ID != "" {
		fix = "answer " + q.ID + " in the workbench or with port --answers"
	}
	if q.Path != "" && fix != "" {
		fix = "change the value, or " + fix
	}
	if q.InWorkload && c.w != nil {
		return c.w.Diag(severity, q.Path, message, fix)
	}
	d := c.r.Diag(severity, q.Path, message, fix)
	if p, ok := places[q.Path]; ok {
		d.Line, d.Column, d.Path = p.Line, p.Column, p.Path
	}
	return d
}
