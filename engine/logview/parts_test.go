package logview

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func fileView(t testing.TB, text string) *View {
	t.Helper()
	v := NewFileView(write(t, filepath.Join(t.TempDir(), "file"), text))
	t.Cleanup(v.Close)
	return v
}

// joined returns the joined text of parts, without line ends.
func joined(lines []Line) []string {
	var out []string
	for _, l := range lines {
		if l.Continued {
			out[len(out)-1] += l.Text
		} else {
			out = append(out, l.Text)
		}
	}
	return out
}

// The parts of long lines contain all of a file, and are the same forward and backward.
func TestPartsForwardAndBackward(t *testing.T) {
	t.Parallel()
	edge := func(before, after int) []string { // lines that end and begin near the border of a part
		return []string{strings.Repeat("a", maxText+before), strings.Repeat("b", maxText+after), "c"}
	}
	for name, lines := range map[string][]string{
		"all kinds": long(2), "short": {"a", "b"}, "one long line": {strings.Repeat("x", 3*blockBytes+17)},
		"exact": {strings.Repeat("x", maxText), strings.Repeat("y", 2*maxText), strings.Repeat("z", maxText-1)},
		"edge":  edge(-1, 0), "edge 2": edge(0, -1), "edge 3": edge(-2, 2*maxText), "edge 4": edge(1, blockBytes),
	} {
		for _, ending := range []string{"\n", ""} {
			v := fileView(t, strings.Join(lines, "\n")+ending)
			for _, n := range []int{1, 3, 10_000} {
				if n == 1 && len(lines) > 100 {
					continue
				}
				got := walk(t, v, Query{From: v.Start(), Lines: n})
				if !slices.Equal(joined(got), lines) {
					t.Fatalf("%s, %d at a time: not the file", name, n)
				}
				at := int64(0)
				for i, l := range got {
					if l.At != at || l.Cut != 0 || l.Unfinished != (ending == "" && i == len(got)-1) || len(l.Text) > maxText {
						t.Fatalf("%s: line %d of %d: at %d to %d, cut %d, begun %v, want at %d",
							name, i, len(got), l.At, l.Next, l.Cut, l.Unfinished, at)
					}
					at = l.Next
				}
				up := walk(t, v, Query{From: end(t, v), Back: true, Lines: n})
				slices.Reverse(up)
				if diff := cmp.Diff(got, up, cmp.AllowUnexported(Line{})); diff != "" {
					t.Fatalf("%s, %d at a time: back is not forward: %.300s", name, n, diff)
				}
			}
		}
	}
}

// A search finds matches in any part of a line, as fast as in other files.
func TestSearchInParts(t *testing.T) {
	t.Parallel()
	far := strings.Repeat("x", 5*maxText) + "needle" + strings.Repeat("x", 2*blockBytes)
	v := fileView(t, "first\n"+far+"\nneedle at the end")
	m, err := Regexp("NEEDLE|needle")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []Query{{From: v.Start()}, {From: end(t, v), Back: true}} {
		q.Lines, q.Match = 1, m
		got := walk(t, v, q)
		if q.Back {
			slices.Reverse(got)
		}
		if len(got) != 2 || !got[0].Continued || got[0].At != v.PartAt(6, 6+5*maxText) || got[1].Continued ||
			got[1].Text != "needle at the end" {
			t.Errorf("back %v: %d found", q.Back, len(got))
		}
	}
}

func TestFileViewKeepsCarriageReturns(t *testing.T) {
	t.Parallel()
	v := fileView(t, "1%\r2%\r\n\x1b[31mred\x1b[0m and\tblue\n日本語\n")
	got := walk(t, v, Query{From: v.Start(), Lines: 9})
	if want := []string{"1%2%", "red and blue", "日本語"}; !slices.Equal(texts(got), want) {
		t.Fatalf("%q, want %q", texts(got), want)
	}
	at := got[1].At
	for _, c := range []struct {
		from, to int64
		want     string
	}{
		{at + 5, at + 8, "red"},
		{at, at + 8, "red"},
		{at + 13, at + 16, "and"},
		{at + 17, at + 99, "blue"},
		{at - 1, at, ""},
		{at + 99, at + 100, ""},
		{at + 5, at + 5, ""},
		{at + 8, at + 5, ""},
	} {
		lo, hi := got[1].Span(c.from, c.to)
		if s := got[1].Text[lo:hi]; s != c.want {
			t.Errorf("bytes %d to %d: %q, want %q", c.from-at, c.to-at, s, c.want)
		}
	}
	if lo, hi := got[2].Span(got[2].At+4, got[2].At+7); got[2].Text[lo:hi] != "本" {
		t.Errorf("cut inside of characters: %d to %d", lo, hi)
	}
}

// A sparse file of 4 GB with one very long line opens at once at both ends.
func TestHugeFile(t *testing.T) {
	t.Parallel()
	v := fileView(t, "first\nsecond\n")
	if err := os.Truncate(v.files[0].path, 4<<30); err != nil {
		t.Skip(err)
	}
	got, err := v.Step(t.Context(), Query{From: v.Start(), Lines: 4})
	if err != nil || len(got.Lines) != 4 || got.Lines[1].Text != "second" ||
		got.Lines[2].Continued || !got.Lines[3].Continued {
		t.Errorf("the beginning: %d lines, %v", len(got.Lines), err)
	}
	got, err = v.Step(t.Context(), Query{From: end(t, v), Lines: 4, Back: true})
	if err != nil || len(got.Lines) != 4 || !got.Lines[0].Continued || !got.Lines[0].Unfinished ||
		got.Lines[3].At != 4<<30-4*maxText {
		t.Errorf("the end: %d lines, %v", len(got.Lines), err)
	}
}

func TestSeek(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	var want []int64
	for i := range 60_000 {
		want = append(want, int64(b.Len()))
		fmt.Fprintf(&b, "line %d of the log\n", i+1)
	}
	v := fileView(t, b.String())
	x := v.NewIndex(0)
	for _, line := range []int64{50_000, 1, 60_000, 5, 0} {
		at, ok, err := x.Seek(t.Context(), line)
		if err != nil || !ok || at != want[max(line-1, 0)] {
			t.Errorf("line %d at %d, %v, %v", line, at, ok, err)
		}
	}
	for range 2 {
		at, ok, err := x.Seek(t.Context(), 70_000)
		if err != nil || !ok || at != int64(b.Len()) || x.Last() != 60_000 {
			t.Errorf("past the end: %d, %v, %v; the last line is %d", at, ok, err, x.Last())
		}
	}
	for text, last := range map[string]int64{"": 0, "a": 1, "a\n": 1, "a\nb": 2} {
		x := fileView(t, text).NewIndex(0)
		if at, ok, err := x.Seek(t.Context(), 9); err != nil || !ok || at != int64(len(text)) || x.Last() != last {
			t.Errorf("%q: %d, %v, %v; the last line is %d", text, at, ok, err, x.Last())
		}
	}
}

// Seek to a far line takes several steps, and a far line has no number yet.
func TestSeekInSteps(t *testing.T) {
	t.Parallel()
	small := fileView(t, "a\nb\n").NewIndex(0)
	if at, ok, err := small.Seek(t.Context(), 1); at != 0 || !ok || err != nil || small.Last() != 2 {
		t.Errorf("the first line at %d (%v, %v), the last is %d", at, ok, err, small.Last())
	}
	big := fileView(t, "")
	if err := os.Truncate(big.files[0].path, 3*stepBytes); err != nil {
		t.Fatal(err)
	}
	x, steps := big.NewIndex(0), 0
	if n, err := x.Number(t.Context(), 2*stepBytes); n != 0 || err != nil || x.counted != 0 {
		t.Errorf("number %d, %v; %d bytes counted", n, err, x.counted)
	}
	for ; ; steps++ {
		if _, ok, err := x.Seek(t.Context(), 2); err != nil {
			t.Fatal(err)
		} else if ok {
			break
		}
	}
	if steps < 2 || steps > 3 {
		t.Errorf("seek to the last line took %d steps", steps)
	}
}
