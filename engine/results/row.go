package results

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"strconv"

	"github.com/agentperf/agentperf-tui/engine/jsonrow"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// seed is the seed of all hashes. It is shared so that the rows of two runs can be paired.
var seed = maphash.MakeSeed()

// row is a parsed request row.
type row struct {
	Request
	// key is a hash of phase, user, conversation, turn and request_id. All turns of a pass
	// through a trajectory have the same request_id. Where one of them is unknown, the start
	// of the user's request takes its place. The key is 0 if that is unknown too.
	key       uint64
	errorKind string
	// outOfRange and wrongType each name the first field of the row with such a value, and the
	// value, which is treated as unknown.
	outOfRange, wrongType string
}

// rowFlags tell what a row says besides the values of a Request.
type rowFlags uint16

const (
	noPhase      rowFlags = 1 << iota // phase_idx is unknown; the phase is 0
	successFalse                      // success is false
	noOutput                          // has_output is false
	lacksConcurrency
	lacksStart // the row does not have the key; a null is not a missing key
	lacksEnd
	lacksInput
	lacksOutput
	lacksCached
	lacksTTFT
	lacksITL
	lacksSSE
	lacksSuccess
	lacksHasOutput
	lacksKind
	lacksAny = ^(noPhase | successFalse | noOutput) & (lacksKind<<1 - 1)
)

// parseRow parses a line of requests.jsonl or of an analysis file. The phase of an analysis file is
// known; for requests.jsonl it is negative. Missing keys and null are unknown, not 0, except that
// phase_idx is 0. So are values of the wrong type or out of range. If a key occurs twice, the last
// value counts. A line that is not a JSON object is an error.
func parseRow(line []byte, phase int, r *row) error {
	nan := math.NaN()
	*r = row{Request: Request{
		Start: nan, End: nan, TTFT: nan, ITL: nan, SSE: nan,
		Input: -1, Output: -1, Cached: -1, User: -1, Turn: -1, concurrency: -1,
	}}
	p := rowParser{out: r, phase: -1, Scanner: jsonrow.Scanner{Line: smallfile.TrimBOM(line)}}
	if err := p.parse(); err != nil {
		return err
	}
	if phase >= 0 {
		p.phase = int32(min(phase, math.MaxUint16))
	}
	switch {
	case p.phase < 0:
		r.flags |= noPhase
	case p.phase > math.MaxUint16:
		r.flags |= noPhase
		p.outOfRange.add(phaseField)
		note(&r.outOfRange, phaseField, strconv.AppendInt(nil, int64(p.phase), 10))
	default:
		r.phase = uint16(p.phase)
	}
	r.Failed = r.flags&(successFalse|noOutput) != 0
	if p.outOfRange == 0 { // a later value of the key was valid
		r.outOfRange = ""
	}
	if p.wrongType == 0 {
		r.wrongType = ""
	}
	r.noStartTime = math.IsNaN(r.Start)
	r.Request.Conversation, r.Request.Pass = uint32(p.conversation>>32), uint32(p.requestID>>32)
	r.key = p.identity()
	return nil
}

// identity returns the key of the row.
func (r *rowParser) identity() uint64 {
	o := r.out
	ids := combineHash(r.conversation, r.requestID)
	user, turn := uint64(uint32(o.User)), uint64(uint32(o.Turn))
	switch {
	case r.conversation != 0 && r.requestID != 0 && o.Turn >= 0:
	case o.User >= 0 && !o.noStartTime:
		// Without an id, several requests of a user may have the same other ids, but a user has only
		// one request in flight.
		ids = combineHash(ids, math.Float64bits(o.Start))
	default:
		return 0
	}
	return max(1, combineHash(combineHash(ids, user), turn<<16|uint64(o.phase)))
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
type field uint8

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

// fieldSet is a set of fields.
type fieldSet uint32

func (s fieldSet) has(f field) bool { return s&(1<<(f&31)) != 0 }
func (s *fieldSet) add(f field)     { *s |= 1 << (f & 31) }
func (s *fieldSet) remove(f field)  { *s &^= 1 << (f & 31) }

// lacking returns the flags for the fields that are not in the set. Those from startField
// on are in the same order.
func (s fieldSet) lacking() rowFlags {
	lacks := rowFlags(^s>>startField) * lacksStart & lacksAny
	if !s.has(concurrencyField) {
		lacks |= lacksConcurrency
	}
	return lacks
}

// compactNames are the names with quotes and colon, as the client writes them, and spacedNames
// with a space after the colon, as Python does by default.
var compactNames, spacedNames = quotedNames(":"), quotedNames(": ")

func quotedNames(colon string) (written [unknownField + 1]string) {
	for f, name := range fieldNames {
		written[f] = strconv.Quote(name) + colon
	}
	return written
}

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
	conversation, requestID uint64   // hashes; 0 if unknown
	phase                   int32    // -1 if unknown
	outOfRange, wrongType   fieldSet // fields whose last value is invalid in this way
}

func (r *rowParser) parse() error {
	if err := r.Open(); err != nil {
		return err
	}
	expected, seen, names := phaseField, fieldSet(0), &compactNames
	for {
		more, err := r.More()
		if err != nil || !more {
			r.out.flags |= seen.lacking()
			return err
		}
		f := expected
		if name := names[f]; name != "" && bytes.HasPrefix(r.Line[r.At:], []byte(name)) {
			r.At += len(name)
			expected++
		} else {
			key, err := r.Key()
			if err != nil {
				return err
			}
			if f = fieldOf(key); f != unknownField {
				expected = f + 1
			}
		}
		again := seen.has(f)
		if seen.add(f); !again && r.parseFast(f) {
			continue
		}
		if r.At < len(r.Line) && r.Line[r.At] <= ' ' {
			names = &spacedNames
			if r.SkipSpace(); !again && r.parseFast(f) {
				continue
			}
		}
		from := r.At
		if err := r.Value(); err != nil {
			return err
		}
		if f != unknownField {
			r.parseValue(f, r.Line[from:r.At])
		}
	}
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

// countField returns where a whole number is stored, or nil if the field is not one.
func (r *rowParser) countField(f field) *int32 {
	switch f {
	case phaseField:
		return &r.phase
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

// parseValue parses the scanned value of a field.
func (r *rowParser) parseValue(f field, value []byte) {
	r.outOfRange.remove(f)
	r.wrongType.remove(f)
	switch r.setField(f, value) {
	case valueOutOfRange:
		r.outOfRange.add(f)
		note(&r.out.outOfRange, f, value)
	case valueOfWrongType:
		r.wrongType.add(f)
		note(&r.out.wrongType, f, value)
	}
}

// note keeps the first of several values.
func note(first *string, f field, value []byte) {
	if *first == "" {
		*first = fmt.Sprintf("%s %.40s", fieldNames[f], value)
	}
}

// setField sets a field to a scanned value, or to unknown if the value is null or invalid.
func (r *rowParser) setField(f field, value []byte) (ok valueState) {
	switch f {
	case conversationField:
		r.conversation, ok = parseID(value)
		return ok
	case requestIDField:
		r.requestID, ok = parseID(value)
		return ok
	case successField:
		return r.setIfFalse(successFalse, value)
	case hasOutputField:
		return r.setIfFalse(noOutput, value)
	case kindField:
		r.out.errorKind, ok = parseKind(value)
		return ok
	}
	if to := r.countField(f); to != nil {
		*to, ok = parseWhole(value, math.MaxInt32)
		return ok
	}
	*r.numberField(f), ok = parseNumber(value, maxValue(f))
	return ok
}

// setIfFalse sets a flag if the value is false.
func (r *rowParser) setIfFalse(flag rowFlags, value []byte) valueState {
	r.out.flags = setFlag(r.out.flags, flag, value[0] == 'f')
	switch value[0] {
	case 't', 'f', 'n':
		return valueValid
	}
	return valueOfWrongType
}

func setFlag(flags, flag rowFlags, on bool) rowFlags {
	if on {
		return flags | flag
	}
	return flags &^ flag
}
