// Package port is the wizard that ports a harness run directory to a recipe and a
// workload. The user chooses the directory, reviews the origin of each line, answers
// questions about values that were not found, and writes the files.
//
// The [Screen] passes messages to the active pane. The panes are: the chooser of a
// directory, the progress of the port, the review of its result (files, questions,
// artifacts, origin), the writing of the files, a sheet with a long text, and the viewer
// of artifacts.
package port

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
)

// Engine is a [session.Session] and a view of files.
type Engine interface {
	Port(ctx context.Context, dir string, opt porter.Options) (*porter.Result, error)
	// FindRuns lists the run directories below a directory.
	FindRuns(ctx context.Context, root string, depth int) ([]string, error)
	// List lists the names of the directories in a directory, at most some thousands.
	List(ctx context.Context, dir string) ([]string, error)
	// Recent lists the run directories of earlier ports, the latest first. Paths below the current
	// directory are relative.
	Recent(ctx context.Context) ([]string, error)
	// Excerpt reads the part of a file that evidence refers to.
	Excerpt(ctx context.Context, path string, line, column, length int) (session.Excerpt, error)
	Write(ctx context.Context, r *porter.Result, recipe, workload string, force bool) error
	// Targets compares the files that would be written with the existing ones.
	Targets(ctx context.Context, r *porter.Result, recipe, workload string) ([]session.Target, error)
	// FileView opens an artifact.
	FileView(ctx context.Context, path string) (*engine.LogView, <-chan engine.LogGrowth, error)
}
