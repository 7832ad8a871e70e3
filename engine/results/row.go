package results

import (
	"fmt"
	"hash/maphash"
	"math"
	"strconv"
)

// request is one request row, reduced to what the figures need. Unknown floats
// are NaN, unknown counts and ids are -1.
type request struct {
	// key is a hash of the request's identity: phase, user, conversation, turn,
	// request_id. The latter is shared by all turns of one pass through a
	// trajectory, so it is never a key alone. 0 when both ids are unknown.
	key                   uint64
	phase, user           int32
	start, end            float64 // Unix s; start stands in for a missing one, see placed
	ttft, itl, sse        float64 // s, s/tok, tok/s
	input, output, cached int64   // tokens by the server's count
	concurrency           int32
	failed                bool
	placed                bool // start is the row's own start_time
}

func (r *request) seconds() float64 { return r.end - r.start }

// row is a request with what only the look for client restarts needs.
type row struct {
	request
	conversation, pass uint64 // hashes of conversation_id and request_id, 0 when unknown
	turn               int32
}

// parseRow decodes one line of requests.jsonl or of an analysis file. Any key
// may be missing or null, which is unknown and never 0 (except phase_idx, which
// is 0 then). A key of another type is an error.
func parseRow(seed maphash.Seed, line []byte) (row, error) {
	nan := math.NaN()
	r := row{request: request{
		start: nan, end: nan, ttft: nan, itl: nan, sse: nan,
		input: -1, output: -1, cached: -1, user: -1, concurrency: -1,
	}, turn: -1}
	err := scanObject(line, func(key, value []byte) error {
		if string(value) == "null" {
			return nil
		}
		err := r.set(seed, key, value)
		if err != nil {
			return fmt.Errorf("%s %.40q: %w", key, value, err)
		}
		return nil
	})
	r.placed = !math.IsNaN(r.start)
	return r, err
}

// identify sets the key.
func (r *row) identify(seed maphash.Seed) {
	if r.conversation|r.pass == 0 {
		return
	}
	r.key = max(1, maphash.Comparable(seed, [5]uint64{
		uint64(r.phase), uint64(r.user), uint64(r.turn), r.conversation, r.pass,
	}))
}

func (r *row) set(seed maphash.Seed, key, value []byte) (err error) {
	switch string(key) {
	case "phase_idx":
		r.phase, err = parseIndex(value)
	case "concurrency":
		r.concurrency, err = parseIndex(value)
	case "conversation_id":
		r.conversation, err = parseID(seed, value)
	case "conversation_idx":
		r.turn, err = parseIndex(value)
	case "user_id":
		r.user, err = parseIndex(value)
	case "request_id":
		r.pass, err = parseID(seed, value)
	case "start_time":
		r.start, err = parseNumber(value)
	case "end_time":
		r.end, err = parseNumber(value)
	case "server_input_tokens":
		r.input, err = parseCount(value)
	case "server_output_tokens":
		r.output, err = parseCount(value)
	case "server_cached_tokens":
		r.cached, err = parseCount(value)
	case "ttft":
		r.ttft, err = parseNumber(value)
	case "itl":
		r.itl, err = parseNumber(value)
	case "sse_output_speed":
		r.sse, err = parseNumber(value)
	case "success", "has_output":
		switch string(value) {
		case "false":
			r.failed = true
		case "true":
		default:
			err = fmt.Errorf("want true or false")
		}
	}
	return err
}

// parseNumber gives NaN for what is no finite number ≥ 0: Python's NaN and
// Infinity, and times or speeds that can't be.
func parseNumber(value []byte) (float64, error) {
	switch value[0] {
	case 'N', 'I', '-':
		return math.NaN(), nil
	}
	if !isDigit(value[0]) {
		return 0, fmt.Errorf("want a number")
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return math.NaN(), nil // scanned as a number, so it is one beyond float64
	}
	return f, nil
}

// parseCount accepts 124 and 124.0; what is no count is unknown.
func parseCount(value []byte) (int64, error) {
	if n, ok := digits(value); ok {
		return n, nil
	}
	f, err := parseNumber(value)
	if err != nil {
		return -1, err
	}
	if f != math.Trunc(f) || f > 1<<53 {
		return -1, nil
	}
	return int64(f), nil
}

// digits reads a plain whole number of at most 15 digits.
func digits(value []byte) (n int64, ok bool) {
	if len(value) > 15 {
		return 0, false
	}
	for _, c := range value {
		if !isDigit(c) {
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
		return -1, fmt.Errorf("want a whole number from 0 to 2147483647")
	}
	return int32(n), nil
}

// parseID hashes a string; a number is taken as its digits.
func parseID(seed maphash.Seed, value []byte) (uint64, error) {
	if value[0] == '"' {
		text, err := unquote(value)
		if err != nil {
			return 0, err
		}
		value = text
	} else if !isDigit(value[0]) {
		return 0, fmt.Errorf("want a string")
	}
	return maphash.Bytes(seed, value), nil
}
