package replay

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentperf/agentperf-tui/engine/jsonrow"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// chunk is the part of a stream event, or of a complete answer, that this client uses.
type chunk struct {
	Choices []choice   `json:"choices"`
	Usage   usage      `json:"usage"`
	Error   errorValue `json:"error"`
	Object  errorName  `json:"object"`
	Type    errorName  `json:"type"`
}

// choice has few and small fields, because encoding/json allocates four choices for each event.
type choice struct {
	Delta        message    `json:"delta"`
	Message      *message   `json:"message"` // in a complete answer, instead of delta
	FinishReason *string    `json:"finish_reason"`
	Error        errorValue `json:"error"`
	Index        int32      `json:"index"`
	Object       errorName  `json:"object"`
}

type message struct {
	Content          textSize `json:"content"`
	ReasoningContent textSize `json:"reasoning_content"`
	Reasoning        textSize `json:"reasoning"`
	ToolCalls        []struct {
		Function struct {
			Name      textSize `json:"name"`
			Arguments textSize `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	Error errorValue `json:"error"`
}

// size returns the number of bytes of output.
func (m *message) size() int {
	// Servers that send both fields of reasoning send the same text in both.
	n := m.Content + max(m.ReasoningContent, m.Reasoning)
	for i := range m.ToolCalls {
		n += m.ToolCalls[i].Function.Name + m.ToolCalls[i].Function.Arguments
	}
	return int(n)
}

// output returns the number of bytes of output in the first choice, and its finish reason.
func (c *chunk) output() (size int, finish string) {
	for i := range c.Choices {
		o := &c.Choices[i]
		if o.Index != 0 {
			continue
		}
		size += o.Delta.size()
		if o.Message != nil {
			size += o.Message.size()
		}
		if o.FinishReason != nil && *o.FinishReason != "" {
			finish = *o.FinishReason
		}
	}
	return size, finish
}

// failure returns the kind and text of the failure that the chunk reports, at top level or in any
// choice. The kind is empty if it reports none.
func (c *chunk) failure(data []byte) (errorKind, string) {
	switch {
	case c.Error.text != nil:
		return errorEvent, *c.Error.text
	case bool(c.Object), bool(c.Type):
		return errorEvent, clipText(data)
	}
	for i := range c.Choices {
		o := &c.Choices[i]
		switch {
		case o.Error.text != nil:
			return errorEvent, *o.Error.text
		case o.Delta.Error.text != nil:
			return errorEvent, *o.Delta.Error.text
		case o.Message != nil && o.Message.Error.text != nil:
			return errorEvent, *o.Message.Error.text
		case bool(o.Object):
			return errorEvent, clipText(data)
		case o.FinishReason != nil && namesFailure(*o.FinishReason):
			return errorFinish, fmt.Sprintf("finish reason %.40q", *o.FinishReason)
		}
	}
	return "", ""
}

// failureWords occur in the finish reasons by which servers report that a response failed. Hosted
// services use "insufficient" and "disconnect".
var failureWords = []string{
	"error", "abort", "cancel", "fail", "timeout", "timed", "exception", "interrupt", "insufficient", "disconnect",
}

func namesFailure(finish string) bool {
	finish = strings.ToLower(finish)
	for _, w := range failureWords {
		if strings.Contains(finish, w) {
			return true
		}
	}
	return false
}

// textSize is the length of a JSON string in bytes. The text itself is not used.
type textSize int

// UnmarshalJSON stores the length.
func (s *textSize) UnmarshalJSON(value []byte) error {
	switch {
	case isNull(value):
		return nil
	case value[0] != '"':
		return problem.Errorf(problem.JSONInvalid, "output must be a text, got %.40s", value)
	case bytes.IndexByte(value, '\\') < 0: // the usual case
		*s = textSize(len(value) - len(`""`))
		return nil
	}
	n := 0
	for i := 1; i < len(value)-1; {
		size, next := 1, i+1
		if value[i] == '\\' {
			next = i + len(`\n`)
			if value[i+1] == 'u' {
				next = i + len(`\u0000`)
				c, err := strconv.ParseUint(string(value[i+2:next]), 16, 16)
				if err != nil {
					return err
				}
				if size = utf8.RuneLen(rune(c)); size < 0 {
					size = 2 // half of a surrogate pair
				}
			}
		}
		n, i = n+size, next
	}
	*s = textSize(n)
	return nil
}

// errorValue is the JSON value of a key named error. text is the beginning of the value; it is nil
// for null, false, 0 and "", which some servers send in every event.
type errorValue struct{ text *string }

// UnmarshalJSON stores the value if it reports an error.
func (e *errorValue) UnmarshalJSON(value []byte) error {
	switch string(value) {
	case "null", "false", "0", `""`:
	default:
		e.text = new(clipText(value))
	}
	return nil
}

// errorName tells whether the value of a key is "error", in any letter case.
type errorName bool

// UnmarshalJSON compares the value.
func (e *errorName) UnmarshalJSON(value []byte) error {
	*e = errorName(bytes.EqualFold(value, []byte(`"error"`)))
	return nil
}

// tokenCount is a number of tokens. The zero value is an unknown one.
type tokenCount struct {
	n     int32
	known bool
}

// pointer returns the number, or nil if it is unknown.
func (c tokenCount) pointer() *int {
	if !c.known {
		return nil
	}
	return new(int(c.n))
}

// usage is a server's count of the tokens of a response. A count that is not a whole number in
// range is unknown, and not an error, since the output can be measured.
type usage struct {
	present               bool // neither null nor an empty object
	invalid               bool // a value is of another kind
	input, output, cached tokenCount
}

// UnmarshalJSON reads the counts.
func (u *usage) UnmarshalJSON(value []byte) error {
	return u.members(value, func(key, v []byte, _ int) error {
		u.present = true
		switch string(key) {
		case "prompt_tokens":
			u.input = u.count(v)
		case "completion_tokens":
			u.output = u.count(v)
		case "prompt_tokens_details":
			return u.members(v, func(key, v []byte, _ int) error {
				if string(key) == "cached_tokens" {
					u.cached = u.count(v)
				}
				return nil
			})
		}
		return nil
	})
}

func (u *usage) members(value []byte, visit func(key, v []byte, at int) error) error {
	if value[0] == '{' {
		return jsonrow.Members(value, visit)
	}
	if !isNull(value) {
		u.present, u.invalid = true, true
	}
	return nil
}

// count parses a whole number in any JSON form: 5, 5.0, 5e0.
func (u *usage) count(v []byte) tokenCount {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != math.Trunc(f) || f < 0 || f > math.MaxInt32 {
		u.invalid = u.invalid || !isNull(v)
		return tokenCount{}
	}
	return tokenCount{n: int32(f), known: true}
}
