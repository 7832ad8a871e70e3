package job

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestTailFindsFatalLinesInPieces(t *testing.T) {
	t.Parallel()
	patterns := []*regexp.Regexp{regexp.MustCompile(`Rank\d+ Task exit code: 0*[1-9]`)}
	for _, c := range []struct {
		name   string
		pieces []string
		want   string
	}{
		{"nothing", []string{"a\nb\n"}, ""},
		{"code 0", []string{"Rank3 Task exit code: 0\n"}, ""},
		{"at once", []string{"x\nRank3 Task exit code: 137\ny\n"}, "Rank3 Task exit code: 137"},
		{"in pieces", []string{"x\nRank3 Task", " exit code: 1", "37\n"}, "Rank3 Task exit code: 137"},
		{"not whole yet", []string{"Rank3 Task exit code: 1"}, ""},
		{
			"behind a very long line",
			[]string{strings.Repeat("x", 200_000), "\nRank0 Task exit code: 1\n"},
			"Rank0 Task exit code: 1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tl := &logTail{path: filepath.Join(t.TempDir(), "log")}
			got := tl.firstMatch(patterns) // the log is not there yet
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
