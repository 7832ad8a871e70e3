// Package outfile writes to paths that a user has given. It follows symbolic links, writes
// to devices and pipes, and replaces regular files atomically.
package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// TargetError is the error for a path that can't be written to. The user must give another one.
type TargetError struct{ err error }

func (e *TargetError) Error() string { return e.err.Error() }

// Unwrap returns the error with its id.
func (e *TargetError) Unwrap() error { return e.err }

// Target resolves the symbolic links of a path to write to. It reports whether the target
// exists and whether it is, or will be, a regular file. A path that can't be written to is
// a [TargetError].
func Target(path string) (real string, exists, regular bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		if err := checkDir(filepath.Dir(path)); err != nil {
			return "", false, false, &TargetError{err}
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

// checkDir returns an error if a directory does not exist, or if it or one of its parents is a file.
func checkDir(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return problem.Errorf(problem.NotADirectory, "%s is not a directory; give another path", at)
		case err == nil && at == dir:
			return nil
		case err == nil || at == filepath.Dir(at):
			return problem.Errorf(problem.FileNotFound, "directory not found: %s; create it first", dir)
		}
	}
}

// Write writes data to a path. An existing file keeps its permissions; a new one gets perm.
func Write(path string, data []byte, perm fs.FileMode) error {
	real, _, regular, err := Target(path)
	if err != nil {
		return err
	}
	if !regular {
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
	defer f.Cleanup() // has no effect after a successful replace
	return WithPath(path, f.CloseAtomicallyReplace())
}

// Stage writes data to a temporary file in the directory of a regular file, to replace it.
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

// WithPath replaces the path in an error of the file system, which may be that of a temporary
// file, by path. It returns nil for nil.
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
