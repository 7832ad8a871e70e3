package submit

import (
	"context"
	"time"

	"github.com/agentperf/agentperf-tui/engine/draft"
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
func (s *Submitter) identify(ctx context.Context, p *draft.Pair, pl *plan.Plan, planJSON []byte) identity.Identity {
	id := identity.Identity{
		Version: 1, Recipe: identity.Sum(p.RecipeText), Workload: identity.Sum(p.WorkloadText), Plan: identity.Sum(planJSON),
	}
	id.Tell(programName, s.opt.Version)
	limited, cancel := context.WithTimeout(ctx, identifyLimit)
	defer cancel()
	if p.Workload != nil {
		for _, d := range []recipes.Var{
			{Name: "trajectory_path", Value: p.Workload.TrajectoryPath},
			{Name: "user_assignments_path", Value: p.Workload.AssignmentsPath},
		} {
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
	image := inTime(limited, identity.Image{Name: pl.Image},
		func(i identity.Image) identity.Image { return identity.OfImage(i.Name) })
	model := inTime(limited, identity.Model{Path: p.Recipe.ModelPath},
		func(m identity.Model) identity.Model { return identity.OfModel(m.Path) })
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
