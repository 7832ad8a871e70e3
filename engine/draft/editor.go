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

// EditorCommand runs the user's own editor on a copy of a text. The editor does not get
// the file itself, so saving in the editor does not change it. Run may be called once.
type EditorCommand struct {
	argv       []string
	name, text string
	in         io.Reader
	out, err   io.Writer
	result     string
}

// Editor returns a command for $VISUAL, $EDITOR or vi. The variable is split into words
// like a shell command, without running a shell. The copy has the base name of name, so
// that the editor recognizes the file type.
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

// SetStdin sets the standard input of the editor.
func (c *EditorCommand) SetStdin(r io.Reader) { c.in = r }

// SetStdout sets the standard output of the editor.
func (c *EditorCommand) SetStdout(w io.Writer) { c.out = w }

// SetStderr sets the standard error of the editor.
func (c *EditorCommand) SetStderr(w io.Writer) { c.err = w }

// Run writes the copy, runs the editor and reads the copy back. If that fails after the
// copy was changed, the copy is kept and the error contains its path.
func (c *EditorCommand) Run() (err error) {
	dir, err := os.MkdirTemp("", "agentperf-edit-*") // 0700
	if err != nil {
		return fmt.Errorf("copy the text for the editor: %w", err)
	}
	path := filepath.Join(dir, c.name)
	defer func() {
		info, serr := os.Stat(path)
		if err == nil || serr != nil || !info.Mode().IsRegular() || c.isUnchanged(path) {
			_ = os.RemoveAll(dir) // leftovers in the temporary directory are harmless
			return
		}
		err = fmt.Errorf("%w; your edits are kept in %s", err, path)
	}()
	if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
		return fmt.Errorf("copy the text for the editor: %w", err)
	}
	cmd := exec.Command(c.argv[0], append(c.argv[1:len(c.argv):len(c.argv)], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.in, c.out, c.err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run the editor %s: %w; the text is unchanged", c.argv[0], err)
	}
	data, err := recipes.Read(path)
	if err != nil {
		return fmt.Errorf("read the edited text: %w; the text is unchanged", err)
	}
	c.result = string(data)
	return nil
}

// isUnchanged reports whether a file still contains the original text.
func (c *EditorCommand) isUnchanged(path string) bool {
	data, err := os.ReadFile(path)
	return err == nil && string(data) == c.text
}

// Result returns the edited text. It is valid after Run has returned no error.
func (c *EditorCommand) Result() string { return c.result }
