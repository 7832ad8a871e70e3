// Package smallfile reads small files with a size limit, without blocking on pipes and devices, and
// writes the program's own files atomically. Package engine/outfile writes the files that a user names.
package smallfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// ErrTooLarge is the error for a file that exceeds its size limit.
var ErrTooLarge = problem.New(problem.FileTooLarge, "file too large")

// Open opens a regular file of any size for reading. Other files are an error. Open does not
// block on a pipe without a writer.
func Open(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = problem.Errorf(problem.NotAFile, "read %s: not a regular file", path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// ReadStream reads a regular file or a pipe, such as that of a shell's <(command), to its end. The limit
// is that of [Read]. A read from a pipe ends when ctx ends.
func ReadStream(ctx context.Context, path string, maxMiB int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeNamedPipe != 0:
		stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Now()) }) // pipes support deadlines
		defer stop()
	case !info.Mode().IsRegular():
		return nil, problem.Errorf(problem.NotAFile, "read %s: neither a regular file nor a pipe", path)
	}
	data, err := readAll(f, path, maxMiB)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read %s: %w", path, ctx.Err())
	}
	return data, err
}

// Read reads a regular file of at most maxMiB MiB. For a larger file the error is [ErrTooLarge].
func Read(path string, maxMiB int64) ([]byte, error) {
	f, _, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, path, maxMiB)
}

func readAll(f io.Reader, path string, maxMiB int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, maxMiB<<20+1))
	if err == nil && int64(len(data)) > maxMiB<<20 {
		err = fmt.Errorf("read %s: %w: the limit is %d MiB", path, ErrTooLarge, maxMiB)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// TrimBOM returns data without the byte-order mark that some programs write at the start of a file.
// Read keeps it, because what is hashed, compared or edited are the bytes of the file.
func TrimBOM(data []byte) []byte {
	if len(data) == 0 || data[0] != 0xef { // called for every row
		return data
	}
	return bytes.TrimPrefix(data, []byte("\ufeff"))
}

// SkipBOM is like TrimBOM for a file that is read as a stream.
func SkipBOM(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	if start, _ := in.Peek(len("\ufeff")); len(start) > 0 && len(TrimBOM(start)) == 0 {
		_, _ = in.Discard(len(start)) // can't fail: the bytes are buffered
	}
	return in
}

// maxJSON is the size limit of a JSON file in MiB. The plan of a run on 1000 nodes has a few MiB.
const maxJSON = 64

// ReadJSON decodes a JSON file of at most 64 MiB into v.
func ReadJSON(path string, v any) error {
	data, err := Read(path, maxJSON)
	if err != nil {
		return err
	}
	switch err := json.NewDecoder(bytes.NewReader(TrimBOM(data))).Decode(v); {
	case errors.Is(err, io.EOF):
		return problem.Errorf(problem.JSONInvalid, "read %s: file is empty", path)
	case err != nil:
		return fmt.Errorf("read %s: %w", path, problem.Mark(problem.JSONInvalid, err))
	}
	return nil
}

// JSON encodes a value as indented JSON with a newline at the end.
func JSON(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

// WriteJSON writes a JSON file atomically.
func WriteJSON(path string, v any, mode fs.FileMode) error {
	data, err := JSON(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	if err := renameio.WriteFile(path, data, mode); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
