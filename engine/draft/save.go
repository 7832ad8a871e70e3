package draft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentperf/agentperf-tui/engine/outfile"
	"github.com/agentperf/agentperf-tui/recipes"
)

// ErrChanged says that a file is no longer what it was when it was read.
var ErrChanged = errors.New("changed on disk by someone else since it was read")

// Save writes an edited file atomically, if it still is on disk as it was read;
// before nil means that it must not be there yet.
func (*Drafts) Save(ctx context.Context, path string, data, before []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one: the file behind it is what is edited
	}
	now, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && before == nil:
	case err != nil:
		return fmt.Errorf("save: %w", err)
	case before == nil || !bytes.Equal(now, before):
		return fmt.Errorf("save %s: %w; reload it, or save under another name", path, ErrChanged)
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if mode&0o200 == 0 {
		return fmt.Errorf("save %s: it is read-only; make it writable, or save a copy", path)
	}
	if err := outfile.Write(path, data, mode); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return nil
}

// ReadFile reads a file that is to be edited, at most 4 MiB.
func (*Drafts) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return recipes.Read(path)
}
