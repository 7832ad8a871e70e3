// Package logview reads pages of logs of any size by byte offset, so that a page at the end of a
// 10 GB file is read as quickly as one at its beginning. It searches and filters in bounded steps,
// so that callers can show progress and cancel. It merges several logs by the timestamps of their
// lines, and reports when a log grows.
//
// It holds at most a page and a buffer in memory. It removes control characters from text.
package logview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

const (
	// maxText is how much of a line is kept, in bytes. It is also the size of the parts into
	// which [NewFileView] splits long lines.
	maxText = 64 << 10
	// A scan first reads pageBytes, which is usually enough for a page, and then blockBytes at
	// a time. Both are larger than maxText.
	blockBytes = 1 << 20
	pageBytes  = 128 << 10
)

// logFile is one log. It need not exist yet. It may grow, be truncated or be replaced; after
// close, the next read opens the current file.
type logFile struct {
	path      string
	splitLong bool // split long lines into parts, see [NewFileView]

	mu       sync.RWMutex // guards the fields below; reads run concurrently
	handle   *os.File     // nil: not open
	unpacked bool         // handle is a temporary file with the text of a compressed log
}

// isUnpacked reports whether the log is compressed, as far as it was opened.
func (f *logFile) isUnpacked() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.unpacked
}

// close closes the file; a later read opens it again.
func (f *logFile) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handle != nil {
		_ = f.handle.Close() // opened for reading, so the error can be ignored
		f.handle = nil
	}
}

func (f *logFile) open() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handle != nil {
		return nil
	}
	handle, _, err := smallfile.Open(f.path)
	text := handle
	if err == nil {
		text, err = unpack(handle)
	}
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	f.handle, f.unpacked = text, text != handle
	return nil
}

// maxUnpacked bounds the text of a compressed file, in bytes.
const maxUnpacked = 1 << 30

// unpack returns a temporary file with the text of a compressed file, or the file itself if it is not compressed. The
// temporary file is deleted when it is closed.
func unpack(f *os.File) (*os.File, error) {
	text, compressed, err := smallfile.Decompress(f)
	if !compressed {
		return f, nil
	}
	defer f.Close()
	var out *os.File
	if err == nil {
		out, err = os.CreateTemp("", "agentperf-log-")
	}
	if err != nil {
		return nil, fmt.Errorf("decompress %s: %w", f.Name(), err)
	}
	n, err := io.Copy(out, io.LimitReader(text, maxUnpacked))
	if errors.Is(err, io.ErrUnexpectedEOF) { // the file was cut: what it has is shown
		err = nil
	}
	if err == nil && n == maxUnpacked {
		err = problem.Errorf(problem.FileTooLarge, "more than %d MiB; decompress it to a file", maxUnpacked>>20)
	}
	if err = errors.Join(err, os.Remove(out.Name())); err != nil {
		_ = out.Close() // the error of the copy counts
		return nil, fmt.Errorf("decompress %s: %w", f.Name(), err)
	}
	return out, nil
}

// readAt reads into buf up to the end of the file. A missing file is empty.
func (f *logFile) readAt(buf []byte, at int64) (n int, eof bool, err error) {
	f.mu.RLock()
	handle := f.handle
	if handle == nil {
		f.mu.RUnlock()
		if err := f.open(); errors.Is(err, fs.ErrNotExist) {
			return 0, true, nil
		} else if err != nil {
			return 0, false, err
		}
		f.mu.RLock()
		if handle = f.handle; handle == nil { // closed meanwhile
			f.mu.RUnlock()
			return 0, true, nil
		}
	}
	defer f.mu.RUnlock()
	n, err = handle.ReadAt(buf, at)
	if errors.Is(err, io.EOF) {
		return n, true, nil
	}
	if err != nil {
		return n, false, fmt.Errorf("read %s at byte %d: %w", f.path, at, err)
	}
	return n, false, nil
}

// end returns the size of the file in bytes. It tries to read beyond the size from stat, which
// may be outdated on a network file system.
func (f *logFile) end() (int64, error) {
	at, err := f.size()
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 32<<10)
	for {
		n, eof, err := f.readAt(buf, at)
		at += int64(n)
		if err != nil || n == 0 || eof {
			return at, err
		}
	}
}

func (f *logFile) size() (int64, error) {
	if _, _, err := f.readAt(nil, 0); err != nil { // opens it
		return 0, err
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.handle == nil {
		return 0, nil
	}
	info, err := f.handle.Stat()
	if err != nil {
		return 0, fmt.Errorf("open log: %w", err)
	}
	return info.Size(), nil
}

// scanRequest describes a scan of one file.
type scanRequest struct {
	match     *Matcher // nil: every line
	lines     int      // maximum number of lines to return
	budget    int64    // bytes to scan before returning; at least one block is scanned
	splitLong bool     // split long lines into parts
	ctx       context.Context
}

// scanResult is the result of a scan, with lines in scan order.
type scanResult struct {
	lines   []Line
	reached int64 // offset to continue from
	midLine bool  // reached is between two parts of a line
	atEnd   bool  // the end (or, backward, the beginning) of the file was reached
}

// forward scans the lines that begin at from or later.
func (f *logFile) forward(from int64, s scanRequest) (scanResult, error) {
	out := scanResult{reached: from}
	buf := make([]byte, pageBytes)
	var err error
	if s.splitLong {
		if out.midLine, err = f.isMidLine(from); err != nil {
			return out, err
		}
	}
	for len(out.lines) < s.lines && out.reached-from <= s.budget && !out.atEnd {
		if err := s.ctx.Err(); err != nil {
			return out, err
		}
		if out.reached > from && len(buf) < blockBytes { // a page was not enough
			buf = make([]byte, blockBytes)
		}
		n, eof, err := f.readAt(buf, out.reached)
		if err != nil {
			return out, err
		}
		data := buf[:n]
		switch end := bytes.LastIndexByte(data, '\n') + 1; {
		case n == 0:
			out.atEnd = true
		case end > 0:
			out.addLines(data[:end], s)
		case eof:
			out.addUnfinished(data, s)
		case s.splitLong:
			out.addLines(data[:lastPartStart(out.reached, n)-out.reached], s)
		default:
			next, ended, err := f.lineEnd(s.ctx, out.reached+int64(n))
			if err != nil {
				return out, err
			}
			l := Line{At: out.reached, Next: next, Unfinished: !ended}
			out.addLine(s, data, l)
			if out.atEnd = !ended; ended {
				out.reached = next
			}
		}
	}
	return out, nil
}

// addLines adds the matching lines or parts of data and advances reached.
func (out *scanResult) addLines(data []byte, s scanRequest) {
	n := out.splitLines(data, s)
	out.reached += int64(n)
	if out.midLine = data[n-1] != '\n'; out.midLine && len(out.lines) > 0 {
		out.lines[len(out.lines)-1].Unfinished = false // another part follows
	}
}

// addUnfinished adds an unfinished line at the end of the file. It leaves reached at the
// beginning of the line, because the line may grow.
func (out *scanResult) addUnfinished(data []byte, s scanRequest) {
	last := out.reached
	if s.splitLong {
		last = lastPartStart(last, len(data))
	}
	n := out.splitLines(data, s)
	if out.atEnd = n == len(data); !out.atEnd {
		last = out.reached + int64(n)
	}
	out.midLine = last > out.reached || out.midLine
	out.reached = last
}

// splitLines adds the matching lines of data, which starts at a line or a part, and returns
// how many bytes it has scanned. A last line without a newline is unfinished.
func (out *scanResult) splitLines(data []byte, s scanRequest) int {
	at := 0
	for at < len(data) && len(out.lines) < s.lines {
		if s.match != nil {
			if at = s.match.next(data, at); at < 0 {
				return len(data)
			}
		}
		l := Line{At: out.reached + int64(at)}
		end, next := bytes.IndexByte(data[at:], '\n'), 1
		if end < 0 {
			end, next, l.Unfinished = len(data)-at, 0, true
		}
		if s.splitLong {
			if l.Continued = at == 0 && out.midLine || at > 0 && data[at-1] != '\n'; end > maxText {
				end, next, l.Unfinished = int(partEnd(l.At)-l.At), 0, false
			}
		}
		l.Next = l.At + int64(end+next)
		out.addLine(s, data[at:at+end], l)
		at += end + next
	}
	return at
}

// addLine adds a line if it matches. Data is the line as far as it was read, without its newline.
func (out *scanResult) addLine(s scanRequest, data []byte, l Line) {
	size := int64(len(data))
	if !s.splitLong {
		if size = l.Next - l.At; !l.Unfinished {
			size--
		}
	}
	if l.setText(data, size, s.splitLong); s.match == nil || s.match.Match(l.Text) {
		out.lines = append(out.lines, l)
	}
}

// lineEnd returns the offset after the newline of the line that contains offset from. It
// returns false if the line is unfinished.
func (f *logFile) lineEnd(ctx context.Context, from int64) (int64, bool, error) {
	buf := make([]byte, blockBytes)
	for {
		if err := ctx.Err(); err != nil {
			return from, false, err
		}
		n, eof, err := f.readAt(buf, from)
		if err != nil {
			return from, false, err
		}
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return from + int64(i) + 1, true, nil
		}
		if from += int64(n); eof {
			return from, false, nil
		}
	}
}

// lineStart returns the offset of the line that contains the byte before from.
func (f *logFile) lineStart(ctx context.Context, from int64) (int64, error) {
	buf := make([]byte, blockBytes)
	for from > 0 {
		if err := ctx.Err(); err != nil {
			return from, err
		}
		lo := max(0, from-int64(len(buf)))
		n, _, err := f.readAt(buf[:from-lo], lo)
		if err != nil {
			return from, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return lo + int64(i) + 1, nil
		}
		from = lo
	}
	return 0, nil
}

// backward scans the lines that end at from or before, the nearest first.
func (f *logFile) backward(from int64, s scanRequest) (scanResult, error) {
	out := scanResult{reached: from}
	buf := make([]byte, pageBytes)
	for len(out.lines) < s.lines && from-out.reached <= s.budget {
		if err := s.ctx.Err(); err != nil {
			return out, err
		}
		if out.reached <= 0 {
			out.atEnd = true
			return out, nil
		}
		if out.reached < from && len(buf) < blockBytes {
			buf = make([]byte, blockBytes)
		}
		if err := f.backwardBlock(&out, buf, s); err != nil {
			return out, err
		}
	}
	return out, nil
}

// backwardBlock scans the lines in the block before out.reached.
func (f *logFile) backwardBlock(out *scanResult, buf []byte, s scanRequest) error {
	hi := out.reached
	lo := max(0, hi-int64(len(buf)))
	data := buf[:hi-lo]
	n, _, err := f.readAt(data, lo)
	if err != nil {
		return err
	}
	if data, hi = data[:n], lo+int64(n); n == 0 { // truncated meanwhile
		out.reached = lo
		return nil
	}
	block := scanResult{reached: lo}
	if lo > 0 {
		body := data
		if body[n-1] == '\n' {
			body = body[:n-1]
		}
		switch first := bytes.IndexByte(body, '\n') + 1; {
		case first > 0: // the first complete line
			block.reached += int64(first)
		case s.splitLong:
			block.reached, block.midLine = min(partEnd(lo-1), hi), true
		default:
			return f.backwardLongLine(out, hi, data[n-1] != '\n', lo, s)
		}
	}
	all := s
	all.lines = n
	block.splitLines(data[block.reached-lo:], all)
	if s.splitLong && len(block.lines) > 0 {
		last := &block.lines[len(block.lines)-1]
		if last.Unfinished { // no newline in this block, but another part may follow
			continues, err := f.isMidLine(last.Next)
			if err != nil {
				return err
			}
			last.Unfinished = !continues
		}
	}
	out.reached = block.reached
	for _, l := range slices.Backward(block.lines) {
		if len(out.lines) == s.lines {
			break
		}
		out.lines = append(out.lines, l)
		out.reached = l.At
	}
	if len(out.lines) < s.lines {
		out.reached = block.reached
	}
	return nil
}

// backwardLongLine adds a line that ends at hi and begins before lo.
func (f *logFile) backwardLongLine(out *scanResult, hi int64, unfinished bool, lo int64, s scanRequest) error {
	start, err := f.lineStart(s.ctx, lo)
	if err != nil {
		return err
	}
	head := make([]byte, min(maxText, hi-start))
	n, _, err := f.readAt(head, start)
	if err != nil {
		return err
	}
	out.addLine(s, head[:n], Line{At: start, Next: hi, Unfinished: unfinished})
	out.reached = start
	return nil
}

// NewFileView returns a view of a file with its full content: a line of more than 64 KiB is split
// into parts, so that all of it can be shown and searched, and text before a carriage return is
// kept. A part of a line is found without reading the rest of the line.
//
// Parts end at offsets that are multiples of 64 KiB, so that they are the same for forward
// and backward scans.
func NewFileView(path string) *View {
	v := NewView(time.UTC, path)
	v.files[0].splitLong = true
	return v
}

// partEnd returns the end of the part of a long line that contains the byte at an offset.
func partEnd(at int64) int64 { return at - at%maxText + maxText }

// lastPartStart returns the start of the last part in the n bytes of a line that begin at offset at.
func lastPartStart(at int64, n int) int64 {
	end := at + int64(n)
	if n <= maxText {
		return at
	}
	return (end - 1) - (end-1)%maxText
}

// PartAt returns the start of the part that contains the byte at an offset, for a line that
// begins at offset line.
func (*View) PartAt(line, at int64) int64 {
	if at-line <= maxText {
		return line
	}
	return at - at%maxText
}

// isMidLine reports whether an offset is between two parts of a line.
func (f *logFile) isMidLine(at int64) (bool, error) {
	if at == 0 || at%maxText != 0 {
		return false, nil
	}
	var b [2]byte
	n, _, err := f.readAt(b[:], at-1)
	return n == 2 && b[0] != '\n', err
}
