package compare

import (
	"slices"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/recipes"
)

func (c *Comparer) identityDiff(a, b runs.Ref) (recipes.Comparison, error) {
	of, err := c.runs.Identity(a)
	if err != nil {
		return recipes.Comparison{}, err
	}
	with, err := c.runs.Identity(b)
	return identities(of, with), err
}

// identities compares what two runs ran with, field by field.
func identities(a, b identity.Identity) recipes.Comparison {
	c := recipes.Comparison{Differences: []recipes.Difference{}}
	theirs := b.Fields()
	for _, f := range a.Fields() {
		c.Total++
		side := &recipes.Side{Path: f.Path, Value: f.Value}
		i := slices.IndexFunc(theirs, func(o identity.Field) bool { return o.Path == f.Path })
		switch {
		case i < 0:
			c.Differences = append(c.Differences, recipes.Difference{Path: f.Path, A: side})
			continue
		case theirs[i].Value == f.Value:
			c.Identical++
		default:
			c.Differences = append(c.Differences,
				recipes.Difference{Path: f.Path, A: side, B: &recipes.Side{Path: f.Path, Value: theirs[i].Value}})
		}
		theirs = slices.Delete(theirs, i, i+1)
	}
	for _, f := range theirs {
		c.Total++
		c.Differences = append(c.Differences,
			recipes.Difference{Path: f.Path, B: &recipes.Side{Path: f.Path, Value: f.Value}})
	}
	return c
}
