package logview

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Matcher says whether a line is wanted. It looks for words that such a line must
// have before it takes a line apart.
type Matcher struct {
	needles []needle // one of these must be in the line; none: any line may match
	verify  func(text string) bool
	re      *regexp.Regexp // of a search, for its marks
}

// needle is a text that is in the file as it is on the screen.
type needle struct {
	text        []byte
	fold        bool // whatever its case; text is in lower case then
	rareIndex   int  // index of a byte of text that is rare in logs, and of one nearly as rare
	secondIndex int
}

// Regexp matches the lines in whose safe text a regular expression (RE2) is found.
// Case counts only where the expression has a capital letter.
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

// And matches the lines that both match; each may be nil.
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

// Match says whether a line with this safe text is wanted.
func (m *Matcher) Match(text string) bool { return m.verify(text) }

// Marks are the parts of a safe text that were searched for, as pairs of byte indexes.
func (m *Matcher) Marks(text string) [][]int {
	if m == nil || m.re == nil {
		return nil
	}
	const most = 1000
	return m.re.FindAllStringIndex(text, most)
}

// next is where the next line begins that may match, at or after from, which is
// the beginning of a line; -1 if there is none.
func (m *Matcher) next(data []byte, from int) int {
	if len(m.needles) == 0 {
		return from
	}
	first := -1
	rest := data[from:]
	for _, n := range m.needles {
		if i := n.index(rest); i >= 0 {
			first, rest = i, rest[:i+len(n.text)-1] // the others count only before it
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

// indexAltered is the first byte that may make a text look otherwise on the screen than it
// stands in the file: colours, control characters and marks that are not shown may
// stand inside of a word, a tab is shown as a blank, and some letters beyond ASCII have
// the same capitals. It looks at eight bytes at once; ends of lines are not odd.
func indexAltered(data []byte) int {
	const ones, low, high = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	zero := func(x uint64) uint64 { return ^((x&low + low) | x) & high } // high bits of the bytes that are 0
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

// indexEither finds the first of two bytes, piece by piece, so that a rare one
// does not make the search for it run ahead.
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

// needles are texts of which one must be in what the expression matches; none if
// that can't be told.
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

// commonBytes are characters in the order of how often they occur in logs, roughly.
const commonBytes = " e0taonirs1lcdpu2m_3f.4-g5h/6=b:7y89wvk\",xjqz"

// literalNeedles is the longest part of a literal that looks in the file as it does on the
// screen: what is not ASCII may not, nor do marks in the place of invalid bytes.
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

// rarestByte is the index of the rarest character of a text, one index left out.
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
