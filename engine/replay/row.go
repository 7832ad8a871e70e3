package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/agentperf/agentperf-tui/engine/jsonrow"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// span is a range of bytes in a file or in a row.
type span struct {
	off int64
	len int
}

// row is one line of a trajectory file: a turn and the id of its conversation.
type row struct {
	turn
	conversation string
}

// parseRow parses a line; its spans are relative to the line. delayKey is the key of the tool-call
// delay in milliseconds; if it is empty, there are no delays.
func parseRow(line []byte, delayKey string) (row, error) {
	if !json.Valid(line) {
		return row{}, problem.Errorf(problem.DatasetInvalid, "not valid JSON: %w", json.Unmarshal(line, new(json.RawMessage)))
	}
	if c := bytes.TrimLeft(line, " \t\r\n"); c[0] != '{' {
		return row{}, problem.New(problem.DatasetInvalid, "not a JSON object; each line must hold one turn")
	}
	var r row
	index, limits := -1, [2]int{}
	err := jsonrow.Members(line, func(key, v []byte, off int) (err error) {
		switch string(key) {
		case "": // must not match an empty delayKey
		case "conversation_id":
			err = json.Unmarshal(v, &r.conversation)
		case "conversation_idx":
			index, err = parseCount(v, 0, maxTurns)
		case "messages":
			r.messages, err = parseList(v, off)
		case "tools":
			if !isNull(v) {
				r.tools, err = parseList(v, off)
			}
		case "target_output_tokens":
			limits[0], err = parseOptionalCount(v)
		case "max_output_tokens":
			limits[1], err = parseOptionalCount(v)
		case delayKey:
			r.delay, err = parseMilliseconds(v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
	if err != nil {
		return row{}, err
	}
	r.index, r.limit = index, minLimit(limits[0], limits[1])
	switch {
	case r.conversation == "":
		return row{}, problem.New(problem.DatasetInvalid, "conversation_id is missing or empty")
	case index < 0:
		return row{}, problem.New(problem.DatasetInvalid, "conversation_idx is missing")
	case r.messages.len == 0:
		return row{}, problem.New(problem.DatasetInvalid, "messages is missing")
	case isEmptyList(line[r.messages.off:][:r.messages.len]):
		return row{}, problem.New(problem.DatasetInvalid, "messages is empty; it must hold the conversation so far")
	}
	return r, nil
}

// maxTurns limits the turns of a conversation. The longest recorded ones have a few hundred.
const maxTurns = 1 << 20

// parseCount parses a whole number between low and high.
func parseCount(v []byte, low, high int) (int, error) {
	n, err := strconv.Atoi(string(clip(v)))
	if err != nil || n < low || n > high {
		return 0, problem.Errorf(problem.DatasetInvalid, "must be a whole number from %d to %d, got %.40s", low, high, v)
	}
	return n, nil
}

func parseOptionalCount(v []byte) (int, error) {
	if isNull(v) {
		return 0, nil
	}
	return parseCount(v, 1, math.MaxInt32)
}

func parseMilliseconds(v []byte) (time.Duration, error) {
	if isNull(v) {
		return 0, nil
	}
	const limit = 7 * 24 * 3600 * 1000 // a week; a larger number is probably in another unit
	ms, err := strconv.ParseFloat(string(clip(v)), 64)
	if err != nil || !(ms >= 0 && ms <= limit) {
		return 0, problem.Errorf(problem.DatasetInvalid,
			"must be a number of milliseconds from 0 to %d, got %.40s", limit, v)
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}

func parseList(v []byte, off int) (span, error) {
	if v[0] != '[' {
		return span{}, problem.Errorf(problem.DatasetInvalid, "must be a list, got %.40s", v)
	}
	return span{off: int64(off), len: len(v)}, nil
}

func isNull(v []byte) bool { return v[0] == 'n' }

func isEmptyList(v []byte) bool { return len(bytes.TrimSpace(v[1:len(v)-1])) == 0 }

// clip truncates a value; a valid number is not longer.
func clip(v []byte) []byte { return v[:min(len(v), 40)] }

// minLimit returns the smaller of two limits, where 0 means no limit.
func minLimit(a, b int) int {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
