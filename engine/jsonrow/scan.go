// Package jsonrow reads rows of JSON lines files: it finds the members of the object
// that a line holds and decodes none, so that a row of hundreds of kilobytes costs no
// memory. It knows no file and no field.
package jsonrow

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// maxDepth of nested arrays and objects, the limit of encoding/json.
const maxDepth = 10_000

// Members calls visit with each member of the one JSON object in line: the key,
// without quotes, the raw value, both parts of line where they can be, and where the
// value begins in line. Values are checked for syntax but not decoded, so that a row
// with hundreds of kilobytes of text costs no memory; Scanner says what passes.
func Members(line []byte, visit func(key, value []byte, at int) error) error {
	s := Scanner{Line: line}
	if err := s.Open(); err != nil {
		return err
	}
	for {
		more, err := s.More()
		if err != nil || !more {
			return err
		}
		key, err := s.Key()
		if err != nil {
			return err
		}
		at := s.At
		if err := s.Value(); err != nil {
			return err
		}
		if err := visit(key, line[at:s.At], at); err != nil {
			return err
		}
	}
}

// Scanner goes over the one JSON object that a line is: Open, then Key and Value as
// long as there is More. Python's NaN and Infinity pass as values, and of strings
// longer than 64 bytes only the end is sought.
type Scanner struct {
	Line []byte
	At   int // of the next byte in Line

	depth   int
	escaped bool // the string scanned last has an escape
	atStart bool // an object or array has just begun
}

func (s *Scanner) expected(what string) error {
	if s.At >= len(s.Line) {
		return problem.Errorf(problem.JSONInvalid, "column %d: expected %s, found the end of the line", s.At+1, what)
	}
	return problem.Errorf(problem.JSONInvalid, "column %d: expected %s, found %q", s.At+1, what, s.Line[s.At])
}

func (s *Scanner) skipSpace() {
	for s.At < len(s.Line) {
		switch s.Line[s.At] {
		case ' ', '\t', '\r', '\n':
			s.At++
		default:
			return
		}
	}
}

func (s *Scanner) accept(c byte) bool {
	if s.At < len(s.Line) && s.Line[s.At] == c {
		s.At++
		return true
	}
	return false
}

// Open begins the one object that the line is.
func (s *Scanner) Open() error {
	s.skipSpace()
	if !s.accept('{') {
		return s.expected("an object")
	}
	s.atStart = true
	return nil
}

// More reports whether a member follows. After the last one it checks that nothing
// stands behind the object.
func (s *Scanner) More() (bool, error) {
	more, err := s.nextElement('}')
	if err != nil || more {
		return more, err
	}
	if s.skipSpace(); s.At < len(s.Line) {
		err = s.expected("the end of the line")
	}
	return false, err
}

// more takes what stands before the next element, or after the last one.
func (s *Scanner) nextElement(end byte) (bool, error) {
	if s.At+1 < len(s.Line) && s.Line[s.At] == ',' && s.Line[s.At+1] == '"' && !s.atStart { // as nearly always
		s.At++
		return true, nil
	}
	s.skipSpace()
	first := s.atStart
	s.atStart = false
	switch {
	case s.accept(end):
		return false, nil
	case first:
		return true, nil
	case s.accept(','):
		s.skipSpace()
		return true, nil
	case end == '}':
		return false, s.expected("a comma or a closing brace")
	}
	return false, s.expected("a comma or a closing bracket")
}

// Key scans a name and its colon, and returns the name.
func (s *Scanner) Key() ([]byte, error) {
	from := s.At
	if err := s.scanString(); err != nil {
		return nil, err
	}
	key := s.Line[from+1 : s.At-1]
	if s.escaped {
		var err error
		if key, err = Unquote(s.Line[from:s.At]); err != nil {
			return nil, err
		}
	}
	s.skipSpace()
	if !s.accept(':') {
		return nil, s.expected("a colon")
	}
	s.skipSpace()
	return key, nil
}

// Unquote returns the text of a scanned JSON string; it allocates only for strings with escapes.
func Unquote(raw []byte) ([]byte, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, fmt.Errorf("string %.40q: %w", raw, err)
	}
	return []byte(text), nil
}

// Value scans a value of any kind; it is Line from where At was before to where it is now.
func (s *Scanner) Value() error {
	if s.At >= len(s.Line) {
		return s.expected("a value")
	}
	switch c := s.Line[s.At]; c {
	case '"':
		return s.scanString()
	case '{':
		return s.scanNested('}')
	case '[':
		return s.scanNested(']')
	case 't', 'f', 'n', 'N', 'I':
		return s.scanWord(wordValues[c])
	default:
		if c == '-' || IsDigit(c) {
			return s.scanNumber()
		}
		return s.expected("a value")
	}
}

// words that are values, by their first letter.
var wordValues = [...]string{'t': "true", 'f': "false", 'n': "null", 'N': "NaN", 'I': "Infinity"}

// nested scans an array or object.
func (s *Scanner) scanNested(end byte) error {
	s.At++
	if s.depth++; s.depth >= maxDepth {
		return problem.Errorf(problem.JSONInvalid, "column %d: more than 10,000 levels of nesting", s.At+1)
	}
	s.atStart = true
	for {
		more, err := s.nextElement(end)
		if err == nil && more && end == '}' {
			_, err = s.Key()
		}
		if err == nil && more {
			err = s.Value()
		}
		if err != nil {
			return err
		}
		if !more {
			s.depth--
			return nil
		}
	}
}

func (s *Scanner) scanWord(w string) error {
	for k := range len(w) {
		if !s.accept(w[k]) {
			return s.expected(w)
		}
	}
	return nil
}

// shortText is how far a string is looked at byte by byte.
const maxChecked = 64

// text scans a string. Eight bytes are looked at in one step where none of
// them ends the string, begins an escape or is a control character. Of a long
// string, which is no field that is needed, only the end is sought.
func (s *Scanner) scanString() error {
	if !s.accept('"') {
		return s.expected("a string")
	}
	s.escaped = false
	b := s.Line
	i := s.At
	for far := i + maxChecked; ; {
		for i+8 <= len(b) {
			m := markSpecial(binary.LittleEndian.Uint64(b[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		switch {
		case i >= len(b):
			s.At = i
			return s.expected("a closing quote")
		case b[i] == '"':
			s.At = i + 1
			return nil
		case i > far:
			return s.skipLongString(i)
		case b[i] == '\\':
			s.At, s.escaped = i, true
			if err := s.scanEscape(); err != nil {
				return err
			}
			i = s.At
		case b[i] < ' ':
			s.At = i
			return s.expected("a string without control characters")
		default:
			i++
		}
	}
}

// longText skips to the closing quote: one with an even number of backslashes
// before it. Escapes and control characters are passed over unseen.
func (s *Scanner) skipLongString(from int) error {
	s.escaped = true
	for i := from; ; i++ {
		n := bytes.IndexByte(s.Line[i:], '"')
		if n < 0 {
			s.At = len(s.Line)
			return s.expected("a closing quote")
		}
		i += n
		slashes := 0
		for i-slashes > from && s.Line[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			s.At = i + 1
			return nil
		}
	}
}

// special marks, by its high bit, the first of eight bytes that is a quote, a
// backslash or a control character; what it marks after that one may be wrong.
func markSpecial(x uint64) uint64 {
	const low, high = 0x0101010101010101, 0x8080808080808080
	quote := x ^ low*'"'
	slash := x ^ low*'\\'
	return ((x-low*' ')&^x | (quote-low)&^quote | (slash-low)&^slash) & high
}

func (s *Scanner) scanEscape() error {
	s.At++
	switch {
	case s.At >= len(s.Line):
		return s.expected("a closing quote")
	case strings.IndexByte(`"\/bfnrtu`, s.Line[s.At]) < 0:
		return s.expected("a valid JSON escape")
	case !s.accept('u'):
		s.At++
		return nil
	}
	for range 4 {
		if s.At >= len(s.Line) || !isHex(s.Line[s.At]) {
			return s.expected("four hexadecimal digits")
		}
		s.At++
	}
	return nil
}

func (s *Scanner) scanNumber() error {
	if s.accept('-') && s.At < len(s.Line) && s.Line[s.At] == 'I' {
		return s.scanWord("Infinity")
	}
	ok := s.accept('0') || s.scanDigits()
	if ok && s.accept('.') {
		ok = s.scanDigits()
	}
	if ok && (s.accept('e') || s.accept('E')) {
		_ = s.accept('+') || s.accept('-')
		ok = s.scanDigits()
	}
	if !ok {
		return s.expected("a digit")
	}
	return nil
}

func (s *Scanner) scanDigits() bool {
	from := s.At
	for s.At < len(s.Line) && IsDigit(s.Line[s.At]) {
		s.At++
	}
	return s.At > from
}

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool {
	return IsDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
