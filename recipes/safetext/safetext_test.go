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
		{"color", "\x1b[31merror\x1b[0m", "error"},
		{"title", "a\x1b]0;owned\x07b", "ab"},
		{"carriage return and bell", "a\rb\a", "ab"},
		{"tab", "a\tb", "a b"},
		{"right to left", "a\u202eb", "ab"},
		{"C1 control sequence introducer", "a\u009b31mb", "a31mb"},
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

func TestCleanKeepColors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "0: ready", "0: ready"},
		{"color", "\x1b[31merror\x1b[0m", "\x1b[31merror\x1b[0m\x1b[m"},
		{"color that does not end", "a\x1b[38;5;9mb", "a\x1b[38;5;9mb\x1b[m"},
		{"cursor and title", "a\x1b[2J\x1b]0;owned\x07b\x1b[?25l", "ab"},
		{"control and bidi", "a\r\x00\u202e\tb\xff", "a b?"},
		{"private sequence", "a\x1b[>4mb", "ab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := CleanKeepColors(c.in); got != c.want {
				t.Errorf("CleanKeepColors(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// The result of CleanKeepColors has no other escape sequences than colors.
func FuzzCleanKeepColors(f *testing.F) {
	f.Add("a\x1b[31mb\u009bc\x1b]8;;x\x1b\\d")
	f.Fuzz(func(t *testing.T, s string) {
		left := CleanKeepColors(s)
		for {
			from := strings.IndexByte(left, 0x1b)
			if from < 0 {
				break
			}
			n := strings.IndexByte(left[from:], 'm')
			if n < 0 || !setsColor(left[from:from+n+1]) {
				t.Fatalf("CleanKeepColors(%q) = %q holds another sequence", s, left)
			}
			left = left[:from] + left[from+n+1:]
		}
		if strings.ContainsFunc(left, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
		}) {
			t.Errorf("CleanKeepColors(%q) = %q still holds control characters", s, left)
		}
	})
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31mb\u009bc\x1b]8;;x\x1b\\d")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Clean(s); strings.ContainsFunc(got, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
		}) {
			t.Errorf("Clean(%q) = %q still holds control characters", s, got)
		}
	})
}

func TestClip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 9, "short"},
		{"exactly", 7, "exactly"},
		{"too long", 3, "too…"},
		{"é cut in half", 1, "…"},
		{"a\x1b[31m\tb\u009b\xff", 20, "a?[31m?b??"},
	} {
		if got := Clip(c.in, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
