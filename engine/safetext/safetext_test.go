package safetext

import (
	"strings"
	"testing"
	"unicode"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "0: ready", "0: ready"},
		{"colour", "\x1b[31merror\x1b[0m", "error"},
		{"title", "a\x1b]0;owned\x07b", "ab"},
		{"carriage return and bell", "a\rb\a", "ab"},
		{"tab", "a\tb", "a b"},
		{"right to left", "a\u202eb", "ab"},
		{"C1 loses its power", "a\u009b31mb", "a31mb"},
		{"invalid", "a\xffb", "a?b"},
		{"NUL", "a\x00b", "ab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31mb\u009bc\x1b]8;;x\x1b\\d")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Clean(s); strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Errorf("Clean(%q) = %q still holds control characters", s, got)
		}
	})
}
