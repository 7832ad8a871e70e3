package engine

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/slurm"
	"github.com/agentperf/agentperf-tui/recipes"
)

// builtInClient stands for the commit of a client that is this program.
const builtInClient = "built-in"

// identifyLimit is how long a submit waits for the files that it looks at: a file
// system that hangs keeps nobody from submitting.
const identifyLimit = 20 * time.Second

// identify is what is known at submit of what a run runs with. Paths that only the
// compute nodes have are looked at again in the job. What does not answer in time is
// left out.
func (e *Engine) identify(ctx context.Context, p *Pair, pl *plan.Plan, planJSON []byte) identity.Identity {
	id := identity.Identity{
		Version: 1, Recipe: identity.Sum(p.RecipeText), Workload: identity.Sum(p.WorkloadText), Plan: identity.Sum(planJSON),
	}
	id.Tell(programName, e.Version)
	limited, cancel := context.WithTimeout(ctx, identifyLimit)
	defer cancel()
	if p.Workload != nil {
		for _, d := range []recipes.Var{{Name: "trajectory_path", Value: p.Workload.TrajectoryPath}, {Name: "user_assignments_path", Value: p.Workload.AssignmentsPath}} {
			if d.Value == "" {
				continue
			}
			f := inTime(limited, identity.File{Key: d.Name}, func(none identity.File) identity.File {
				f, err := identity.OfFile(d.Name, p.Visible(d.Value))
				if err != nil { // the client sees it, and looks
					return none
				}
				return f
			})
			f.Path = d.Value
			id.Datasets = append(id.Datasets, f)
		}
	}
	if pl.Target == plan.Local { // no image and no model: mock servers answer
		id.Client = &identity.Code{Commit: builtInClient}
		return id
	}
	id.Tell("slurm", slurm.Version(ctx))
	image := inTime(limited, identity.Image{Name: pl.Image}, func(i identity.Image) identity.Image { return identity.OfImage(i.Name) })
	model := inTime(limited, identity.Model{Path: p.Recipe.ModelPath}, func(m identity.Model) identity.Model { return identity.OfModel(m.Path) })
	model.Expected = expectedRevision(p.Recipe)
	id.Image, id.Model = &image, &model
	return id
}

// inTime is what a look brings, or what was known before where it takes longer than
// ctx: a read of a file system that hangs can't be ended, only left behind.
func inTime[T any](ctx context.Context, known T, look func(T) T) T {
	found := make(chan T, 1)
	go func() { found <- look(known) }()
	select {
	case v := <-found:
		return v
	case <-ctx.Done():
		return known
	}
}

// expectedRevision is the model's revision that the recipe says it was made for.
func expectedRevision(r *recipes.Recipe) string {
	for _, l := range r.Leaves() {
		if l.Canonical == "identity.model.revision" {
			return l.Value
		}
	}
	return ""
}

// identifyInJob looks again at what a compute node has: image and model.
func identifyInJob(dir string, log io.Writer) {
	path := filepath.Join(dir, identity.FileName)
	id, err := identity.Read(dir, "")
	if err == nil && id.Image != nil && id.Model != nil {
		image, model := identity.OfImage(id.Image.Name), identity.OfModel(id.Model.Path)
		model.Expected = id.Model.Expected
		id.Image, id.Model = &image, &model
		err = identity.Write(path, id)
	}
	if err != nil {
		_, _ = fmt.Fprintf(log, "%v\n", err) // the run goes on
	}
}

func (e *Engine) identityDiff(a, b RunRef) (recipes.Comparison, error) {
	of, err := e.Identity(a)
	if err != nil {
		return recipes.Comparison{}, err
	}
	with, err := e.Identity(b)
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
			c.Differences = append(c.Differences, recipes.Difference{Path: f.Path, A: side, B: &recipes.Side{Path: f.Path, Value: theirs[i].Value}})
		}
		theirs = slices.Delete(theirs, i, i+1)
	}
	for _, f := range theirs {
		c.Total++
		c.Differences = append(c.Differences, recipes.Difference{Path: f.Path, B: &recipes.Side{Path: f.Path, Value: f.Value}})
	}
	return c
}
