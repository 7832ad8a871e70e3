package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.log")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbered is a file whose lines are their numbers.
func numbered(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of the log\n", i+1)
	}
	return file(t, b.String())
}

// Forwards and backwards a file is the same rows, each once.
func TestPagesMeet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxRow+100)
	for name, path := range map[string]string{
		"lines": numbered(t, 60000), "none": file(t, ""), "no line end": file(t, "a\r\nb"), "long": file(t, strings.Repeat(long+"\nshort\n", 60)),
	} {
		var s Session
		var there []Row
		at := int64(0)
		for {
			p, err := s.PageFrom(t.Context(), path, at)
			if err != nil {
				t.Fatal(err)
			}
			there = append(there, p.Rows...)
			if at = p.To; at >= p.Size {
				break
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := text(there), strings.TrimSuffix(strings.ReplaceAll(string(data), "\r", ""), "\n"); got != want {
			t.Errorf("%s forwards: %d bytes, want %d", name, len(got), len(want))
		}
		var back []Row
		for at > 0 {
			p, err := s.PageBefore(t.Context(), path, at)
			if err != nil {
				t.Fatal(err)
			}
			if p.From >= at {
				t.Fatalf("%s: stuck at %d", name, at)
			}
			back = append(append([]Row(nil), p.Rows...), back...)
			at = p.From
		}
		if text(back) != text(there) {
			t.Errorf("%s: backwards it is another text", name)
		}
	}
}

func text(rows []Row) string {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 && !r.Part {
			b.WriteByte('\n')
		}
		b.WriteString(r.Text)
	}
	return b.String()
}

func TestPageAt(t *testing.T) {
	t.Parallel()
	path := numbered(t, 60000)
	for _, c := range []struct{ line, before, first int }{{1, 0, 1}, {50000, 20, 49980}, {5, 20, 1}, {60000, 0, 60000}} {
		p, err := Session{}.PageAt(t.Context(), path, c.line, c.before)
		if err != nil || p.Line != c.first || p.Rows[0].Text != fmt.Sprintf("line %d of the log", c.first) {
			t.Errorf("%+v: %+v %v", c, p.Line, err)
		}
	}
	if _, err := (Session{}).PageAt(t.Context(), path, 70000, 0); err == nil || !strings.Contains(err.Error(), "no line 70000") {
		t.Errorf("past the end: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Session{}).PageAt(ctx, path, 50000, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if _, err := (Session{}).PageFrom(t.Context(), t.TempDir(), 0); err == nil {
		t.Error("a folder was opened")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	path := numbered(t, 60000)
	size := int64(0)
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	at := func(line int) int64 {
		p, err := Session{}.PageAt(t.Context(), path, line, 0)
		if err != nil {
			t.Fatal(err)
		}
		return p.Rows[0].At
	}
	for _, c := range []struct {
		text  string
		from  int64
		back  bool
		at    int64
		lines int
	}{
		{"LINE 50000 ", 0, false, at(50000), 49999},
		{"line 50000 ", at(50001), false, -1, 0},
		{"line 50000 ", at(50000), false, at(50000), 0},
		{"line 50000 ", at(50000), true, -1, 0},
		{"line 50000 ", at(50001), true, at(50000), 1},
		{"line 3 ", size, true, at(3), 59998},
		{"nowhere", 0, false, -1, 0},
		{"", 0, false, -1, 0},
	} {
		got, err := Session{}.Find(t.Context(), path, c.text, c.from, c.back)
		if err != nil || got.At != c.at || got.At >= 0 && got.Lines != c.lines {
			t.Errorf("%+v: %+v %v", c, got, err)
		}
	}
}

// A sparse file of 4 GB, one endless line behind the banner, opens at once.
func TestPageOfAHugeFile(t *testing.T) {
	t.Parallel()
	path := file(t, "first\nsecond\n")
	if err := os.Truncate(path, 4<<30); err != nil {
		t.Skip(err)
	}
	p, err := Session{}.PageAt(t.Context(), path, 2, 1)
	if err != nil || p.Rows[1].Text != "second" || p.To > 2*maxPage {
		t.Fatalf("%d rows to %d, %v", len(p.Rows), p.To, err)
	}
	end, err := Session{}.PageBefore(t.Context(), path, p.Size)
	if err != nil || end.To != 4<<30 || !end.Rows[0].Part || end.Line != 0 {
		t.Errorf("the end: %d rows, %v", len(end.Rows), err)
	}
}
