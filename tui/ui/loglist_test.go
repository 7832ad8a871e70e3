package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func numbered(from, to int) []LogLine {
	var out []LogLine
	for i := from; i < to; i++ {
		out = append(out, LogLine{Text: fmt.Sprintf("line %d", i)})
	}
	return out
}

func drawn(l *LogList) []string {
	lines := strings.Split(ansi.Strip(l.Draw(NewTheme(true))), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func TestLogListFollowsItsEnd(t *testing.T) {
	t.Parallel()
	l := NewLogList(10)
	l.SetSize(20, 3)
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "||"},
		{func() { l.Add(numbered(0, 2)...) }, "line 0|line 1|"},
		{func() { l.Add(numbered(2, 5)...) }, "line 2|line 3|line 4"},
		{func() { l.Scroll(-2) }, "line 0|line 1|line 2"},
		{func() { l.Add(numbered(5, 7)...) }, "line 0|line 1|line 2"},
		{func() { l.Scroll(1) }, "line 1|line 2|line 3"},
		{func() { l.Add(numbered(7, 13)...) }, "line 3|line 4|line 5"}, // 0 to 2 were let go
		{func() { l.Scroll(99) }, "line 10|line 11|line 12"},
		{func() { l.Add(numbered(13, 14)...) }, "line 11|line 12|line 13"},
		{func() { l.Scroll(-99) }, "line 4|line 5|line 6"},
		{func() { l.Follow(true) }, "line 11|line 12|line 13"},
		{func() { l.Shift(5) }, "11|12|13"},
		{l.Clear, "||"},
	} {
		step.do()
		if got := strings.Join(drawn(l), "|"); got != step.want {
			t.Fatalf("%q, want %q", got, step.want)
		}
	}
	l.Add(numbered(0, 25)...)
	if first, last := l.Range(); l.Lost() != 15 || l.Len() != 10 || first != 23 || last != 25 {
		t.Errorf("lost %d, holds %d, in view %d to %d", l.Lost(), l.Len(), first, last)
	}
}

func TestLogListSearch(t *testing.T) {
	t.Parallel()
	l := NewLogList(8)
	l.SetSize(30, 2)
	l.Add(LogLine{Text: "lost"}, LogLine{Text: "lost"}, LogLine{Text: "an Error here"})
	l.Add(numbered(0, 3)...)
	l.Add(LogLine{Text: "no error there"})
	l.Add(numbered(3, 6)...)
	if n := l.Search("error"); n != 2 || l.Following() {
		t.Fatalf("%d hits, follows %v", n, l.Following())
	}
	if got := drawn(l); got[0] != "line 2" || got[1] != "no error there" {
		t.Errorf("in view %q", got)
	}
	if !l.Next(1) || drawn(l)[0] != "an Error here" {
		t.Errorf("the next hit, around the end, is %q", drawn(l))
	}
	if !l.Next(-1) || !strings.Contains(strings.Join(drawn(l), ""), "there") {
		t.Errorf("the hit before is %q", drawn(l))
	}
	if !strings.Contains(l.Draw(NewTheme(true)), "\x1b[7;38") {
		t.Error("the hit is not marked")
	}
	if n := l.Search("Error"); n != 1 {
		t.Errorf("%d hits with a capital, want 1", n)
	}
	if l.Search("nowhere") != 0 || l.Next(1) {
		t.Error("what is nowhere is found")
	}
	if l.Search("") != 0 || NewLogList(3).Next(1) {
		t.Error("an empty search finds something")
	}
}

func TestLogLines(t *testing.T) {
	t.Parallel()
	raw := []string{"plain\r", "10%\r20%\r30%", "\x1b[31mred\x1b[0m\ttab", "a WARN b", "x ERROR y", "Traceback (most recent call last):", strings.Repeat("x", 9000), "\xff"}
	want := []LogLine{{"plain", Plain}, {"30%", Plain}, {"red tab", Plain}, {"a WARN b", Warn}, {"x ERROR y", Bad}, {"Traceback (most recent call last):", Bad}, {strings.Repeat("x", 4096), Plain}, {"?", Plain}}
	var in [][]byte
	for _, r := range raw {
		in = append(in, []byte(r))
	}
	for i, got := range LogLines(in) {
		if got != want[i] {
			t.Errorf("%.20q: %+v, want %+v", raw[i], got, want[i])
		}
	}
}

// Drawing costs what is in view, whatever is held.
func BenchmarkLogListDraw(b *testing.B) {
	l := NewLogList(1_000_000)
	l.SetSize(200, 50)
	l.Add(numbered(0, 1_000_000)...)
	th := NewTheme(true)
	b.ReportAllocs()
	for b.Loop() {
		l.Scroll(-1)
		_ = l.Draw(th)
	}
}
