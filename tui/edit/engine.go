// Package edit is the editor of a recipe and its workload: two texts, the list of
// what is wrong with them, and always in view the rule that a phase must have time
// for its load. It holds texts and draws; what is wrong is for the engine to say.
//
// The screen is composed of panes: the pair of documents, the checker, the list of
// problems, the form, the search, the completion, the comparison, the question. A
// pane answers a key with a message that says what it asks for; the screen routes,
// lays out, and follows after each message what it has changed.
package edit

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine"
)

// Engine is what this screen needs.
type Engine interface {
	// ReadFile reads a file that is to be edited.
	ReadFile(ctx context.Context, path string) ([]byte, error)
	// WorkloadOf is where this machine sees the workload file that a recipe names,
	// its mounts considered; empty if it names none or the file is not in sight.
	// The path may name one recipe of several behind a colon.
	WorkloadOf(ctx context.Context, recipePath string, recipe []byte) string
	// CheckText checks both texts as they stand.
	CheckText(ctx context.Context, d engine.Draft) (*engine.Pair, error)
	// KeepUnsaved writes down what would be lost with the program, Unsaved finds it
	// again, DiscardUnsaved removes it.
	KeepUnsaved(ctx context.Context, path, text, base string) error
	Unsaved(ctx context.Context, path string) (engine.Unsaved, bool, error)
	DiscardUnsaved(ctx context.Context, path string) error
	// Editor prepares the user's own editor on a copy of a text.
	Editor(name, text string) (*engine.EditorCommand, error)
	// Ported is the recipe and workload as the port of this recipe wrote them.
	Ported(ctx context.Context, recipePath string) (recipe, workload string, err error)
	// Save writes a file if it still is on disk as it was read; otherwise the
	// error is [engine.ErrChanged]. Before nil: it must not be there yet.
	Save(ctx context.Context, path string, data, before []byte) error
}
