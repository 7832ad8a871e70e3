package harness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
)

// maxLine bounds one line of any artifact, in bytes. The kernel limits a single argument to 128
// KiB, so launch lines are far shorter.
const maxLine = 1 << 20

// rawLine is one line without its line ending.
type rawLine struct {
	number    int
	text      []byte // valid until the next line
	truncated bool   // text is only the beginning of the line
	open      bool   // has no line ending: it is the last one, and the file may have been cut there
}

// lineReader yields the lines that contain one of its needles or pass its filter. It counts the other lines without
// copying them, and buffers at most limit bytes of a line.
type lineReader struct {
	r        io.Reader
	in       *bufio.Reader          // of r; nil before the first line
	needles  [][]byte               // none: every line
	filter   func(line []byte) bool // a cheap test that rules out most lines, if there are no needles; may be nil
	limit    int                    // bytes of a line that are yielded
	lines    int                    // complete lines read so far
	read     int64                  // bytes
	progress func(bytes int64)
	buffer   []byte // beginning of a line longer than lineBuffer
}

// lineBuffer is the size of the read buffer in bytes. It is small because most files of a run are.
const lineBuffer = 32 << 10

func newLineReader(r io.Reader, needles ...string) *lineReader {
	l := &lineReader{r: r, limit: maxLine, progress: func(int64) {}}
	for _, n := range needles {
		l.needles = append(l.needles, []byte(n))
	}
	return l
}

// forEach calls yield for each line that contains a needle or passes the filter, and for a line without a line
// ending if there is a filter, until yield returns false. It returns the
// first error of the reader or the context.
func (l *lineReader) forEach(ctx context.Context, yield func(rawLine) bool) error {
	l.in = bufio.NewReaderSize(readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := l.r.Read(p)
		l.read += int64(n)
		l.progress(l.read)
		return n, err
	}), lineBuffer)
	for {
		l.skip()
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		isCut := line.open && l.filter != nil
		if (isCut || l.matches(line.text)) && !yield(line) {
			return nil
		}
	}
}

// next reads the next line, whether it contains a needle or not. The error is [io.EOF] if there is none.
func (l *lineReader) next() (rawLine, error) {
	number := l.lines + 1
	text, err := l.readLine()
	switch {
	case err == nil:
		l.lines = number
	case !errors.Is(err, io.EOF) || len(text) == 0:
		return rawLine{}, err
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	return rawLine{number, text[:min(len(text), l.limit)], len(text) > l.limit, err != nil}, nil
}

// peek returns the next line without reading it, or its beginning if it is longer than the buffer.
func (l *lineReader) peek() []byte {
	for n := 512; ; n *= 2 {
		part, err := l.in.Peek(min(n, lineBuffer))
		if i := bytes.IndexByte(part, '\n'); i >= 0 {
			return part[:i]
		}
		if err != nil || n >= lineBuffer {
			return part
		}
	}
}

func (l *lineReader) matches(text []byte) bool {
	for _, n := range l.needles {
		if bytes.Contains(text, n) {
			return true
		}
	}
	return len(l.needles) == 0 && (l.filter == nil || l.filter(text))
}

// skip skips the buffered lines before the next one that contains a needle or passes the filter.
func (l *lineReader) skip() {
	part, _ := l.in.Peek(l.in.Buffered()) // can't fail: the bytes are buffered
	switch {
	case l.filter != nil:
		end := 0
		for {
			n := bytes.IndexByte(part[end:], '\n')
			if n < 0 || l.filter(part[end:end+n]) {
				break
			}
			end += n + 1
		}
		part = part[:end]
	case len(l.needles) == 0:
		return
	default:
		for _, n := range l.needles {
			if hit := bytes.Index(part, n); hit >= 0 {
				part = part[:hit]
			}
		}
		part = part[:bytes.LastIndexByte(part, '\n')+1]
	}
	l.lines += bytes.Count(part, []byte("\n"))
	_, _ = l.in.Discard(len(part))
}

// readLine reads a line. For a long line it returns limit bytes, plus two for a line ending.
func (l *lineReader) readLine() ([]byte, error) {
	part, err := l.in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, err
	}
	l.buffer = append(l.buffer[:0], part[:min(len(part), l.limit+2)]...)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.in.ReadSlice('\n')
		l.buffer = append(l.buffer, part[:min(len(part), l.limit+2-len(l.buffer))]...)
	}
	return l.buffer, err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// escape matches a terminal escape sequence: CSI, OSC or a single byte. It may be incomplete.
var escape = regexp.MustCompile("(?s)\x1b(?:\\[[^@-~]*[@-~]?|\\].*?(?:\x07|\x1b\\\\|$)|[^][])?")

// stripANSI removes terminal escape sequences and trailing carriage returns.
func stripANSI(b []byte) []byte {
	b = bytes.TrimRight(b, "\r")
	if bytes.IndexByte(b, 0x1b) < 0 {
		return b
	}
	return escape.ReplaceAll(b, nil)
}

// rank matches the prefix that srun --label adds to each line ("12: ").
var rank = regexp.MustCompile(`^ {0,7}[0-9]{1,7}: ?`)

func stripRank(b []byte) []byte { return b[len(rank.Find(b)):] }
