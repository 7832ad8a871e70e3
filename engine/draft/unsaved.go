package draft

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/agentperf/agentperf-tui/engine/outfile"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Unsaved holds the unsaved changes to a file. They are kept on disk, so that they
// survive the end of the program.
type Unsaved struct {
	Path          string    `json:"path"` // absolute
	Text          string    `json:"-"`
	Base          string    `json:"-"` // content of the file when the changes were made
	At            time.Time `json:"at"`
	Host          string    `json:"host"`
	PID           int       `json:"pid"` // of the process that wrote this, on that host
	WriterRunning bool      `json:"-"`   // a process with this PID is running on this host
}

// unsavedFile is the JSON form of Unsaved. It stores bytes, because a JSON string can't
// hold text that is not valid UTF-8.
type unsavedFile struct {
	Unsaved
	Text []byte `json:"text"`
	Base []byte `json:"base"`
}

// unsavedPath returns the file that keeps the unsaved changes to path. It is in the state
// directory, and its name is a hash of the absolute path.
func (d *Drafts) unsavedPath(path string) (file, abs string, err error) {
	if abs, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	sum := sha256.Sum256([]byte(abs))
	return filepath.Join(d.opt.State, "unsaved", hex.EncodeToString(sum[:12])+".json"), abs, nil
}

// KeepUnsaved writes unsaved changes to disk, readable by the user only. [Drafts.DiscardUnsaved]
// deletes them.
func (d *Drafts) KeepUnsaved(ctx context.Context, path, text, base string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	file, abs, err := d.unsavedPath(path)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		u := Unsaved{Path: abs, At: d.opt.Now(), Host: d.opt.Host, PID: os.Getpid()}
		err = smallfile.WriteJSON(file, unsavedFile{u, []byte(text), []byte(base)}, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep unsaved changes: %w", err)
	}
	return nil
}

// Unsaved reads the unsaved changes to a file. It returns false if there are none, or if
// their text is the content of the file.
func (d *Drafts) Unsaved(ctx context.Context, path string) (u Unsaved, ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return u, false, err
	}
	file, abs, err := d.unsavedPath(path)
	if err != nil {
		return u, false, fmt.Errorf("look for unsaved changes: %w", err)
	}
	var kept unsavedFile
	err = smallfile.ReadJSON(file, &kept)
	if errors.Is(err, fs.ErrNotExist) {
		return u, false, nil
	}
	if err != nil {
		return u, false, fmt.Errorf("read the unsaved changes to %s from %s: %w; delete that file if you don't need them",
			path, file, err)
	}
	u = kept.Unsaved
	u.Text, u.Base = string(kept.Text), string(kept.Base)
	current, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return u, false, fmt.Errorf("look for unsaved changes: %w", err)
	}
	u.WriterRunning = u.Host == d.opt.Host && u.PID > 0 && u.PID != os.Getpid() && syscall.Kill(u.PID, 0) == nil
	return u, u.Path == abs && u.Text != string(current), nil
}

// DiscardUnsaved deletes the unsaved changes to a file.
func (d *Drafts) DiscardUnsaved(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	file, _, err := d.unsavedPath(path)
	if err == nil {
		err = os.Remove(file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("discard unsaved changes: %w", err)
	}
	return nil
}

// ErrChanged reports that a file has changed on disk since it was read.
var ErrChanged = problem.New(problem.FileChanged, "the file has changed on disk since it was read")

// Save writes an edited file atomically. It returns [ErrChanged] if the file on disk
// differs from before; a nil before means that the file must not exist.
func (*Drafts) Save(ctx context.Context, path string, data, before []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // keep a symbolic link and edit its target
	}
	current, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && before == nil:
	case err != nil:
		return fmt.Errorf("save: %w", err)
	case before == nil || !bytes.Equal(current, before):
		return fmt.Errorf("save %s: %w; reload it, or save under another name", path, ErrChanged)
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if mode&0o200 == 0 {
		return problem.Errorf(problem.FileReadOnly, "save %s: the file is read-only; make it writable, or save a copy", path)
	}
	if err := outfile.Write(path, data, mode); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return nil
}

// ReadFile reads a file for editing, at most 4 MiB.
func (*Drafts) ReadFile(ctx context.Context, path string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return recipes.Read(path)
}
