// Package jsonrow scans rows of JSON Lines files. It finds the members of the object in
// a line without decoding them, so that a row of hundreds of kilobytes allocates no memory.
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

// maxDepth is the limit of nested arrays and objects, as in encoding/json.
const maxDepth = 10_000

// Members calls visit for each member of the JSON object in line, with the key without
// quotes, the raw value and the offset of the value in line. Values are checked for
// syntax but not decoded; see [Scanner] for what is accepted. Key and value are slices
// of line, except for keys with escapes.
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

// Scanner scans the JSON object in a line. Call Open, then Key and Value as long as
// More returns true. It accepts Python's NaN and Infinity as values, and does not check
// the content of strings after the first 64 bytes.
type Scanner struct {
	Line []byte
	At   int // offset of the next byte in Line

	depth   int
	escaped bool // the last scanned string contains an escape
	atStart bool // at the start of an object or array
}

// expected returns an error that names what was expected at At and what was found.
func (s *Scanner) expected(what string) error {
	if s.At >= len(s.Line) {
		return problem.Errorf(problem.JSONInvalid, "column %d: expected %s, found the end of the line", s.At+1, what)
	}
	return problem.Errorf(problem.JSONInvalid, "column %d: expected %s, found %q", s.At+1, what, s.Line[s.At])
}

// SkipSpace skips white space.
func (s *Scanner) SkipSpace() {
	for s.At < len(s.Line) {
		switch s.Line[s.At] {
		case ' ', '\t', '\r', '\n':
			s.At++
		default:
			return
		}
	}
}

// accept skips the next byte if it is c, and reports whether it was.
func (s *Scanner) accept(c byte) bool {
	if s.At < len(s.Line) && s.Line[s.At] == c {
		s.At++
		return true
	}
	return false
}

// Open scans the opening brace of the object.
func (s *Scanner) Open() error {
	s.SkipSpace()
	if !s.accept('{') {
		return s.expected("an object")
	}
	s.atStart = true
	return nil
}

// More reports whether another member follows. After the last one it checks that the
// line ends.
func (s *Scanner) More() (bool, error) {
	if s.skipComma() {
		return true, nil
	}
	more, err := s.nextElement('}')
	if err != nil || more {
		return more, err
	}
	if s.SkipSpace(); s.At < len(s.Line) {
		err = s.expected("the end of the line")
	}
	return false, err
}

// skipComma skips the comma before the next element in the usual spellings. It returns false if
// the element has another one.
func (s *Scanner) skipComma() bool {
	i := s.At + 1
	if i+1 >= len(s.Line) || s.Line[i-1] != ',' || s.atStart {
		return false
	}
	if s.Line[i] == ' ' {
		i++
	}
	if s.Line[i] != '"' {
		return false
	}
	s.At = i
	return true
}

// nextElement skips the comma before the next element or the bracket after the last one.
func (s *Scanner) nextElement(end byte) (bool, error) {
	if s.skipComma() {
		return true, nil
	}
	s.SkipSpace()
	first := s.atStart
	s.atStart = false
	switch {
	case s.accept(end):
		return false, nil
	case first:
		return true, nil
	case s.accept(','):
		s.SkipSpace()
		return true, nil
	case end == '}':
		return false, s.expected("a comma or a closing brace")
	}
	return false, s.expected("a comma or a closing bracket")
}

// Key scans a key and the colon after it, and returns the key.
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
	s.SkipSpace()
	if !s.accept(':') {
		return nil, s.expected("a colon")
	}
	s.SkipSpace()
	return key, nil
}

// Unquote returns the text of a scanned JSON string. It allocates only if there are escapes.
func Unquote(raw []byte) ([]byte, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, fmt.Errorf("invalid string %.40q: %w", raw, err)
	}
	return []byte(text), nil
}

// Value scans a value of any type. The value is Line from the previous to the new At.
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

// wordValues are the values written as words, by their first letter.
var wordValues = [...]string{'t': "true", 'f': "false", 'n': "null", 'N': "NaN", 'I': "Infinity"}

// scanNested scans an array or object.
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

// maxChecked is the number of bytes of a string that are checked.
const maxChecked = 64

// scanString scans a string. It skips eight bytes at a time while none of them is a
// quote, a backslash or a control character. Long strings hold prompts and responses,
// which are not used, so only their end is searched for.
func (s *Scanner) scanString() error {
	if !s.accept('"') {
		return s.expected("a string")
	}
	s.escaped = false
	b := s.Line
	i := s.At
	for checkedEnd := i + maxChecked; ; {
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
		case i > checkedEnd:
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

// skipLongString skips to the closing quote, which is a quote after an even number of
// backslashes. Escapes and control characters are not checked.
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

// markSpecial sets the high bit of the first of eight bytes that is a quote, a
// backslash or a control character. The high bits of later bytes may be wrong.
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
