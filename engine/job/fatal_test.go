package job

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestLogTail(t *testing.T) {
	t.Parallel()
	patterns := []*regexp.Regexp{regexp.MustCompile(`Rank\d+ Task exit code: 0*[1-9]`)}
	for _, c := range []struct {
		name   string
		pieces []string
		want   string
	}{
		{"no match", []string{"a\nb\n"}, ""},
		{"code 0", []string{"Rank3 Task exit code: 0\n"}, ""},
		{"one write", []string{"x\nRank3 Task exit code: 137\ny\n"}, "Rank3 Task exit code: 137"},
		{"several writes", []string{"x\nRank3 Task", " exit code: 1", "37\n"}, "Rank3 Task exit code: 137"},
		{"incomplete line", []string{"Rank3 Task exit code: 1"}, ""},
		{
			"behind a very long line",
			[]string{strings.Repeat("x", 200_000), "\nRank0 Task exit code: 1\n"},
			"Rank0 Task exit code: 1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tl := &logTail{path: filepath.Join(t.TempDir(), "log")}
			got := tl.firstMatch(patterns) // the log does not exist yet
			for _, piece := range c.pieces {
				f, err := os.OpenFile(tl.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.WriteString(piece); err != nil {
					t.Fatal(err)
				}
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				if got == "" {
					got = tl.firstMatch(patterns)
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if cap(tl.partial) > 2*maxLineBytes {
				t.Errorf("holds %d bytes of a line", cap(tl.partial))
			}
		})
	}
}
