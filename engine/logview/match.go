package logview

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Matcher matches lines. Every matching line contains at least one of its needles, so it first
// searches the data for these and tests only the lines that contain one.
type Matcher struct {
	needles []needle // a matching line contains at least one; empty: unknown
	verify  func(text string) bool
	re      *regexp.Regexp // the expression of a search, for Marks
}

// needle is a text that looks the same in the file and on the screen.
type needle struct {
	text        []byte
	fold        bool // ignore case; text is in lower case
	rareIndex   int  // index in text of the byte that is rarest in logs
	secondIndex int  // index of the second rarest byte
}

// Regexp returns a matcher for lines whose cleaned text contains a match of a regular
// expression (RE2). It ignores case unless the expression has a capital letter.
func Regexp(expr string) (*Matcher, error) {
	flags := ""
	if strings.ToLower(expr) == expr {
		flags = "(?i)"
	}
	re, err := regexp.Compile(flags + expr)
	if err != nil {
		return nil, problem.Errorf(problem.PatternInvalid, "search for %q: %w", expr, err)
	}
	m := &Matcher{verify: re.MatchString, re: re}
	if tree, err := syntax.Parse(flags+expr, syntax.Perl); err == nil {
		m.needles = needles(tree.Simplify())
	}
	return m, nil
}

// And returns a matcher for lines that both match. Either may be nil.
func (m *Matcher) And(other *Matcher) *Matcher {
	if m == nil {
		return other
	}
	if other == nil {
		return m
	}
	both := func(s string) bool { return m.verify(s) && other.verify(s) }
	return &Matcher{needles: m.needles, verify: both, re: m.re}
}

// Match reports whether a line with this cleaned text matches.
func (m *Matcher) Match(text string) bool { return m.verify(text) }

// Marks returns the matches in a cleaned text, as pairs of byte indexes.
func (m *Matcher) Marks(text string) [][]int {
	if m == nil || m.re == nil {
		return nil
	}
	const maxMatches = 1000
	return m.re.FindAllStringIndex(text, maxMatches)
}

// next returns the index of the next line that may match, at or after from, which must be the
// beginning of a line. It is -1 if there is none.
func (m *Matcher) next(data []byte, from int) int {
	if len(m.needles) == 0 {
		return from
	}
	first := -1
	rest := data[from:]
	for _, n := range m.needles {
		if i := n.index(rest); i >= 0 {
			first, rest = i, rest[:i+len(n.text)-1] // other needles matter only before it
		}
	}
	if i := indexAltered(rest); i >= 0 {
		first = i
	}
	if first < 0 {
		return -1
	}
	return from + bytes.LastIndexByte(data[from:from+first], '\n') + 1
}

// indexAltered returns the index of the first byte that may look different on the screen than
// in the file: color codes, control characters and invisible characters may be inside a
// word, a tab is shown as a space, and some non-ASCII letters fold to ASCII ones. Line ends
// do not count. It tests eight bytes at a time.
func indexAltered(data []byte) int {
	const ones, low, high = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	zero := func(x uint64) uint64 { return ^((x&low + low) | x) & high } // sets the high bit of each zero byte
	at := 0
	for ; at+8 <= len(data); at += 8 {
		x := binary.LittleEndian.Uint64(data[at:])
		control := ^(x&low + (0x80-' ')*ones) & high
		if x&high|control&^zero(x^'\n'*ones)&^zero(x^'\r'*ones)|zero(x^0x7f*ones) != 0 {
			break
		}
	}
	for ; at < len(data); at++ {
		if c := data[at]; c < ' ' && c != '\n' && c != '\r' || c > '~' {
			return at
		}
	}
	return -1
}

func (n needle) index(data []byte) int {
	if !n.fold {
		return bytes.Index(data, n.text)
	}
	low := n.text[n.rareIndex]
	up := low
	if low >= 'a' && low <= 'z' {
		up -= 'a' - 'A'
	}
	for at := n.rareIndex; at <= len(data)-len(n.text)+n.rareIndex; at++ {
		i := indexEither(data[at:len(data)-len(n.text)+n.rareIndex+1], low, up)
		if i < 0 {
			return -1
		}
		at += i
		start := at - n.rareIndex
		if c := data[start+n.secondIndex]; c|0x20 != n.text[n.secondIndex]|0x20 {
			continue
		}
		if bytes.EqualFold(data[start:start+len(n.text)], n.text) {
			return start
		}
	}
	return -1
}

// indexEither returns the index of the first occurrence of a or b. It searches in pieces, so
// that the search for a rare byte does not scan far ahead of the other.
func indexEither(data []byte, a, b byte) int {
	if a == b {
		return bytes.IndexByte(data, a)
	}
	const piece = 4096
	for from := 0; from < len(data); from += piece {
		part := data[from:min(from+piece, len(data))]
		i := bytes.IndexByte(part, a)
		if i >= 0 {
			part = part[:i]
		}
		if j := bytes.IndexByte(part, b); j >= 0 {
			i = j
		}
		if i >= 0 {
			return from + i
		}
	}
	return -1
}

// needles returns texts of which at least one is in every match of the expression. It is
// empty if there are no such texts.
func needles(re *syntax.Regexp) []needle {
	switch re.Op {
	case syntax.OpLiteral:
		return literalNeedles(re)
	case syntax.OpCapture, syntax.OpPlus:
		return needles(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needles(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []needle
		for _, sub := range re.Sub {
			if ns := needles(sub); len(ns) > 0 && (best == nil || shortestLen(ns) > shortestLen(best)) {
				best = ns
			}
		}
		return best
	case syntax.OpAlternate:
		var all []needle
		for _, sub := range re.Sub {
			ns := needles(sub)
			if len(ns) == 0 {
				return nil
			}
			all = append(all, ns...)
		}
		if len(all) <= 16 {
			return all
		}
	}
	return nil
}

func shortestLen(ns []needle) int {
	n := len(ns[0].text)
	for _, x := range ns {
		n = min(n, len(x.text))
	}
	return n
}

// commonBytes lists characters by their approximate frequency in logs, the most frequent first.
const commonBytes = " e0taonirs1lcdpu2m_3f.4-g5h/6=b:7y89wvk\",xjqz"

// literalNeedles returns the longest part of a literal that looks the same in the file and on
// the screen. It excludes non-ASCII characters and ?, which replaces invalid bytes.
func literalNeedles(re *syntax.Regexp) []needle {
	best := ""
	for _, w := range strings.FieldsFunc(string(re.Rune), func(r rune) bool { return r < ' ' || r > '~' || r == '?' }) {
		if len(w) > len(best) {
			best = w
		}
	}
	if best == "" {
		return nil
	}
	n := needle{text: []byte(best), fold: re.Flags&syntax.FoldCase != 0}
	if !n.fold {
		return []needle{n}
	}
	n.text = bytes.ToLower(n.text)
	n.rareIndex = rarestByte(n.text, -1)
	n.secondIndex = rarestByte(n.text, n.rareIndex)
	return []needle{n}
}

// rarestByte returns the index of the rarest character of a text, except one index.
func rarestByte(text []byte, except int) int {
	best, rank := max(except, 0), -1
	for i, c := range text {
		r := strings.IndexByte(commonBytes, c)
		if r < 0 {
			r = len(commonBytes)
		}
		if i != except && r > rank {
			best, rank = i, r
		}
	}
	return best
}
