package harness

import (
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

// lineReader hands out the lines that hold a needle. Between two hits it only
// counts newlines, so a log of any size is read at memory speed and in bounded
// memory.
type lineReader struct {
	r      io.Reader
	needle []byte // empty: every line
	most   int    // bytes of a line that are handed out

	buf      []byte
	lo, hi   int // unread part of buf
	line     int // number of the line at lo
	eof      bool
	full     bool // the last read filled buf
	progress func(bytes int64)
	read     int64
}

func newLineReader(r io.Reader, needle string) *lineReader {
	return &lineReader{r: r, needle: []byte(needle), most: maxLine, buf: make([]byte, 8<<10), line: 1}
}

// each calls yield for the lines with the needle until it returns false. It
// returns the first error of the reader or the context.
func (l *lineReader) each(ctx context.Context, yield func(rawLine) bool) error {
	for {
		goOn := l.scan(yield)
		if !goOn || l.eof && l.lo == l.hi {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.fill(); err != nil {
			return err
		}
	}
}

// scan takes the complete lines that are in the buffer; at the end of the file
// also the last one, that has no newline.
func (l *lineReader) scan(yield func(rawLine) bool) bool {
	for l.lo < l.hi {
		part := l.buf[l.lo:l.hi]
		end := len(part)
		if !l.eof { // an endless line is seen to be one many times faster from its beginning
			if end = bytes.IndexByte(part, '\n') + 1; end > 0 {
				end = bytes.LastIndexByte(part, '\n') + 1
			}
		}
		if end == 0 {
			if len(part) < l.most {
				return true
			}
			return l.cutLine(part, yield)
		}
		hit := bytes.Index(part[:end], l.needle)
		if hit < 0 {
			l.skip(end)
			return true
		}
		l.skip(bytes.LastIndexByte(part[:hit], '\n') + 1)
		part = l.buf[l.lo:l.hi]
		stop := bytes.IndexByte(part, '\n')
		if stop < 0 {
			stop = len(part)
		}
		line := rawLine{number: l.line, text: bytes.TrimSuffix(part[:stop], []byte("\r"))}
		if len(line.text) > l.most {
			line.text, line.cut = line.text[:l.most], true
		}
		l.skip(min(stop+1, len(part)))
		if !yield(line) {
			return false
		}
	}
	return true
}

// skip moves on by n bytes that begin at the start of a line.
func (l *lineReader) skip(n int) {
	l.line += bytes.Count(l.buf[l.lo:l.lo+n], []byte("\n"))
	l.lo += n
}

// cutLine hands out the beginning of an endless line and drops the rest of it.
func (l *lineReader) cutLine(part []byte, yield func(rawLine) bool) bool {
	goOn := true
	if bytes.Contains(part, l.needle) {
		goOn = yield(rawLine{number: l.line, text: part[:l.most], cut: true})
	}
	l.lo = l.hi
	for goOn && !l.eof {
		if l.fill() != nil {
			return true // each asks again and reports it
		}
		if end := bytes.IndexByte(l.buf[l.lo:l.hi], '\n'); end >= 0 {
			l.skip(end + 1)
			return true
		}
		l.lo = l.hi
	}
	return goOn
}

func (l *lineReader) fill() error {
	if l.eof {
		return nil
	}
	copy(l.buf, l.buf[l.lo:l.hi])
	l.lo, l.hi = 0, l.hi-l.lo
	if l.hi == len(l.buf) || l.full && len(l.buf) < 256<<10 { // small files shall not pay for large ones
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := l.r.Read(l.buf[l.hi:])
	l.hi += n
	l.full = l.hi == len(l.buf)
	l.read += int64(n)
	if l.progress != nil {
		l.progress(l.read)
	}
	if errors.Is(err, io.EOF) {
		l.eof = true
		return nil
	}
	return err
}

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

// stripRank removes the prefix that srun -l puts before each line ("12: ").
func stripRank(b []byte) []byte {
	i := 0
	for i < len(b) && i < 7 && b[i] == ' ' {
		i++
	}
	digits := i
	for i < len(b) && i-digits < 7 && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == digits || i >= len(b) || b[i] != ':' {
		return b
	}
	return bytes.TrimPrefix(b[i+1:], []byte(" "))
}
