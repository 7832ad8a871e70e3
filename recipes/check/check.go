// Package check says whether a recipe and its workload hold: the rules that
// upstream applies late, some of them after half an hour of model loading, and
// the ones that it does not apply at all. It rests on what recipes has loaded;
// of this machine it knows only what the functions that it is given tell.
package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
)

// Report is everything that is to be said about one run's files.
type Report struct {
	Diagnostics recipes.Diagnostics    `json:"diagnostics"`
	Timeouts    []recipes.TimeoutCheck `json:"timeouts"`
	// Todos are placeholders that a port left open; they are among the errors too.
	Todos int `json:"todos"`
	// Estimate is how long the run may take; nil without a workload or levels.
	Estimate *Estimate `json:"estimate"`
}

// OK says whether nothing stands against a run.
func (r Report) OK() bool { return r.Diagnostics.Errors() == 0 }

// OnlyTodos says whether open placeholders are all that stands against a run.
func (r Report) OnlyTodos() bool { return r.Diagnostics.Errors() == r.Todos }

// Files are the loaded files of a run. Each may be nil: the rules that need it are left out then.
type Files struct {
	Recipe   *recipes.Recipe
	Workload *recipes.Workload
	Cluster  *recipes.Cluster
	// Backends are those that recipes may ask for; nil: those of this program.
	Backends backend.List
}

// Run checks a run's files. It opens nothing by itself: with an empty host it is
// as fast as somebody types.
func Run(f Files, host Host) Report {
	c := checker{Files: f, r: f.Recipe, w: f.Workload, cluster: f.Cluster, host: host, severity: severities(f.Backends)}
	if c.r != nil {
		c.topology()
		c.engine()
		c.environment()
		c.frontend()
		c.infra()
		c.mounts()
		c.benchmark()
		if b, _ := f.Backends.For(c.r); b != nil {
			b.Check(c.r, c.cluster, c.report)
		}
		c.job()
		c.time()
		c.onHost()
		c.placeholders(c.r.File, c.r.Leaves())
	}
	if c.w != nil {
		c.workload()
		c.placeholders(c.w.File, c.w.Leaves())
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
	out      Report
}

// report adds a finding about a field of the recipe, by its canonical path. The
// pointer is good until the next finding.
func (c *checker) report(rule, path, fix, format string, args ...any) *recipes.Diagnostic {
	return c.add(rule, c.r.Diag(c.severity[rule], path, fmt.Sprintf(format, args...), fix))
}

// reportWorkload is the same about a key of the workload.
func (c *checker) reportWorkload(rule, key, fix, format string, args ...any) *recipes.Diagnostic {
	return c.add(rule, c.w.Diag(c.severity[rule], key, fmt.Sprintf(format, args...), fix))
}

func (c *checker) add(rule string, d recipes.Diagnostic) *recipes.Diagnostic {
	d.Rule = rule
	c.out.Diagnostics = append(c.out.Diagnostics, d)
	return &c.out.Diagnostics[len(c.out.Diagnostics)-1]
}

// roles are those that have workers.
func (c *checker) roles() []recipes.Role {
	return slices.DeleteFunc(c.r.Roles(), func(r recipes.Role) bool { return !r.Given || r.Workers == 0 })
}

// placeholders finds what a port could not fill in.
func (c *checker) placeholders(file string, leaves []recipes.Leaf) {
	for _, l := range leaves {
		if strings.HasPrefix(l.Value, "/TODO/") {
			c.out.Todos++
			c.out.Diagnostics = append(c.out.Diagnostics, recipes.Diagnostic{
				File: file, Line: l.Position.Line, Column: l.Position.Column, Path: l.Position.Path,
				Severity: recipes.Error, Rule: "todo",
				Message: "open placeholder " + l.Value, Fix: "give the real value",
			})
		}
	}
}
