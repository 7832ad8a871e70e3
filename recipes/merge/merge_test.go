package merge

import (
	"strings"
	"testing"
)

func TestThreeWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, base, mine, theirs, want string
		conflicts                      int
	}{
		{"neither", "a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n", 0},
		{"mine", "a\nb\n", "a\nc\n", "a\nb\n", "a\nc\n", 0},
		{"theirs", "a\nb\n", "a\nb\n", "a\nc\n", "a\nc\n", 0},
		{"both, different lines", "a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n", 0},
		{"both, adjacent lines", "a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n", 0},
		{"both, same change", "a\nb\n", "a\nc\n", "a\nc\n", "a\nc\n", 0},
		{"both, same line", "a\nb\nc\n", "a\nm\nc\n", "a\nt\nc\n", "a\n<<<<<<< mine\nm\n=======\nt\n>>>>>>> on disk\nc\n", 1},
		{"removed and changed", "a\nb\nc\n", "a\nc\n", "a\nt\nc\n", "a\n<<<<<<< mine\n=======\nt\n>>>>>>> on disk\nc\n", 1},
		{"both insert at the same place", "a\n", "a\nm\n", "a\nt\n", "a\n<<<<<<< mine\nm\n=======\nt\n>>>>>>> on disk\n", 1},
		{"no newline at the end", "a", "m", "t", "<<<<<<< mine\nm\n=======\nt\n>>>>>>> on disk\n", 1},
		{"empty base", "", "m\n", "", "m\n", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, n := ThreeWay(c.base, c.mine, c.theirs)
			if got != c.want || n != c.conflicts {
				t.Errorf("%d conflicts: %q, want %q", n, got, c.want)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	for _, l := range Compare("a\nb\r\nc\n", "a\nB\nc\nd") {
		out.WriteString(string(l.Op) + l.Text + "|")
	}
	if got, want := out.String(), " a|-b|+B| c|+d|"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	last := Compare("a\nb\n", "b\n")[1]
	if last != (Line{Unchanged, "b", 2, 1}) {
		t.Errorf("numbers: %+v", last)
	}
}

// ThreeWay loses no change of either side, for any texts.
func FuzzThreeWay(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nm\nc\n", "a\nt\nc\nd")
	f.Fuzz(func(t *testing.T, base, mine, theirs string) {
		if got, n := ThreeWay(base, mine, base); got != mine || n != 0 {
			t.Errorf("mine alone: %q", got)
		}
		if got, n := ThreeWay(base, base, theirs); got != theirs || n != 0 {
			t.Errorf("theirs alone: %q", got)
		}
		got, n := ThreeWay(base, mine, theirs)
		if n == 0 {
			return
		}
		for _, text := range []string{mine, theirs} {
			for line := range strings.Lines(text) {
				if !strings.Contains(base, line) && !strings.Contains(got, strings.TrimSuffix(line, "\n")) {
					t.Errorf("%q is lost in %q", line, got)
				}
			}
		}
	})
}
