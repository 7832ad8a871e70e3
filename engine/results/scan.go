package results

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// maxDepth of nested arrays and objects, the limit of encoding/json.
const maxDepth = 10_000

// scanObject calls field with each member of the one JSON object in b: the
// key, without quotes, and the raw value, both parts of b where they can be.
// Values are checked for syntax but not decoded, so that a row with hundreds of
// kilobytes of text costs no memory. Python's NaN and Infinity pass as values.
func scanObject(b []byte, field func(key, value []byte) error) error {
	s := scanner{b: b}
	s.space()
	if !s.take('{') {
		return s.want("an object")
	}
	s.space()
	if !s.take('}') {
		if err := s.members(field); err != nil {
			return err
		}
	}
	s.space()
	if s.i < len(b) {
		return s.want("the end of the line")
	}
	return nil
}

type scanner struct {
	b       []byte
	i       int
	depth   int
	escaped bool // the string scanned last has an escape
}

func (s *scanner) want(what string) error {
	if s.i >= len(s.b) {
		return fmt.Errorf("column %d: the line ends, want %s", s.i+1, what)
	}
	return fmt.Errorf("column %d: %q, want %s", s.i+1, s.b[s.i], what)
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// members scans what stands between the braces, and the closing one.
func (s *scanner) members(field func(key, value []byte) error) error {
	for {
		s.space()
		from := s.i
		if err := s.text(); err != nil {
			return err
		}
		key := s.b[from+1 : s.i-1]
		if s.escaped {
			var err error
			if key, err = unquote(s.b[from:s.i]); err != nil {
				return err
			}
		}
		s.space()
		if !s.take(':') {
			return s.want("a colon")
		}
		s.space()
		at := s.i
		if err := s.value(); err != nil {
			return err
		}
		if field != nil {
			if err := field(key, s.b[at:s.i]); err != nil {
				return err
			}
		}
		s.space()
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return s.want("a comma or a closing brace")
		}
	}
}

// unquote returns the text of a scanned JSON string; it allocates only for
// strings with escapes.
func unquote(raw []byte) ([]byte, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, fmt.Errorf("string %.40q: %w", raw, err)
	}
	return []byte(text), nil
}

func (s *scanner) value() error {
	if s.i >= len(s.b) {
		return s.want("a value")
	}
	switch c := s.b[s.i]; c {
	case '"':
		return s.text()
	case '{':
		s.i++
		return s.nested(func() error { return s.members(nil) }, '}')
	case '[':
		s.i++
		return s.nested(s.elements, ']')
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	case 'N':
		return s.word("NaN")
	case 'I':
		return s.word("Infinity")
	default:
		if c == '-' || isDigit(c) {
			return s.number()
		}
		return s.want("a value")
	}
}

// nested scans the inside of an array or object unless it is empty.
func (s *scanner) nested(inside func() error, end byte) error {
	if s.depth++; s.depth >= maxDepth {
		return errors.New("more than 10,000 levels of nesting")
	}
	s.space()
	if s.take(end) {
		s.depth--
		return nil
	}
	err := inside()
	s.depth--
	return err
}

func (s *scanner) elements() error {
	for {
		s.space()
		if err := s.value(); err != nil {
			return err
		}
		s.space()
		if s.take(']') {
			return nil
		}
		if !s.take(',') {
			return s.want("a comma or a closing bracket")
		}
	}
}

func (s *scanner) word(w string) error {
	for k := range len(w) {
		if !s.take(w[k]) {
			return s.want(w)
		}
	}
	return nil
}

// text scans a string. Eight bytes are looked at in one step where none of
// them ends the string, begins an escape or is a control character.
func (s *scanner) text() error {
	if !s.take('"') {
		return s.want("a string")
	}
	s.escaped = false
	b := s.b
	i := s.i
	for {
		for i+8 <= len(b) && plain(binary.LittleEndian.Uint64(b[i:])) {
			i += 8
		}
		if i >= len(b) {
			s.i = i
			return s.want("the end of the string")
		}
		switch c := b[i]; {
		case c == '"':
			s.i = i + 1
			return nil
		case c == '\\':
			s.i, s.escaped = i, true
			if err := s.escape(); err != nil {
				return err
			}
			i = s.i
		case c < ' ':
			s.i = i
			return s.want("no control character in a string")
		default:
			i++
		}
	}
}

// plain tells whether none of the eight bytes is a quote, a backslash or a
// control character. A false alarm is possible only beside a true one.
func plain(x uint64) bool {
	const low, high = 0x0101010101010101, 0x8080808080808080
	quote := x ^ low*'"'
	slash := x ^ low*'\\'
	return ((x-low*' ')&^x|(quote-low)&^quote|(slash-low)&^slash)&high == 0
}

func (s *scanner) escape() error {
	s.i++
	if s.i >= len(s.b) {
		return s.want("the end of the string")
	}
	switch s.b[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i++
		return nil
	case 'u':
		s.i++
		for range 4 {
			if s.i >= len(s.b) || !isHex(s.b[s.i]) {
				return s.want("four hexadecimal digits")
			}
			s.i++
		}
		return nil
	default:
		return s.want("an escape that JSON knows")
	}
}

func (s *scanner) number() error {
	if s.take('-') && s.i < len(s.b) && s.b[s.i] == 'I' {
		return s.word("Infinity")
	}
	if !s.take('0') && !s.digits() {
		return s.want("a digit")
	}
	if s.take('.') && !s.digits() {
		return s.want("a digit")
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		if !s.digits() {
			return s.want("a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	from := s.i
	for s.i < len(s.b) && isDigit(s.b[s.i]) {
		s.i++
	}
	return s.i > from
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
