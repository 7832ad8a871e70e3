// Package edit is the editor screen of a recipe and its workload. It shows the two texts,
// the list of problems, and the phase timeout rule, which is always visible. The engine
// checks the texts.
//
// The screen consists of panes: the pair of documents, the checker, the list of
// problems, the form, the search, the completion, the comparison and the question. A
// pane may return a message for a key, which the screen handles.
package edit

import (
	"context"

	"github.com/agentperf/agentperf-tui/engine"
)

// Engine is the part of the engine that this screen uses.
type Engine interface {
	// ReadFile reads a file to edit.
	ReadFile(ctx context.Context, path string) ([]byte, error)
	// WorkloadOf returns the path on this machine of the workload file that a recipe
	// names, resolved through its mounts; empty if there is none. The path of the recipe
	// may have a selector after a colon.
	WorkloadOf(ctx context.Context, recipePath string, recipe []byte) string
	// CheckText checks both texts.
	CheckText(ctx context.Context, d engine.Draft) (*engine.Pair, error)
	// KeepUnsaved writes a backup of unsaved changes, Unsaved reads it, and DiscardUnsaved
	// removes it.
	KeepUnsaved(ctx context.Context, path, text, base string) error
	Unsaved(ctx context.Context, path string) (engine.Unsaved, bool, error)
	DiscardUnsaved(ctx context.Context, path string) error
	// Editor prepares the user's own editor with a copy of a text.
	Editor(name, text string) (*engine.EditorCommand, error)
	// Ported returns the texts that the port of this recipe wrote.
	Ported(ctx context.Context, recipePath string) (recipe, workload string, err error)
	// Save writes a file if its content on disk is still before; otherwise the error is
	// [engine.ErrChanged]. With before nil the file must not exist.
	Save(ctx context.Context, path string, data, before []byte) error
}
