package main

import "github.com/agentperf/agentperf-tui/porter"

// portReports are the reports of ports, which the porter writes beside recipes.
type portReports struct{}

// Report is where the report of a recipe lies.
func (portReports) Report(recipe string) string { return porter.ProvenancePath(recipe) }

// Open lists the must-fix questions that nobody has answered.
func (portReports) Open(recipe, workload string) ([]string, error) {
	todos, err := porter.OpenMustFix(recipe, workload)
	open := make([]string, 0, len(todos))
	for _, t := range todos {
		open = append(open, t.Message)
	}
	return open, err
}
