package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

const (
	readBytes = 256 << 10
	// tailBytes before the offset are read again each time and compared. A file that was
	// truncated and has grown past the offset between two reads is detected only by its
	// content. This also detects truncation where a network file system caches the size.
	tailBytes = 256
)

// reader splits the file into chunks. It keeps the file open, so that a removed or
// replaced file is still read to its end.
type reader struct {
	path          string
	maxLine       int
	notifyPartial bool // also report growth of the incomplete line
	emit          func(context.Context, Chunk) bool

	file      *os.File
	opened    bool   // a file was opened before; the next one is a replacement
	offset    int64  // bytes read
	delivered int64  // bytes delivered, up to the last newline
	tail      []byte // the bytes before offset, at most tailBytes
	buf       []byte // tail, followed by the bytes just read
	partial   []byte // the incomplete line
	skipping  bool   // the incomplete line is longer than maxLine and is skipped
	next      Chunk  // the chunk that will be sent next
	chunkSize int    // bytes of lines in next
	reported  int64  // bytes read when the last chunk was sent
}

// readNew delivers everything up to the end of the file. It reports whether there was
// anything new.
func (r *reader) readNew(ctx context.Context) (grew bool, err error) {
	if r.file == nil {
		if err := r.open(); err != nil {
			return false, err
		}
	}
	for {
		// Check the path before reading. If the file is replaced after the check, its last
		// lines are still read.
		replaced, pathErr := r.replaced()
		g, err := r.drain(ctx)
		grew = grew || g
		if err != nil || ctx.Err() != nil {
			return grew, err
		}
		if pathErr != nil || !replaced {
			return grew, pathErr
		}
		r.close()
		r.restart()
		if err := r.open(); err != nil {
			return grew, err
		}
		grew = true
	}
}

// open opens the file. It returns an error for anything but a regular file, because opening a
// pipe would block.
func (r *reader) open() error {
	info, err := os.Stat(r.path)
	if err != nil {
		return fmt.Errorf("follow %s: %w", r.path, err)
	}
	if !info.Mode().IsRegular() {
		return problem.Errorf(problem.NotAFile, "follow %s: is a %s, not a regular file", r.path, fileKind(info.Mode()))
	}
	file, err := os.Open(r.path)
	if err != nil {
		return fmt.Errorf("follow %s: %w", r.path, err)
	}
	r.file = file
	if r.opened || r.offset == 0 {
		r.opened = true
		return nil
	}
	r.opened = true
	from := max(0, r.offset-tailBytes)
	r.tail = make([]byte, r.offset-from)
	n, err := file.ReadAt(r.tail, from)
	if n == len(r.tail) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		r.restart() // shorter than the caller's offset: truncated meanwhile
		return nil
	}
	r.close()
	r.opened = false
	return fmt.Errorf("follow %s: %w", r.path, err)
}

func fileKind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	default:
		return "special file"
	}
}

// replaced reports whether the path now refers to a file other than the open one. A
// missing path is not a replacement.
func (r *reader) replaced() (bool, error) {
	pathInfo, err := os.Stat(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("follow %s: %w", r.path, err)
	}
	openInfo, err := r.file.Stat()
	if errors.Is(err, syscall.ESTALE) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("follow %s: %w", r.path, err)
	}
	return !os.SameFile(pathInfo, openInfo), nil
}

// drain reads the open file to its end.
func (r *reader) drain(ctx context.Context) (grew bool, err error) {
	if r.buf == nil {
		r.buf = make([]byte, tailBytes+readBytes)
	}
	for ctx.Err() == nil {
		n, err := r.file.ReadAt(r.buf, r.offset-int64(len(r.tail)))
		got := r.buf[:n]
		if err != nil && !errors.Is(err, io.EOF) {
			if errors.Is(err, syscall.ESTALE) {
				r.close() // removed on the server; there may be a new file of the same name
				r.restart()
			}
			return grew, fmt.Errorf("follow %s at byte %d: %w", r.path, r.offset, err)
		}
		if !bytes.HasPrefix(got, r.tail) {
			r.reopen()
			r.restart()
			grew = true
			continue
		}
		fresh := got[len(r.tail):]
		if len(fresh) == 0 {
			if r.isLagging() {
				r.reopen() // for the next read
			}
			r.flush(ctx)
			return grew, nil
		}
		grew = true
		r.offset += int64(len(fresh))
		r.split(ctx, fresh)
		r.tail = append(r.tail[:0], got[max(0, len(got)-tailBytes):]...)
	}
	return grew, nil
}

// reopen opens the path again. Some FUSE file systems identify files by name: after a
// replacement the open file has the attributes of the new file but still the content of
// the old one. If the path no longer exists, the open file is kept.
func (r *reader) reopen() {
	// O_NONBLOCK: the path may refer to a pipe now, where opening would block.
	if again, err := os.OpenFile(r.path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
		r.close()
		r.file = again
	}
}

// isLagging reports whether the size of the file is larger than what can be read.
func (r *reader) isLagging() bool {
	info, err := r.file.Stat()
	return err == nil && info.Size() > r.offset
}

// split splits data into lines and sends full chunks.
func (r *reader) split(ctx context.Context, data []byte) {
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		part := data
		if i >= 0 {
			part = data[:i]
		}
		if r.skipping || len(r.partial)+len(part) > r.maxLine {
			r.skipping = true
			r.partial = nil
		} else {
			r.partial = append(r.partial, part...)
		}
		if i < 0 {
			return
		}
		data = data[i+1:]
		r.delivered = r.offset - int64(len(data))
		r.endLine(ctx)
	}
}

// endLine moves the incomplete line, now complete, to the next chunk.
func (r *reader) endLine(ctx context.Context) {
	if r.skipping {
		r.next.Skipped++
		r.skipping = false
	} else {
		r.next.Lines = append(r.next.Lines, r.partial)
		r.chunkSize += len(r.partial)
		r.partial = nil
	}
	if len(r.next.Lines) >= chunkLines || r.chunkSize >= chunkBytes {
		r.flush(ctx)
	}
}

func (r *reader) flush(ctx context.Context) {
	grew := r.notifyPartial && r.offset > r.reported
	if len(r.next.Lines) == 0 && r.next.Skipped == 0 && !r.next.Restarted && !grew {
		return
	}
	r.next.Offset = r.delivered
	r.emit(ctx, r.next)
	r.next, r.chunkSize, r.reported = Chunk{}, 0, r.offset
}

// flushPartial delivers the incomplete line as if it were complete.
func (r *reader) flushPartial(ctx context.Context) {
	if len(r.partial) == 0 && !r.skipping {
		return
	}
	r.delivered = r.offset
	r.endLine(ctx)
	r.flush(ctx)
}

// restart discards all state of the file, including complete lines that were not sent yet.
func (r *reader) restart() {
	r.offset, r.delivered, r.reported, r.tail = 0, 0, 0, nil
	r.partial, r.skipping = nil, false
	r.next, r.chunkSize = Chunk{Restarted: true}, 0
}

func (r *reader) close() {
	if r.file != nil {
		_ = r.file.Close() // opened for reading, so the error can be ignored
		r.file = nil
	}
}
