package results

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/jsonrow"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// seed is the seed of all hashes. It is shared so that the rows of two runs can be paired.
var seed = maphash.MakeSeed()

// row is a parsed request row.
type row struct {
	Request
	// key is a hash of phase, user, conversation, turn and request_id. All turns of a pass
	// through a trajectory have the same request_id. The key is 0 if an id is unknown.
	key        uint64
	errorKind  string
	outOfRange string // first field whose value is out of range, with the value; the value is treated as unknown
}

// parseRow parses a line of requests.jsonl or of an analysis file. The phase of an analysis file is
// known; for requests.jsonl it is negative. Missing keys and null are unknown, not 0, except that
// phase_idx is 0. A value of the wrong type is an error.
func parseRow(line []byte, phase int, r *row) error {
	nan := math.NaN()
	*r = row{Request: Request{
		Start: nan, End: nan, TTFT: nan, ITL: nan, SSE: nan,
		Input: -1, Output: -1, Cached: -1, User: -1, Turn: -1, concurrency: -1,
	}}
	p := rowParser{out: r, Scanner: jsonrow.Scanner{Line: line}}
	err := p.parse()
	if phase >= 0 {
		r.phase = uint16(min(phase, math.MaxUint16))
	}
	r.noStartTime = math.IsNaN(r.Start)
	r.Request.Conversation, r.Request.Pass = uint32(p.conversation>>32), uint32(p.requestID>>32)
	if p.conversation != 0 && p.requestID != 0 { // otherwise two passes through a trajectory would have the same key
		user, turn := uint64(uint32(r.User)), uint64(uint32(r.Turn))
		r.key = max(1, combineHash(combineHash(combineHash(p.conversation, p.requestID), user), turn<<16|uint64(r.phase)))
	}
	return err
}

// RowEndTime returns when the request in a line of requests.jsonl ended, in Unix
// seconds. It returns NaN if the line does not contain it.
func RowEndTime(line []byte) float64 {
	var r row
	if err := parseRow(line, -1, &r); err != nil {
		return math.NaN()
	}
	return r.End
}

// combineHash combines two hashes.
func combineHash(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return high ^ low
}

// field is a key of a row that is parsed. Fields are in the order in which the client writes them.
type field int

const (
	phaseField field = iota
	concurrencyField
	conversationField
	turnField
	userField
	requestIDField
	startField
	endField
	inputField
	outputField
	cachedField
	ttftField
	itlField
	sseField
	successField
	hasOutputField
	kindField
	unknownField
)

var fieldNames = [...]string{
	"phase_idx", "concurrency", "conversation_id", "conversation_idx", "user_id", "request_id", "start_time", "end_time",
	"server_input_tokens", "server_output_tokens", "server_cached_tokens", "ttft", "itl", "sse_output_speed", "success",
	"has_output", "error_kind",
}

// quotedNames are the names with quotes and colon, as the client writes them.
var quotedNames = func() (written [unknownField + 1]string) {
	for f, name := range fieldNames {
		written[f] = strconv.Quote(name) + ":"
	}
	return written
}()

func fieldOf(key []byte) field {
	for f, name := range fieldNames {
		if string(key) == name {
			return field(f)
		}
	}
	return unknownField
}

type rowParser struct {
	jsonrow.Scanner
	out                     *row
	conversation, requestID uint64 // hashes; 0 if unknown
}

func (r *rowParser) parse() error {
	if err := r.Open(); err != nil {
		return err
	}
	expected := phaseField
	for {
		more, err := r.More()
		if err != nil || !more {
			return err
		}
		f := expected
		if name := quotedNames[expected]; name != "" && bytes.HasPrefix(r.Line[r.At:], []byte(name)) {
			r.At += len(name)
		} else {
			key, err := r.Key()
			if err != nil {
				return err
			}
			f = fieldOf(key)
		}
		if f != unknownField {
			expected = f + 1
		}
		if r.parseFast(f) {
			continue
		}
		from := r.At
		if err := r.Value(); err != nil {
			return err
		}
		if value := r.Line[from:r.At]; f != unknownField && value[0] != 'n' { // only null starts with n
			if err := r.parseValue(f, value); err != nil {
				return fmt.Errorf("%s: %.40q %w", fieldNames[f], value, err)
			}
		}
	}
}

// numberField returns where a number is stored, or nil if the field is not a number.
func (r *rowParser) numberField(f field) *float64 {
	switch f {
	case startField:
		return &r.out.Start
	case endField:
		return &r.out.End
	case ttftField:
		return &r.out.TTFT
	case itlField:
		return &r.out.ITL
	case sseField:
		return &r.out.SSE
	}
	return nil
}

// maxValue returns the largest plausible value of a field. Larger values are errors in the row.
func maxValue(f field) float64 {
	switch f {
	case startField, endField:
		return 4e9 // Unix s: the year 2096
	case sseField:
		return 1e9 // tok/s
	}
	return 1e7 // s: about four months
}

// markOutOfRange records that a value is out of range.
func (r *rowParser) markOutOfRange(f field, value []byte) {
	if r.out.outOfRange == "" {
		r.out.outOfRange = fmt.Sprintf("%s %.40s", fieldNames[f], value)
	}
}

// countField returns where a whole number is stored, or nil if the field is not one.
func (r *rowParser) countField(f field) *int32 {
	switch f {
	case concurrencyField:
		return &r.out.concurrency
	case turnField:
		return &r.out.Turn
	case userField:
		return &r.out.User
	case inputField:
		return &r.out.Input
	case outputField:
		return &r.out.Output
	case cachedField:
		return &r.out.Cached
	}
	return nil
}

// parseFast parses a number in the usual form. It returns false if the value has another
// form, which parse then scans and parses.
func (r *rowParser) parseFast(f field) bool {
	if to := r.countField(f); to != nil {
		n, i := int32(0), r.At
		for ; i < len(r.Line) && jsonrow.IsDigit(r.Line[i]); i++ {
			n = 10*n + int32(r.Line[i]-'0')
		}
		if i == r.At || i > r.At+9 || !r.endsAt(i) || r.Line[r.At] == '0' && i > r.At+1 {
			return false
		}
		*to, r.At = n, i
		return true
	}
	to := r.numberField(f)
	if to == nil {
		return false
	}
	v, n := parseDecimal(r.Line[r.At:])
	if n == 0 || !r.endsAt(r.At+n) || v > maxValue(f) {
		return false
	}
	*to = v
	r.At += n
	return true
}

// endsAt reports whether a value ends before offset i.
func (r *rowParser) endsAt(i int) bool {
	return i < len(r.Line) && (r.Line[i] == ',' || r.Line[i] == '}')
}

// parseValue parses the scanned value of a field.
func (r *rowParser) parseValue(f field, value []byte) (err error) {
	if to := r.numberField(f); to != nil {
		*to, err = parseNumber(value)
		if err == nil && !(*to <= maxValue(f)) {
			*to = math.NaN()
			r.markOutOfRange(f, value)
		}
		return err
	}
	switch f {
	case phaseField:
		var phase int32
		if phase, err = parseIndex(value); err == nil && phase > math.MaxUint16 {
			err = problem.Errorf(problem.RowsUnreadable, "must be at most %d", math.MaxUint16)
		}
		r.out.phase = uint16(phase)
	case concurrencyField, turnField, userField:
		*r.countField(f), err = parseIndex(value)
	case conversationField:
		r.conversation, err = parseID(value)
	case requestIDField:
		r.requestID, err = parseID(value)
	case inputField, outputField, cachedField:
		to := r.countField(f)
		if *to, err = parseCount(value); err == nil && *to < 0 {
			r.markOutOfRange(f, value)
		}
	case kindField:
		r.out.errorKind = parseKind(value)
	case successField, hasOutputField:
		if value[0] != 't' && value[0] != 'f' {
			err = problem.New(problem.RowsUnreadable, "is not true or false")
		}
		r.out.Failed = r.out.Failed || value[0] == 'f'
	}
	return err
}

// parseKind parses an error kind, which is a word of letters, digits, "_", "-" and ".". It returns
// an empty string for anything else.
func parseKind(value []byte) string {
	if value[0] != '"' || len(value) > 64 {
		return ""
	}
	for _, c := range value[1 : len(value)-1] {
		if c != '_' && c != '-' && c != '.' && !jsonrow.IsDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return ""
		}
	}
	return string(value[1 : len(value)-1])
}

// parseNumber parses a number. It returns NaN for negative numbers and for Python's NaN
// and Infinity, which are not valid times or speeds.
func parseNumber(value []byte) (float64, error) {
	if strings.IndexByte("NI-", value[0]) >= 0 {
		return math.NaN(), nil
	}
	if f, n := parseDecimal(value); n == len(value) {
		return f, nil
	}
	if !jsonrow.IsDigit(value[0]) {
		return 0, problem.New(problem.RowsUnreadable, "is not a number")
	}
	if f, err := strconv.ParseFloat(string(value), 64); err == nil {
		return f, nil
	}
	return math.NaN(), nil // a valid JSON number that overflows float64
}

// parseCount parses a token count such as 124 or 124.0. It returns -1 for other numbers.
func parseCount(value []byte) (int32, error) {
	if n, ok := digits(value); ok && n <= math.MaxInt32 {
		return int32(n), nil
	}
	f, err := parseNumber(value)
	if err != nil || f != math.Trunc(f) || f > math.MaxInt32 {
		return -1, err
	}
	return int32(f), nil
}

// digits parses a whole number of at most 15 digits.
func digits(value []byte) (n int64, ok bool) {
	if len(value) > 15 {
		return 0, false
	}
	for _, c := range value {
		if !jsonrow.IsDigit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// parseIndex parses a whole number.
func parseIndex(value []byte) (int32, error) {
	n, ok := digits(value)
	if !ok || n > math.MaxInt32 {
		return -1, problem.New(problem.RowsUnreadable, "is not a whole number from 0 to 2147483647")
	}
	return int32(n), nil
}

// parseID returns the hash of a string, or of the digits of a number.
func parseID(value []byte) (uint64, error) {
	if value[0] == '"' {
		text, err := jsonrow.Unquote(value)
		if err != nil {
			return 0, err
		}
		value = text
	} else if !jsonrow.IsDigit(value[0]) {
		return 0, problem.New(problem.RowsUnreadable, "is not a string")
	}
	return maphash.Bytes(seed, value), nil
}
