// Package port is the wizard that turns a harness run directory into a recipe and
// a workload: it finds the directory, shows for every line of what is written
// where it comes from, takes answers to what could not be known, and writes the
// files. It knows the porter's results, not how they come about.
//
// The [Screen] routes what comes in to its panes, each with a state, keys and a view
// of its own: the chooser of a directory, the porting of it, the review of a result
// with its files, questions, artifacts and origin, the writing of the files. A sheet
// with a long text or the viewer of artifacts may lie over them.
package port

// Engine is what this screen needs: a port session, and of the engine a view of files.
type Engine interface {
	finder
	excerptEngine
	writeEngine
	viewEngine
}
