package harness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
)

// maxLine bounds one line of any artifact. The kernel takes no single argument
// above 128 KiB, so a launch line that a person or script wrote stays far below.
const maxLine = 1 << 20

// rawLine is one line without its line ending.
type rawLine struct {
	number int
	text   []byte // valid until the next line
	cut    bool   // longer than the reader hands out; text is its beginning
}

// lineReader hands out the lines that hold a needle. It counts the others at the speed
// of memory, and holds no more of a line than it hands out.
type lineReader struct {
	r        io.Reader
	needle   []byte // empty: every line
	most     int    // bytes of a line that are handed out
	lines    int    // read so far; one without its newline does not count
	read     int64  // bytes
	progress func(bytes int64)
	long     []byte // beginning of a line that does not fit the buffer
}

// lineBuffer is small, since most files of a run are.
const lineBuffer = 32 << 10

func newLineReader(r io.Reader, needle string) *lineReader {
	return &lineReader{r: r, needle: []byte(needle), most: maxLine, progress: func(int64) {}}
}

// each calls yield for the lines with the needle until it returns false. It
// returns the first error of the reader or the context.
func (l *lineReader) each(ctx context.Context, yield func(rawLine) bool) error {
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
		l.pass(in)
		number := l.lines + 1
		text, err := l.next(in)
		switch {
		case err == nil:
			l.lines = number
		case !errors.Is(err, io.EOF):
			return err
		case len(text) == 0:
			return nil
		}
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		line := rawLine{number: number, text: text[:min(len(text), l.most)], cut: len(text) > l.most}
		if bytes.Contains(line.text, l.needle) && !yield(line) || err != nil {
			return nil
		}
	}
}

// pass passes over the buffered lines before the next one that holds the needle.
func (l *lineReader) pass(in *bufio.Reader) {
	part, _ := in.Peek(in.Buffered()) // what is buffered can be had
	if hit := bytes.Index(part, l.needle); hit >= 0 {
		part = part[:hit]
	}
	part = part[:bytes.LastIndexByte(part, '\n')+1]
	l.lines += bytes.Count(part, []byte("\n"))
	_, _ = in.Discard(len(part))
}

// next reads a line, of a long one what is handed out and two bytes for its ending.
func (l *lineReader) next(in *bufio.Reader) ([]byte, error) {
	part, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, err
	}
	l.long = append(l.long[:0], part...)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = in.ReadSlice('\n')
		l.long = append(l.long, part[:min(len(part), l.most+2-len(l.long))]...)
	}
	return l.long, err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// escape is a terminal escape sequence: CSI, OSC or of one byte; perhaps cut off.
var escape = regexp.MustCompile("(?s)\x1b(?:\\[[^@-~]*[@-~]?|\\].*?(?:\x07|\x1b\\\\|$)|[^][])?")

// stripANSI removes terminal escape sequences and carriage returns at the end.
func stripANSI(b []byte) []byte {
	b = bytes.TrimRight(b, "\r")
	if bytes.IndexByte(b, 0x1b) < 0 {
		return b
	}
	return escape.ReplaceAll(b, nil)
}

// rank is the prefix that srun -l puts before each line ("12: ").
var rank = regexp.MustCompile(`^ {0,7}[0-9]{1,7}: ?`)

func stripRank(b []byte) []byte { return b[len(rank.Find(b)):] }
