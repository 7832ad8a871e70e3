package results

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
)

// maxDepth of nested arrays and objects, the limit of encoding/json.
const maxDepth = 10_000

// scanObject calls field with each member of the one JSON object in b: the
// key, without quotes, and the raw value, both parts of b where they can be.
// Values are checked for syntax but not decoded, so that a row with hundreds of
// kilobytes of text costs no memory. Python's NaN and Infinity pass as values.
func scanObject(b []byte, field func(key, value []byte) error) error {
	s := scanner{b: b}
	if err := s.open(); err != nil {
		return err
	}
	for {
		key, value, err := s.member()
		if err != nil || key == nil {
			return err
		}
		if err := field(key, value); err != nil {
			return err
		}
	}
}

type scanner struct {
	b       []byte
	i       int
	depth   int
	escaped bool // the string scanned last has an escape
	first   bool // an object or array has just begun
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

// open begins the one object that the line is.
func (s *scanner) open() error {
	s.space()
	if !s.take('{') {
		return s.want("an object")
	}
	s.first = true
	return nil
}

// member is the next one of that object; without one left, and nothing behind
// the object, the key is nil.
func (s *scanner) member() (key, value []byte, err error) {
	more, err := s.more('}')
	if err != nil {
		return nil, nil, err
	}
	if more {
		return s.pair()
	}
	return nil, nil, s.end()
}

// end checks that nothing follows.
func (s *scanner) end() error {
	s.space()
	if s.i < len(s.b) {
		return s.want("the end of the line")
	}
	return nil
}

// more takes what stands before the next element, or after the last one.
func (s *scanner) more(end byte) (bool, error) {
	if s.i+1 < len(s.b) && s.b[s.i] == ',' && s.b[s.i+1] == '"' && !s.first { // as nearly always
		s.i++
		return true, nil
	}
	s.space()
	first := s.first
	s.first = false
	switch {
	case s.take(end):
		return false, nil
	case first:
		return true, nil
	case s.take(','):
		s.space()
		return true, nil
	case end == '}':
		return false, s.want("a comma or a closing brace")
	}
	return false, s.want("a comma or a closing bracket")
}

// pair scans one member.
func (s *scanner) pair() (key, value []byte, err error) {
	if key, err = s.key(); err != nil {
		return nil, nil, err
	}
	at := s.i
	err = s.value()
	return key, s.b[at:s.i], err
}

// key scans a name and its colon.
func (s *scanner) key() ([]byte, error) {
	from := s.i
	if err := s.text(); err != nil {
		return nil, err
	}
	key := s.b[from+1 : s.i-1]
	if s.escaped {
		var err error
		if key, err = unquote(s.b[from:s.i]); err != nil {
			return nil, err
		}
	}
	s.space()
	if !s.take(':') {
		return nil, s.want("a colon")
	}
	s.space()
	return key, nil
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
		return s.nested('}')
	case '[':
		return s.nested(']')
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

// nested scans an array or object.
func (s *scanner) nested(end byte) error {
	s.i++
	if s.depth++; s.depth >= maxDepth {
		return errors.New("more than 10,000 levels of nesting")
	}
	s.first = true
	for {
		more, err := s.more(end)
		if err == nil && more {
			if end == '}' {
				_, _, err = s.pair()
			} else {
				err = s.value()
			}
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

func (s *scanner) word(w string) error {
	for k := range len(w) {
		if !s.take(w[k]) {
			return s.want(w)
		}
	}
	return nil
}

// shortText is how far a string is looked at byte by byte.
const shortText = 64

// text scans a string. Eight bytes are looked at in one step where none of
// them ends the string, begins an escape or is a control character. Of a long
// string, which is no field that is needed, only the end is sought.
func (s *scanner) text() error {
	if !s.take('"') {
		return s.want("a string")
	}
	s.escaped = false
	b := s.b
	i := s.i
	for far := i + shortText; ; {
		for i+8 <= len(b) {
			m := special(binary.LittleEndian.Uint64(b[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		switch {
		case i >= len(b):
			s.i = i
			return s.want("the end of the string")
		case b[i] == '"':
			s.i = i + 1
			return nil
		case i > far:
			return s.longText(i)
		case b[i] == '\\':
			s.i, s.escaped = i, true
			if err := s.escape(); err != nil {
				return err
			}
			i = s.i
		case b[i] < ' ':
			s.i = i
			return s.want("no control character in a string")
		default:
			i++
		}
	}
}

// longText skips to the closing quote: one with an even number of backslashes
// before it. Escapes and control characters are passed over unseen.
func (s *scanner) longText(from int) error {
	s.escaped = true
	for i := from; ; i++ {
		n := bytes.IndexByte(s.b[i:], '"')
		if n < 0 {
			s.i = len(s.b)
			return s.want("the end of the string")
		}
		i += n
		slashes := 0
		for i-slashes > from && s.b[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			s.i = i + 1
			return nil
		}
	}
}

// special marks, by its high bit, the first of eight bytes that is a quote, a
// backslash or a control character; what it marks after that one may be wrong.
func special(x uint64) uint64 {
	const low, high = 0x0101010101010101, 0x8080808080808080
	quote := x ^ low*'"'
	slash := x ^ low*'\\'
	return ((x-low*' ')&^x | (quote-low)&^quote | (slash-low)&^slash) & high
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
