package results

import (
	"math"
	"strconv"
	"testing"
)

func TestParseDecimal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		ok   bool
	}{
		{"0", true},
		{"0.5", true},
		{"1789001229.3700964", true},
		{"0.009373104862153953", true},
		{"188.8381732660197", true},
		{"9007199254740993", true}, // 2^53 + 1: halfway between two floats
		{"9007199254740992.5", true},
		{"9999999999999999999", true},
		{"0.0000000000000000001", true},
		{"0.00000000000000000001", false}, // 20 decimal places
		{"1.", false},
		{"01", false},
		{".5", false},
		{"00.5", false},
		{"99999999999999999999", false},
		{"1e3", false},
		{"-1", false},
		{"1.2.3", false},
		{"null", false},
	} {
		got, n := parseDecimal([]byte(tt.text))
		ok := n == len(tt.text)
		if ok != tt.ok {
			t.Errorf("%s: %v, want %v", tt.text, ok, tt.ok)
		}
		want, err := strconv.ParseFloat(tt.text, 64)
		if ok && (err != nil || math.Float64bits(got) != math.Float64bits(want)) {
			t.Errorf("%s: %g, want %g, %v", tt.text, got, want, err)
		}
	}
}

// FuzzParseDecimal checks that the result equals that of strconv.
func FuzzParseDecimal(f *testing.F) {
	f.Add(uint64(17890012293700964), uint8(7))
	f.Add(uint64(1<<53+1), uint8(0))
	f.Add(uint64(math.MaxUint64/2), uint8(18))
	f.Fuzz(func(t *testing.T, digits uint64, point uint8) {
		text := strconv.FormatUint(digits, 10)
		if n := int(point) % (len(text) + 1); n > 0 && n < len(text) {
			text = text[:n] + "." + text[n:]
		}
		got, n := parseDecimal([]byte(text))
		ok := n == len(text)
		want, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if ok && math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s: %g, want %g", text, got, want)
		}
	})
}
