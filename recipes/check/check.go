// Package check checks a recipe and its workload before a run. It applies the rules that
// srtctl applies late, some of them after half an hour of model loading, and rules that
// srtctl does not have. It reads no files itself: [Host] gives it access to this machine.
package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
)

// Report is the result of checking the files of a run.
type Report struct {
	Diagnostics recipes.Diagnostics    `json:"diagnostics"`
	Timeouts    []recipes.TimeoutCheck `json:"timeouts"`
	// Todos counts placeholders that a port left in the files. Each of them is an error too.
	Todos int `json:"todos"`
	// Questions counts other open must-fix questions of a port. Each of them is an error too.
	Questions int `json:"questions"`
	// Estimate is nil without a workload or concurrency levels.
	Estimate *Estimate `json:"estimate"`
}

// OK reports whether there are no errors.
func (r Report) OK() bool { return r.Diagnostics.Errors() == 0 }

// OnlyTodos reports whether placeholders and questions of a port are the only errors.
func (r Report) OnlyTodos() bool { return r.Diagnostics.Errors() == r.Todos+r.Questions }

// Files are the loaded files of a run. Any of them may be nil; rules that need it are skipped.
type Files struct {
	Recipe   *recipes.Recipe
	Workload *recipes.Workload
	Cluster  *recipes.Cluster
	// Questions are the open questions of the port of the recipe.
	Questions []Question
	// Backends are the available backends; nil: those of this program.
	Backends backend.List
}

// Run checks the files of a run. It does no I/O except through host: with a zero Host
// it is fast enough to run on every key press.
func Run(f Files, host Host) Report {
	c := checker{Files: f, r: f.Recipe, w: f.Workload, cluster: f.Cluster, host: host, severity: severities(f.Backends)}
	if c.r != nil {
		c.notRunHere()
		c.topology()
		c.engine()
		c.sweep()
		c.environment()
		c.frontend()
		c.infra()
		c.mounts()
		c.benchmark()
		if b, _ := f.Backends.For(c.r); b != nil {
			b.Check(c.r, c.cluster, c.report)
		}
		c.job()
		if c.runsHere {
			c.notApplied()
		}
		c.timeLimits()
		c.hostPaths()
		c.placeholders(c.r.File, c.r.Leaves())
	}
	if c.w != nil {
		c.workload()
		c.placeholders(c.w.File, c.w.Leaves())
	}
	if c.r != nil {
		c.questions()
	}
	c.out.Diagnostics.Sort()
	return c.out
}

type checker struct {
	Files
	r        *recipes.Recipe
	w        *recipes.Workload
	cluster  *recipes.Cluster
	host     Host
	severity map[string]recipes.Severity // by rule
	runsHere bool
	out      Report
}

// report adds a finding about a field of the recipe, given by its canonical path. The
// pointer is valid until the next finding is added.
func (c *checker) report(rule, path, fix, format string, args ...any) *recipes.Diagnostic {
	return c.add(rule, c.r.Diag(c.severity[rule], path, fmt.Sprintf(format, args...), fix))
}

// reportWorkload adds a finding about a key of the workload, as report does.
func (c *checker) reportWorkload(rule, key, fix, format string, args ...any) *recipes.Diagnostic {
	return c.add(rule, c.w.Diag(c.severity[rule], key, fmt.Sprintf(format, args...), fix))
}

func (c *checker) add(rule string, d recipes.Diagnostic) *recipes.Diagnostic {
	d.Rule = rule
	c.out.Diagnostics = append(c.out.Diagnostics, d)
	return &c.out.Diagnostics[len(c.out.Diagnostics)-1]
}

// roles returns the roles that have workers.
func (c *checker) roles() []recipes.Role {
	return slices.DeleteFunc(c.r.Roles(), func(r recipes.Role) bool { return !r.Given || r.Workers == 0 })
}

// placeholders reports values that a port could not fill in.
func (c *checker) placeholders(file string, leaves []recipes.Leaf) {
	for _, l := range leaves {
		if strings.HasPrefix(l.Value, "/TODO/") {
			c.out.Todos++
			c.out.Diagnostics = append(c.out.Diagnostics, recipes.Diagnostic{
				File: file, Line: l.Position.Line, Column: l.Position.Column, Path: l.Position.Path,
				Severity: recipes.Error, Rule: ruleTodo,
				Message: "unresolved placeholder " + l.Value, Fix: "replace it with the real value",
			})
		}
	}
}
