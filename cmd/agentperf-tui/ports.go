package main

import "github.com/agentperf/agentperf-tui/porter"

// ports are the reports of ports, which the porter writes beside recipes.
type ports struct{}

// Report is where the report of a recipe lies.
func (ports) Report(recipe string) string { return porter.ProvenancePath(recipe) }

// Open lists the must-fix questions that nobody has answered.
func (ports) Open(recipe, workload string) ([]string, error) {
	todos, err := porter.OpenMustFix(recipe, workload)
	open := make([]string, 0, len(todos))
	for _, t := range todos {
		open = append(open, t.Message)
	}
	return open, err
}
