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
}

// lineReader yields the lines that contain needle. It counts the other lines without copying them,
// and buffers at most limit bytes of a line.
type lineReader struct {
	r        io.Reader
	needle   []byte // empty: every line
	limit    int    // bytes of a line that are yielded
	lines    int    // complete lines read so far
	read     int64  // bytes
	progress func(bytes int64)
	buffer   []byte // beginning of a line longer than lineBuffer
}

// lineBuffer is the size of the read buffer in bytes. It is small because most files of a run are.
const lineBuffer = 32 << 10

func newLineReader(r io.Reader, needle string) *lineReader {
	return &lineReader{r: r, needle: []byte(needle), limit: maxLine, progress: func(int64) {}}
}

// forEach calls yield for each line that contains needle until yield returns false. It returns the
// first error of the reader or the context.
func (l *lineReader) forEach(ctx context.Context, yield func(rawLine) bool) error {
	in := bufio.NewReaderSize(readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := l.r.Read(p)
		l.read += int64(n)
		l.progress(l.read)
		return n, err
	}), lineBuffer)
	for {
		l.skip(in)
		number := l.lines + 1
		text, err := l.readLine(in)
		switch {
		case err == nil:
			l.lines = number
		case !errors.Is(err, io.EOF):
			return err
		case len(text) == 0:
			return nil
		}
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		line := rawLine{number: number, text: text[:min(len(text), l.limit)], truncated: len(text) > l.limit}
		if bytes.Contains(line.text, l.needle) && !yield(line) || err != nil {
			return nil
		}
	}
}

// skip skips the buffered lines before the next one that contains needle.
func (l *lineReader) skip(in *bufio.Reader) {
	part, _ := in.Peek(in.Buffered()) // can't fail: the bytes are buffered
	if hit := bytes.Index(part, l.needle); hit >= 0 {
		part = part[:hit]
	}
	part = part[:bytes.LastIndexByte(part, '\n')+1]
	l.lines += bytes.Count(part, []byte("\n"))
	_, _ = in.Discard(len(part))
}

// readLine reads a line. For a long line it returns limit bytes, plus two for a line ending.
func (l *lineReader) readLine(in *bufio.Reader) ([]byte, error) {
	part, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, err
	}
	l.buffer = append(l.buffer[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = in.ReadSlice('\n')
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
