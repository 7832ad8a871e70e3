package draft

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"mvdan.cc/sh/v3/shell"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// EditorCommand is a text in the hands of the user's own editor: a copy of it, never the
// file itself, so that nothing is saved that nobody wanted saved. It is run once.
type EditorCommand struct {
	argv       []string
	name, text string
	in         io.Reader
	out, err   io.Writer
	result     string
}

// Editor prepares a hand-off to $VISUAL or $EDITOR, or vi. The variable is split
// into words as a shell does, and no shell runs. The name is that of the copy, so
// that the editor knows the kind of file.
func (d *Drafts) Editor(name, text string) (*EditorCommand, error) {
	line := cmp.Or(d.opt.Getenv("VISUAL"), d.opt.Getenv("EDITOR"), "vi")
	argv, err := shell.Fields(line, d.opt.Getenv)
	if err != nil {
		return nil, problem.Errorf(problem.EnvironmentInvalid,
			"parse the editor command %q: %w; set EDITOR to a command and its arguments", line, err)
	}
	if len(argv) == 0 {
		return nil, problem.Errorf(problem.EditorUnset, "start the editor: no command in %q; set EDITOR", line)
	}
	return &EditorCommand{argv: argv, name: filepath.Base(name), text: text}, nil
}

// SetStdin is where the editor reads keys from.
func (h *EditorCommand) SetStdin(r io.Reader) { h.in = r }

// SetStdout is where the editor draws.
func (h *EditorCommand) SetStdout(w io.Writer) { h.out = w }

// SetStderr is where the editor complains.
func (h *EditorCommand) SetStderr(w io.Writer) { h.err = w }

// Run writes the copy, runs the editor on it to its end, and reads it back.
// Where that fails and the copy has been changed, it is kept, and the error says where.
func (h *EditorCommand) Run() (err error) {
	dir, err := os.MkdirTemp("", "agentperf-edit-*") // 0700
	if err != nil {
		return fmt.Errorf("copy the text for the editor: %w", err)
	}
	path := filepath.Join(dir, h.name)
	defer func() {
		info, serr := os.Stat(path)
		if err == nil || serr != nil || !info.Mode().IsRegular() || h.isUnchanged(path) {
			_ = os.RemoveAll(dir) // in the temporary folder, which the system clears
			return
		}
		err = fmt.Errorf("%w; your edits are kept in %s", err, path)
	}()
	if err := os.WriteFile(path, []byte(h.text), 0o600); err != nil {
		return fmt.Errorf("copy the text for the editor: %w", err)
	}
	cmd := exec.Command(h.argv[0], append(h.argv[1:len(h.argv):len(h.argv)], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = h.in, h.out, h.err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run the editor %s: %w; the text is unchanged", h.argv[0], err)
	}
	data, err := recipes.Read(path)
	if err != nil {
		return fmt.Errorf("read the edited text: %w; the text is unchanged", err)
	}
	h.result = string(data)
	return nil
}

// isIn says whether a file holds the text as it was handed over.
func (h *EditorCommand) isUnchanged(path string) bool {
	data, err := os.ReadFile(path)
	return err == nil && string(data) == h.text
}

// Result is the text as the editor left it, after a Run without an error.
func (h *EditorCommand) Result() string { return h.result }
