// Package outfile writes files that a user named. What stands under the name
// stays what it is: a link leads on, a device or pipe gets the bytes, and only a
// plain file is replaced, at once and whole.
package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// TargetError reports that nothing can be written to a path and another one must be given.
type TargetError struct{ err error }

func (e *TargetError) Error() string { return e.err.Error() }

// Unwrap returns the error with its id.
func (e *TargetError) Unwrap() error { return e.err }

// Target is where a write to a path ends up, links followed. There: something is
// there already; plain: it is a file that may be replaced, or will be one.
func Target(path string) (real string, there, plain bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		dir := filepath.Dir(path)
		if d, err := os.Stat(dir); err != nil || !d.IsDir() {
			return "", false, false, &TargetError{
				problem.Errorf(problem.FileNotFound, "directory not found: %s; create it first", dir),
			}
		}
		if _, err := os.Lstat(path); err == nil {
			return "", true, false, &TargetError{
				problem.Errorf(problem.FileNotFound, "%s is a dangling symbolic link; remove it, or give another name", path),
			}
		}
		return path, false, true, nil
	case err != nil:
		return "", false, false, err
	case info.IsDir():
		return "", true, false, &TargetError{problem.Errorf(problem.NotAFile, "%s is a directory; give a file name", path)}
	case !info.Mode().IsRegular():
		return path, true, false, nil
	}
	real, err = filepath.EvalSymlinks(path)
	return real, true, true, err
}

// Write writes data to a path. A plain file keeps its permissions; a new one gets those given.
func Write(path string, data []byte, perm fs.FileMode) error {
	real, _, plain, err := Target(path)
	if err != nil {
		return err
	}
	if !plain {
		f, err := os.OpenFile(real, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	}
	f, err := Stage(real, data, perm)
	if err != nil {
		return WithPath(path, err)
	}
	defer f.Cleanup() // no effect once the file is in its place
	return WithPath(path, f.CloseAtomicallyReplace())
}

// Stage writes data beside a plain file, to take its place.
func Stage(path string, data []byte, perm fs.FileMode) (*renameio.PendingFile, error) {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(perm),
		renameio.WithExistingPermissions())
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(data); err != nil {
		return nil, errors.Join(err, f.Cleanup())
	}
	return f, nil
}

// WithPath is an error about a path that a user knows, and not about the temporary file beside it.
func WithPath(path string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
