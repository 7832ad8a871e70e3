package harness

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// source is text put together from lines of an artifact, without their escape sequences. It maps
// offsets in the text to places in the artifact.
type source struct {
	artifact string
	text     string // what is built so far
	build    strings.Builder
	pieces   []piece // ascending offsets
}

// piece is where a part of the text begins. It ends where the next one begins.
type piece struct {
	offset int // in the text
	line   int
	column int // bytes before it in its line; -1 if the line does not contain it literally
}

// newSource returns the source of a text of several lines.
func newSource(artifact, text string) *source {
	s := &source{artifact: artifact}
	for i, line := range strings.Split(text, "\n") {
		s.addLine(i+1, []byte(line), 0)
	}
	return s
}

// byteOrderMark may begin a file that was edited on Windows.
const byteOrderMark = "\ufeff"

// addLine appends a line, after a line break unless it is the first one. The first skip bytes of the
// line are left out, as are escape sequences, trailing carriage returns and the byte order mark of a file.
// Invalid bytes are replaced.
func (s *source) addLine(number int, line []byte, skip int) {
	if len(s.pieces) > 0 {
		s.build.WriteByte('\n')
	}
	if number == 1 && bytes.HasPrefix(line, []byte(byteOrderMark)) {
		skip = max(skip, len(byteOrderMark))
	}
	line = bytes.TrimRight(line, "\r")
	begin := func(column int) { s.pieces = append(s.pieces, piece{s.build.Len(), number, column}) }
	at := min(skip, len(line))
	begin(at)
	for at < len(line) {
		if line[at] == 0x1b {
			at += len(escape.Find(line[at:]))
			begin(at)
			continue
		}
		n := bytes.IndexByte(line[at:], 0x1b)
		if n < 0 {
			n = len(line) - at
		}
		valid := validPrefix(line[at : at+n])
		s.build.Write(line[at : at+valid])
		at += valid
		if valid < n {
			begin(-1)
			s.build.WriteString("\ufffd")
			for at++; at < len(line) && !utf8.RuneStart(line[at]); at++ {
			}
			begin(at)
		}
	}
	s.text = s.build.String()
}

// validPrefix returns the length of the valid UTF-8 at the beginning of b.
func validPrefix(b []byte) int {
	if utf8.Valid(b) {
		return len(b)
	}
	n := 0
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		if r == utf8.RuneError && size < 2 {
			break
		}
		n += size
	}
	return n
}

// pieceAt returns the index of the piece that contains an offset, the last one if several begin there.
func (s *source) pieceAt(offset int) int {
	n, _ := slices.BinarySearchFunc(s.pieces, offset+1, func(p piece, offset int) int { return p.offset - offset })
	return max(n-1, 0)
}

// lineAt returns the number of the line at an offset.
func (s *source) lineAt(offset int) int { return s.pieces[s.pieceAt(offset)].line }

// at returns the evidence of raw. It looks for raw in the text, at or after an offset. A nil source
// has no places.
func (s *source) at(key, raw string, offset int) Evidence {
	if s == nil {
		return newEvidence("", 0, "", key, raw, 0)
	}
	ev := newEvidence(s.artifact, 0, s.text, key, raw, offset)
	from := min(max(offset, 0), len(s.text))
	if ev.Column > 0 {
		from = ev.Column - 1
	}
	n := s.pieceAt(from)
	p := s.pieces[n]
	whole := n+1 == len(s.pieces) || from+len(ev.Raw) <= s.pieces[n+1].offset
	switch {
	case ev.Column == 0:
	case whole && p.column >= 0 && !strings.Contains(ev.Raw, "\n"):
		ev.Column += p.column - p.offset
	default:
		ev.Column = 0
	}
	ev.Line = p.line
	return ev
}
