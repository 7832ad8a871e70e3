package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// member is a member of a JSON object. Its value is nil, a bool, a string, a [json.Number],
// an []any or a []member.
type member struct {
	key   string
	value any
}

// speller writes JSON in any legal spelling. Its choices are the bytes of a text; once they
// are used up, it takes the plainest one.
type speller struct {
	choices []byte
	out     bytes.Buffer
}

func (s *speller) pick(n int) int {
	if len(s.choices) == 0 {
		return 0
	}
	c := s.choices[0]
	s.choices = s.choices[1:]
	return int(c) % n
}

func (s *speller) space() {
	s.out.WriteString([]string{"", " ", "\t", "  ", " \r", "\r\t \t"}[s.pick(6)])
}

func (s *speller) value(v any) {
	switch v := v.(type) {
	case []member:
		s.list('{', '}', len(v), func(i int) {
			s.text(v[i].key)
			s.space()
			s.out.WriteByte(':')
			s.space()
			s.value(v[i].value)
		})
	case []any:
		s.list('[', ']', len(v), func(i int) { s.value(v[i]) })
	case string:
		s.text(v)
	case json.Number:
		s.number(string(v))
	default:
		fmt.Fprint(&s.out, map[any]string{nil: "null", true: "true", false: "false"}[v])
	}
}

func (s *speller) list(open, closing byte, n int, element func(i int)) {
	s.out.WriteByte(open)
	s.space()
	for i := range n {
		if i > 0 {
			s.out.WriteByte(',')
			s.space()
		}
		element(i)
		s.space()
	}
	s.out.WriteByte(closing)
}

var shortEscapes = map[rune]string{
	'"': `\"`, '\\': `\\`, '/': `\/`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`,
}

func (s *speller) text(text string) {
	s.out.WriteByte('"')
	for _, c := range text {
		choice := s.pick(8)
		short, ok := shortEscapes[c]
		switch {
		case ok && choice < 6 && (c != '/' || choice > 0):
			s.out.WriteString(short)
		case c > 0xffff && choice > 0:
			c -= 0x10000
			fmt.Fprintf(&s.out, `\u%04x\u%04X`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		case c <= 0xffff && (choice > 5 || c < ' ' || c == '"' || c == '\\'):
			fmt.Fprintf(&s.out, []string{`\u%04x`, `\u%04X`}[choice%2], c)
		default:
			s.out.WriteRune(c)
		}
	}
	s.out.WriteByte('"')
}

// number writes a plain decimal number with the point at any place and an exponent.
func (s *speller) number(n string) {
	digits, negative := strings.CutPrefix(n, "-")
	if s.pick(3) == 0 || strings.ContainsAny(n, "eE") {
		s.out.WriteString(n)
		return
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	zeros := s.pick(4)
	digits = whole + fraction + strings.Repeat("0", zeros)
	after := s.pick(len(digits) + 1)
	exponent := after - len(fraction) - zeros
	if negative {
		s.out.WriteByte('-')
	}
	head := strings.TrimLeft(digits[:len(digits)-after], "0")
	s.out.WriteString(cmp.Or(head, "0"))
	if after > 0 {
		s.out.WriteString("." + digits[len(digits)-after:])
	}
	if exponent != 0 || s.pick(2) == 1 {
		fmt.Fprintf(&s.out, []string{"e%d", "E%d", "e%+d", "E%+03d"}[s.pick(4)], exponent)
	}
}

// reference reads rows with encoding/json into a map.
type reference struct {
	members               map[string]any
	outOfRange, wrongType bool
}

func (r *reference) number(key string, most float64, whole bool) float64 {
	if r.members[key] == nil {
		return math.NaN()
	}
	n, ok := r.members[key].(json.Number)
	if !ok {
		r.wrongType = true
		return math.NaN()
	}
	f, err := n.Float64()
	if err != nil || f < 0 || f > most || whole && f != math.Floor(f) {
		r.outOfRange = true
		return math.NaN()
	}
	return math.Abs(f)
}

func (r *reference) whole(key string, most float64) int32 {
	if f := r.number(key, most, true); f >= 0 {
		return int32(f)
	}
	return -1
}

func (r *reference) id(key string) uint32 {
	text := ""
	switch v := r.members[key].(type) {
	case nil:
		return 0
	case string:
		text = v
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			r.outOfRange = true
			return 0
		}
		if text = "0"; f != 0 {
			text = exactNumber(string(v))
		}
	default:
		r.wrongType = true
		return 0
	}
	return uint32(maphash.String(seed, text) >> 32)
}

// exactNumber returns a number as a whole number of at most 64 digits, or as the shortest
// whole number and an exponent.
func exactNumber(text string) string {
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	ten := big.NewRat(10, 1)
	places := 0
	for ; !exact.IsInt(); places++ {
		exact.Mul(exact, ten)
	}
	digits := exact.Num().String()
	if sign := strings.Count(digits, "-"); places == 0 && len(digits)-sign <= 64 {
		return digits
	}
	short := strings.TrimRight(digits, "0")
	return fmt.Sprintf("%se%d", short, len(digits)-len(short)-places)
}

func (r *reference) isFalse(key string) bool {
	v, ok := r.members[key].(bool)
	r.wrongType = r.wrongType || !ok && r.members[key] != nil
	return ok && !v
}

func (r *reference) kind() string {
	v, ok := r.members["error_kind"].(string)
	r.wrongType = r.wrongType || !ok && r.members["error_kind"] != nil
	if !regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,62}$`).MatchString(v) {
		return ""
	}
	return v
}

// referenceRow returns the row in a line of requests.jsonl, without its key.
func referenceRow(line []byte) (row, error) {
	in := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(line, []byte("\ufeff"))))
	in.UseNumber()
	r := reference{}
	if err := in.Decode(&r.members); err != nil {
		return row{}, err
	}
	out := row{Request: Request{
		Start: r.number("start_time", 4e9, false), End: r.number("end_time", 4e9, false),
		TTFT: r.number("ttft", 1e7, false), ITL: r.number("itl", 1e7, false), SSE: r.number("sse_output_speed", 1e9, false),
		Input:  r.whole("server_input_tokens", math.MaxInt32),
		Output: r.whole("server_output_tokens", math.MaxInt32),
		Cached: r.whole("server_cached_tokens", math.MaxInt32),
		User:   r.whole("user_id", math.MaxInt32), Turn: r.whole("conversation_idx", math.MaxInt32),
		concurrency:  r.whole("concurrency", math.MaxInt32),
		Conversation: r.id("conversation_id"), Pass: r.id("request_id"),
	}, errorKind: r.kind()}
	out.noStartTime = math.IsNaN(out.Start)
	phase := r.whole("phase_idx", math.MaxUint16)
	out.phase = uint16(max(phase, 0))
	failed, empty := r.isFalse("success"), r.isFalse("has_output")
	out.Failed = failed || empty
	for flag, is := range map[rowFlags]bool{noPhase: phase < 0, successFalse: failed, noOutput: empty} {
		out.flags = setFlag(out.flags, flag, is)
	}
	for i, key := range []string{
		"concurrency", "start_time", "end_time", "server_input_tokens", "server_output_tokens", "server_cached_tokens",
		"ttft", "itl", "sse_output_speed", "success", "has_output", "error_kind",
	} {
		_, has := r.members[key]
		out.flags = setFlag(out.flags, lacksConcurrency<<i, !has)
	}
	if r.outOfRange {
		out.outOfRange = "yes"
	}
	if r.wrongType {
		out.wrongType = "yes"
	}
	return out, nil
}

// row chooses the members of a request row: any of the known keys in any order, others
// before, between and after them, and values that a client should not write.
func (s *speller) row() []member {
	known := slices.Clone(fieldNames[:])
	var row []member
	for s.pick(24) != 23 && len(row) < 40 {
		key := known[(len(row)+s.pick(3)*5)%len(known)]
		if s.pick(6) == 5 {
			key = []string{"x_request_id", "messages", "Ttft", "ttft ", "", "\u00e4\n", strings.Repeat("k", 70)}[s.pick(7)]
			row = append(row, member{key, s.anything(3)})
			continue
		}
		row = append(row, member{key, s.fieldValue(key)})
	}
	return row
}

// fieldValue chooses a value of a known key, mostly one that it can have.
func (s *speller) fieldValue(key string) any {
	if s.pick(6) == 5 {
		return s.anything(2)
	}
	switch key {
	case "conversation_id", "request_id", "error_kind":
		return []string{
			"c", "coding-agent-001", "", "\u00e4/\U0001F600\"\\\x01", strings.Repeat("long", 30), "time_out",
		}[s.pick(6)]
	case "success", "has_output":
		return s.pick(2) == 0
	case "start_time", "end_time", "ttft", "itl", "sse_output_speed":
		return json.Number(
			[]string{"1789642000.2512345", "0.125", "0", "1789642000", "0.0123456789012345678", "0.1"}[s.pick(6)],
		)
	}
	return json.Number([]string{"0", "1", "3", "120", "65536", "2147483647"}[s.pick(6)])
}

// anything chooses any value, with at most so many levels of arrays and objects.
func (s *speller) anything(levels int) any {
	switch s.pick(8) {
	case 0:
		return nil
	case 1:
		return s.pick(2) == 0
	case 2:
		return "3"
	case 3, 4:
		return json.Number([]string{
			"-1", "1.5", "-0", "1e999", "-1e999", "1e-400", "2147483648", "123456789012345678901234567890", "4000000001",
			"99999999999", "1e-99999999999999999999", "0e99999999999999999999", "-12.5e-300",
		}[s.pick(13)])
	case 5:
		return strings.Repeat("text \"quoted\" \\", s.pick(12))
	}
	if levels == 0 {
		return json.Number("7")
	}
	if s.pick(2) == 0 {
		return []any{s.anything(levels - 1), s.anything(levels - 1)}
	}
	return []member{{"ttft", s.anything(levels - 1)}, {"success", false}, {"a", s.anything(levels - 1)}}
}

// sameRows compares rows. Of invalid values it compares whether there are any.
var sameRows = gocmp.Options{
	gocmp.AllowUnexported(row{}, Request{}),
	gocmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }),
	gocmp.FilterPath(func(p gocmp.Path) bool {
		return p.String() == "outOfRange" || p.String() == "wrongType"
	}, gocmp.Comparer(func(a, b string) bool { return (a == "") == (b == "") })),
}

// FuzzSpellings checks that a row in any spelling is read as encoding/json reads it. The
// bytes of a text choose the row and its spelling.
func FuzzSpellings(f *testing.F) {
	f.Add([]byte{})
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		choices := make([]byte, 20*n)
		for i := range choices {
			choices[i] = byte(rng.Uint32())
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		s := speller{choices: choices}
		if s.pick(8) == 7 {
			s.out.WriteString("\ufeff")
		}
		members := s.row()
		s.space()
		s.value(members)
		s.space()
		line := s.out.Bytes()
		want, err := referenceRow(line)
		if err != nil {
			t.Fatalf("%q: not legal JSON: %v", line, err)
		}
		var got, plain row
		if err := parseRow(line, -1, &got); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		want.key = got.key
		if diff := gocmp.Diff(want, got, sameRows); diff != "" {
			t.Fatalf("%q: %s", line, diff)
		}
		simple := speller{}
		simple.value(members)
		if err := parseRow(simple.out.Bytes(), -1, &plain); err != nil {
			t.Fatalf("%q: %v", simple.out.Bytes(), err)
		}
		if diff := gocmp.Diff(plain, got, sameRows); diff != "" {
			t.Fatalf("%q differs from %q: %s", line, simple.out.Bytes(), diff)
		}
	})
}
