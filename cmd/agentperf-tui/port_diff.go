package main

import (
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
)

// isProvenance tells a port's report from a recipe, by its name.
func isProvenance(path string) bool { return strings.HasSuffix(path, ".provenance.json") }

// diffProvenance compares two reports of ports row by row. Exit code 1 if they
// differ.
func (a *app) diffProvenance(x, y string) error {
	left, err := porter.LoadProvenance(x)
	if err != nil {
		return badInput(err)
	}
	right, err := porter.LoadProvenance(y)
	if err != nil {
		return badInput(err)
	}
	d := porter.DiffProvenance(left, right)
	if a.json {
		err = a.print(d)
	} else {
		err = a.lines(d.Text(x, y))
	}
	if err == nil && d.Identical != d.Total {
		err = exitWith(1)
	}
	return err
}
