package results

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strconv"

	"github.com/agentperf/agentperf-tui/engine/jsonrow"
)

// valueState tells whether a scanned JSON value is valid for its field. Null is valid: it stands
// for an unknown value.
type valueState int

const (
	valueValid valueState = iota
	valueOutOfRange
	valueOfWrongType
)

// number returns a scanned JSON value as a number. It returns NaN for null, for values of
// other types, and for Python's NaN and Infinity.
func number(value []byte) (float64, valueState) {
	switch c := value[0]; {
	case c == 'n':
		return math.NaN(), valueValid
	case c == 'N' || c == 'I' || c == '-' && value[1] == 'I':
		return math.NaN(), valueOutOfRange
	case c != '-' && !jsonrow.IsDigit(c):
		return math.NaN(), valueOfWrongType
	}
	if f, n := parseDecimal(value); n == len(value) {
		return f, valueValid
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil { // overflows float64
		return math.NaN(), valueOutOfRange
	}
	return f, valueValid
}

// parseNumber returns a number from 0 to most, or NaN.
func parseNumber(value []byte, most float64) (float64, valueState) {
	f, ok := number(value)
	if f < 0 || f > most {
		return math.NaN(), valueOutOfRange
	}
	return f + 0, ok // -0 + 0 is 0
}

// parseWhole returns a whole number from 0 to most, in any form such as 124, 124.0 or 1.24e2, or -1.
func parseWhole(value []byte, most int32) (int32, valueState) {
	f, ok := number(value)
	switch {
	case math.IsNaN(f):
		return -1, ok
	case f != math.Trunc(f) || f < 0 || f > float64(most):
		return -1, valueOutOfRange
	}
	return int32(f), valueValid
}

// parseID returns the hash of a string, or of the digits of a number. It returns 0 if it is
// unknown.
func parseID(value []byte) (uint64, valueState) {
	switch c := value[0]; {
	case c == 'n':
		return 0, valueValid
	case c == '"':
		text, err := jsonrow.Unquote(value)
		if err != nil {
			return 0, valueOfWrongType
		}
		value = text
	case c != '-' && !jsonrow.IsDigit(c):
		return 0, valueOfWrongType
	case !isDigits(value) || len(value) > maxPlainDigits:
		switch f, ok := number(value); {
		case math.IsNaN(f):
			return 0, ok
		case f == 0:
			value = []byte("0")
		default:
			value = plainNumber(value)
		}
	}
	return max(1, maphash.Bytes(seed, value)), valueValid
}

// maxPlainDigits is the length of whole numbers that plainNumber writes without an exponent.
const maxPlainDigits = 64

// plainNumber returns the one spelling of a number that is not 0 as a float64: 12 for 12.0 and
// 1.2e1, 12e-1 for 1.20.
func plainNumber(value []byte) []byte {
	digits, negative := bytes.CutPrefix(value, []byte("-"))
	exponent := 0
	if e := bytes.IndexAny(digits, "eE"); e >= 0 {
		exponent, _ = strconv.Atoi(string(digits[e+1:])) // in the range of a float64
		digits = digits[:e]
	}
	whole, fraction, _ := bytes.Cut(digits, []byte("."))
	exponent -= len(fraction)
	digits = bytes.TrimLeft(slices.Concat(whole, fraction), "0")
	short := bytes.TrimRight(digits, "0")
	exponent += len(digits) - len(short)
	if exponent >= 0 && len(short)+exponent <= maxPlainDigits {
		short = append(short, bytes.Repeat([]byte("0"), exponent)...)
	} else {
		short = fmt.Appendf(short, "e%d", exponent)
	}
	if negative {
		short = append([]byte("-"), short...)
	}
	return short
}

func isDigits(value []byte) bool {
	for _, c := range value {
		if !jsonrow.IsDigit(c) {
			return false
		}
	}
	return true
}

const (
	maxKind       = 62 // bytes of an error kind
	maxQuotedKind = 2 + 6*maxKind
)

// parseKind parses an error kind, which is a word of letters, digits, "_", "-" and ".". It
// returns an empty string for other texts.
func parseKind(value []byte) (string, valueState) {
	switch {
	case value[0] == 'n':
		return "", valueValid
	case value[0] != '"':
		return "", valueOfWrongType
	case len(value) > maxQuotedKind:
		return "", valueValid
	}
	text, err := jsonrow.Unquote(value)
	if err != nil || len(text) > maxKind {
		return "", valueValid
	}
	for _, c := range text {
		if c != '_' && c != '-' && c != '.' && !jsonrow.IsDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') {
			return "", valueValid
		}
	}
	return string(text), valueValid
}
