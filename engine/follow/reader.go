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
	// tailBytes before the offset are read again each time and compared: a file that was truncated and
	// has grown past the offset between two looks is seen only by its content. They also tell
	// truncation without trusting a size that the network file system may have cached.
	tailBytes = 256
)

// reader turns the file's bytes into chunks. It keeps the file open, so that
// what a removed or replaced file still held is read to its end.
type reader struct {
	path    string
	maxLine int
	begun   bool // growth of the begun line is told too
	emit    func(context.Context, Chunk) bool

	file    *os.File
	opened  bool   // a file was open once: the next one is a replacement
	offset  int64  // bytes read
	parsed  int64  // bytes delivered, up to the last newline
	tail    []byte // the bytes before offset, at most tailBytes
	buf     []byte // tail, then what pread gave
	pending []byte // the begun line
	long    bool   // the begun line is over maxLine and is being skipped
	next    Chunk  // what will be sent next
	size    int    // bytes of lines in next
	told    int64  // bytes read when a chunk was sent last
}

// pass delivers all there is now. It tells whether anything new was found.
func (r *reader) pass(ctx context.Context) (grew bool, err error) {
	if r.file == nil {
		if err := r.open(); err != nil {
			return false, err
		}
	}
	for {
		// The path is looked at before the read: what replaced it after the
		// read would else hide the old file's last lines.
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

// open opens the file; it refuses what is no regular file, since opening a pipe would block.
func (r *reader) open() error {
	info, err := os.Stat(r.path)
	if err != nil {
		return fmt.Errorf("follow %s: %w", r.path, err)
	}
	if !info.Mode().IsRegular() {
		return problem.Errorf(problem.NotAFile, "follow %s: is a %s, not a regular file", r.path, kind(info.Mode()))
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
		r.restart() // shorter than where the caller had been: truncated meanwhile
		return nil
	}
	r.close()
	r.opened = false
	return fmt.Errorf("follow %s: %w", r.path, err)
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	default:
		return "special file"
	}
}

// replaced tells whether the path now leads to another file than the open one.
// A path that leads nowhere is no replacement yet.
func (r *reader) replaced() (bool, error) {
	at, err := os.Stat(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("follow %s: %w", r.path, err)
	}
	held, err := r.file.Stat()
	if errors.Is(err, syscall.ESTALE) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("follow %s: %w", r.path, err)
	}
	return !os.SameFile(at, held), nil
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
				r.close() // gone on the server; it may be back under the same name
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
			if r.behind() {
				r.reopen() // for the next look
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

// reopen opens the path again. Some user-space file systems know files by their names: there a file
// that was replaced has the attributes of the new one, and what was open goes on with the bytes of
// the old one. Where nothing is at the path any more, what is open stays.
func (r *reader) reopen() {
	if again, err := os.OpenFile(r.path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil { // a pipe does not block
		r.close()
		r.file = again
	}
}

// behind says that the file is said to be longer than what can be read of it.
func (r *reader) behind() bool {
	info, err := r.file.Stat()
	return err == nil && info.Size() > r.offset
}

// split cuts data into lines and sends the chunks that are full.
func (r *reader) split(ctx context.Context, data []byte) {
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\n')
		part := data
		if i >= 0 {
			part = data[:i]
		}
		if r.long || len(r.pending)+len(part) > r.maxLine {
			r.long = true
			r.pending = nil
		} else {
			r.pending = append(r.pending, part...)
		}
		if i < 0 {
			return
		}
		data = data[i+1:]
		r.parsed = r.offset - int64(len(data))
		r.endLine(ctx)
	}
}

// endLine moves the begun line to the next chunk.
func (r *reader) endLine(ctx context.Context) {
	if r.long {
		r.next.Skipped++
		r.long = false
	} else {
		r.next.Lines = append(r.next.Lines, r.pending)
		r.size += len(r.pending)
		r.pending = nil
	}
	if len(r.next.Lines) >= chunkLines || r.size >= chunkBytes {
		r.flush(ctx)
	}
}

func (r *reader) flush(ctx context.Context) {
	grew := r.begun && r.offset > r.told
	if len(r.next.Lines) == 0 && r.next.Skipped == 0 && !r.next.Restarted && !grew {
		return
	}
	r.next.Offset = r.parsed
	r.emit(ctx, r.next)
	r.next, r.size, r.told = Chunk{}, 0, r.offset
}

// rest delivers the begun line as if it were ended.
func (r *reader) rest(ctx context.Context) {
	if len(r.pending) == 0 && !r.long {
		return
	}
	r.parsed = r.offset
	r.endLine(ctx)
	r.flush(ctx)
}

// restart forgets the file read so far. Lines that were whole but not yet sent
// are part of what is gone.
func (r *reader) restart() {
	r.offset, r.parsed, r.told, r.tail = 0, 0, 0, nil
	r.pending, r.long = nil, false
	r.next, r.size = Chunk{Restarted: true}, 0
}

func (r *reader) close() {
	if r.file != nil {
		_ = r.file.Close() // opened for reading: nothing can be lost
		r.file = nil
	}
}
