// Package port is the wizard that turns a harness run directory into a recipe and
// a workload: it finds the directory, shows for every line of what is written
// where it comes from, takes answers to what could not be known, and writes the
// files. It knows the porter's results, not how they come about.
//
// The [Screen] routes what comes in to the pane that has the body, each with a
// state, keys and a view of its own: the chooser of a directory, the porting of it,
// the review of a result with its files, questions, artifacts and origin, the
// writing of the files, a sheet with a long text, the viewer of artifacts.
package port

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
)

// Engine is what this screen needs: a [session.Session], and of the engine a view of files.
type Engine interface {
	Port(ctx context.Context, dir string, opt porter.Options) (*porter.Result, error)
	// FindRuns lists run directories below a folder.
	FindRuns(ctx context.Context, root string, depth int) ([]string, error)
	// List lists the names of the folders in a folder, at most some thousands.
	List(ctx context.Context, dir string) ([]string, error)
	// Recent lists run directories that were ported before, the latest first.
	Recent(ctx context.Context) ([]string, error)
	// Excerpt is the part of a file that evidence points to.
	Excerpt(ctx context.Context, path string, line, column, length int) (session.Excerpt, error)
	Write(ctx context.Context, r *porter.Result, recipe, workload string, force bool) error
	// Targets compares what would be written with what is there.
	Targets(ctx context.Context, r *porter.Result, recipe, workload string) ([]session.Target, error)
	// FileView opens an artifact for looking at it.
	FileView(ctx context.Context, path string) (*engine.LogView, <-chan engine.LogGrowth, error)
}
