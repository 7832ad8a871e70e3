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

// seed of all hashes of this process, so that the rows of two runs can be paired.
var seed = maphash.MakeSeed()

// row is a request with what it is known by.
type row struct {
	Request
	// key is a hash of the request's identity: phase, user, conversation, turn,
	// request_id. The latter is shared by all turns of one pass through a
	// trajectory, so it is never a key alone. 0 when both ids are unknown.
	key        uint64
	errorKind  string
	outOfRange string // the first value that can't be, with its field; it is taken as unknown
}

// parseRow decodes one line of requests.jsonl or of an analysis file, of which the phase is known;
// it is negative for the former. Any key may be missing or null, which is unknown and never 0
// (except phase_idx, which is 0 then). A key of another type is an error.
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
	if p.conversation != 0 && p.requestID != 0 { // without either, a second pass through a trajectory looks like the first
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

// mixed joins two hashes.
func combineHash(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd1b54a32d192ed03)
	return high ^ low
}

// field is a key that is needed, in the order in which the client writes them.
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

// writtenNames are the names as the client writes them, quotes and colon included.
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
	conversation, requestID uint64 // hashes, 0 when unknown
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
		if value := r.Line[from:r.At]; f != unknownField && value[0] != 'n' { // null: no other JSON value begins so
			if err := r.parseValue(f, value); err != nil {
				return fmt.Errorf("%s: %.40q %w", fieldNames[f], value, err)
			}
		}
	}
}

// number is where the number of a field goes; nil for other fields.
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

// most is the greatest value of a field that can be: beyond it the row is broken, not the run slow.
func maxValue(f field) float64 {
	switch f {
	case startField, endField:
		return 4e9 // Unix s, in the year 2096
	case sseField:
		return 1e9 // tok/s
	}
	return 1e7 // s, some months
}

// doubt takes back a value that can't be.
func (r *rowParser) markOutOfRange(f field, value []byte) {
	if r.out.outOfRange == "" {
		r.out.outOfRange = fmt.Sprintf("%s %.40s", fieldNames[f], value)
	}
}

// count is where the whole number of a field goes; nil for other fields.
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

// quick reads a number in the form that nearly all have, in one go. False
// leaves it to be scanned and read in any form.
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

// stops tells whether a value ends before i.
func (r *rowParser) endsAt(i int) bool {
	return i < len(r.Line) && (r.Line[i] == ',' || r.Line[i] == '}')
}

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

// parseKind takes a plain word; anything else is no kind.
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

// parseNumber gives NaN for what is no finite number ≥ 0: Python's NaN and
// Infinity, and times or speeds that can't be.
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
	return math.NaN(), nil // scanned as a number, so it is one beyond float64
}

// parseCount accepts 124 and 124.0; what can't be a request's count of tokens is unknown.
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

// digits reads a plain whole number of at most 15 digits.
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

// parseIndex accepts whole numbers.
func parseIndex(value []byte) (int32, error) {
	n, ok := digits(value)
	if !ok || n > math.MaxInt32 {
		return -1, problem.New(problem.RowsUnreadable, "is not a whole number from 0 to 2147483647")
	}
	return int32(n), nil
}

// parseID hashes a string; a number is taken as its digits.
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
