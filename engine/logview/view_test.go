package logview

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func view(t testing.TB, texts ...string) *View {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, text := range texts {
		paths = append(paths, write(t, filepath.Join(dir, fmt.Sprint(i)), text))
	}
	v := NewView(time.UTC, paths...)
	t.Cleanup(v.Close)
	return v
}

// walk queries n lines at a time until the end.
func walk(t testing.TB, v *View, q Query) []Line {
	t.Helper()
	var out []Line
	for {
		got, err := v.Step(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, got.Lines...)
		if q.From = got.Reached; got.End {
			return out
		}
	}
}

func end(t testing.TB, v *View) Pos {
	t.Helper()
	p, err := v.End()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func texts(lines []Line) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return out
}

// long returns the lines of a file: empty ones, ones longer than maxText or than a block, and an
// unfinished one.
func long(seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 1))
	var lines []string
	for i := range 4000 {
		n := rng.IntN(300)
		switch {
		case i%1000 == 17:
			n = 2*blockBytes + rng.IntN(1000)
		case i%500 == 3:
			n = maxText + rng.IntN(pageBytes)
		case i%7 == 0:
			n = 0
		}
		lines = append(lines, fmt.Sprintf("%d ", i)+strings.Repeat("x", n))
	}
	return lines
}

func TestForwardAndBackward(t *testing.T) {
	t.Parallel()
	lines := long(1)
	var want []string
	for _, l := range lines {
		want = append(want, l[:min(len(l), maxText)])
	}
	for name, ending := range map[string]string{"finished": "\n", "unfinished": ""} {
		v := view(t, strings.Join(lines, "\n")+ending)
		for _, n := range []int{13, 10_000} {
			got := walk(t, v, Query{From: v.Start(), Lines: n})
			if diff := cmp.Diff(want, texts(got)); diff != "" {
				t.Fatalf("%s, %d at a time: %.300s", name, n, diff)
			}
			if last := got[len(got)-1]; last.Unfinished != (ending == "") || last.Next != end(t, v)[0] {
				t.Errorf("%s: last line %+v", name, last)
			}
			at := int64(0)
			for i, l := range got {
				if l.At != at || l.Cut != int64(len(lines[i])-len(l.Text)) {
					t.Fatalf("line %d at %d, %d cut; want %d, %d", i, l.At, l.Cut, at, len(lines[i])-len(l.Text))
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

func TestMissingFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "later")
	v := NewView(time.UTC, path)
	defer v.Close()
	for _, back := range []bool{false, true} {
		if got := walk(t, v, Query{From: end(t, v), Lines: 9, Back: back}); len(got) != 0 {
			t.Errorf("%v of no file", got)
		}
	}
	write(t, path, "now\n")
	if got := texts(walk(t, v, Query{From: v.Start(), Lines: 9})); !slices.Equal(got, []string{"now"}) {
		t.Errorf("%q", got)
	}
	write(t, path+".new", "another\n")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	v.Reopen(0)
	if got := texts(walk(t, v, Query{From: v.Start(), Lines: 9})); !slices.Equal(got, []string{"another"}) {
		t.Errorf("%q", got)
	}
	if _, err := NewView(time.UTC, t.TempDir()).End(); err == nil {
		t.Error("a directory is read")
	}
}

// A position beyond the end of a truncated file leads back into the file.
func TestTruncated(t *testing.T) {
	t.Parallel()
	v := view(t, "one\ntwo\n")
	got := walk(t, v, Query{From: Pos{5 * blockBytes}, Back: true, Lines: 1})
	if !slices.Equal(texts(got), []string{"two", "one"}) {
		t.Errorf("%q", texts(got))
	}
	if got := walk(t, v, Query{From: Pos{5 * blockBytes}, Lines: 1}); len(got) != 0 {
		t.Errorf("%q beyond the end", texts(got))
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	v := view(t, strings.Repeat("x\n", 100))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, back := range []bool{false, true} {
		if _, err := v.Step(ctx, Query{From: end(t, v), Back: back, Lines: 1}); err == nil {
			t.Error("no error of a cancelled step")
		}
	}
	if _, err := v.NewIndex(0).countStep(ctx); err == nil {
		t.Error("no error of a cancelled count")
	}
}

// A search without a match returns after a step and continues from there.
func TestStepsAreBounded(t *testing.T) {
	t.Parallel()
	v := view(t, "needle\n"+strings.Repeat(strings.Repeat("x", 99)+"\n", 2*stepBytes/100)+"needle\n")
	m, err := Regexp("needle")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []Query{
		{From: Pos{7}, Lines: 1, Match: m}, {From: Pos{end(t, v)[0] - 7}, Back: true, Lines: 1, Match: m},
	} {
		steps := 0
		for {
			got, err := v.Step(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			steps++
			if q.From = got.Reached; len(got.Lines) > 0 {
				break
			}
			if got.End {
				t.Fatal("the needle is not found")
			}
		}
		if steps < 2 || steps > 4 {
			t.Errorf("back %v: %d steps", q.Back, steps)
		}
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	const log = "an Error here\nno\x1b[31mth\x1b[0ming\nWARN tasks 17\nerror 42 ms\nTask 3: done\n" +
		"ERROR at the end\x00\nb\x08u\u202efr\x00ed\x7f\nER\x1b[1mROR: red\nÄrger\n10%\r20% load\n"
	all := []string{
		"an Error here", "nothing", "WARN tasks 17", "error 42 ms", "Task 3: done", "ERROR at the end",
		"bufred", "ERROR: red", "Ärger", "20% load",
	}
	v := view(t, log)
	for _, expr := range []string{
		"error", "Error", "nothing", `task.* \d+`, "warn|done", "(at|ms)", "e{2}", "^no",
		"bufred", "ufr.d", "error: red", "ärger", "20%", "10%", "x*", "the end$", "[0-9]+ ms", `\bhere`, "?",
	} {
		m, err := Regexp(expr)
		if err != nil {
			if expr != "?" {
				t.Error(err)
			}
			continue
		}
		re := regexp.MustCompile(expr)
		if strings.ToLower(expr) == expr {
			re = regexp.MustCompile("(?i)" + expr)
		}
		want := []string{}
		for _, l := range all {
			if re.MatchString(l) {
				want = append(want, l)
			}
		}
		got := walk(t, v, Query{From: v.Start(), Lines: 2, Match: m})
		if diff := cmp.Diff(want, texts(got)); diff != "" {
			t.Errorf("%s: %s", expr, diff)
		}
		up := walk(t, v, Query{From: end(t, v), Back: true, Lines: 2, Match: m})
		slices.Reverse(up)
		if diff := cmp.Diff(want, texts(up)); diff != "" {
			t.Errorf("%s back: %s", expr, diff)
		}
	}
	m, err := Regexp("error")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Marks("no error, an Error"); !cmp.Equal(got, [][]int{{3, 8}, {13, 18}}) {
		t.Errorf("marks %v", got)
	}
	only, err := Regexp("42")
	if err != nil {
		t.Fatal(err)
	}
	both := texts(walk(t, v, Query{From: v.Start(), Lines: 9, Match: m.And(only)}))
	if want := []string{"error 42 ms"}; !slices.Equal(both, want) {
		t.Errorf("both: %q", both)
	}
	errs := texts(walk(t, v, Query{From: v.Start(), Lines: 9, Match: Errors()}))
	if want := []string{"ERROR at the end", "ERROR: red"}; !slices.Equal(errs, want) {
		t.Errorf("errors: %q", errs)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 30, 15, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-11-29 14:41:12 x":                     "2026-11-29T14:41:12Z",
		"[2026-11-29T14:41:12.250Z] x":              "2026-11-29T14:41:12.25Z",
		"INFO 2026-11-29 14:41:12,250 x":            "2026-11-29T14:41:12.25Z",
		"2026-11-29T14:41:12+02:00 x":               "2026-11-29T12:41:12Z",
		"[11/29/2026-14:41:12] [TRT-LLM] [I] x":     "2026-11-29T14:41:12Z",
		"I1129 14:41:12.000250 etcd":                "2026-11-29T14:41:12.00025Z",
		"I1231 14:41:12 etcd":                       "2025-12-31T14:41:12Z",
		"14:41:12 x":                                "2026-11-30T14:41:12Z",
		"23:59:59 x":                                "2026-11-29T23:59:59Z",
		"no time 14:41:12":                          "2026-11-30T14:41:12Z",
		"":                                          "",
		"ratio 1:2:3":                               "",
		"  File \"x.py\", line 17":                  "",
		strings.Repeat("x", 200) + " 14:41:12 late": "",
	} {
		got, ok := (Line{Text: text}).time(time.UTC, day)
		if s := got.UTC().Format(time.RFC3339Nano); ok != (want != "") || ok && s != want {
			t.Errorf("%q: %s %v, want %s", text, s, ok, want)
		}
	}
}

func TestMerged(t *testing.T) {
	t.Parallel()
	a := "head of a\n2026-11-30 10:00:01 a1\n  goes on\n2026-11-30 10:00:03 a2\n2026-11-30 10:00:03 a3\n"
	b := "2026-11-30 10:00:02 b1\n2026-11-30 10:00:03 b2\n   goes on\n2026-11-30 10:00:04 b3\n"
	v := view(t, a, "", b)
	want := []string{"head of a", "a1", "  goes on", "b1", "a2", "a3", "b2", "   goes on", "b3"}
	short := func(lines []Line) []string {
		var out []string
		for _, l := range lines {
			out = append(out, strings.TrimPrefix(l.Text, "2026-11-30 10:00:0"))
			if s := out[len(out)-1]; s != l.Text {
				out[len(out)-1] = s[2:]
			}
		}
		return out
	}
	for n := 1; n < 12; n++ {
		got := walk(t, v, Query{From: v.Start(), Lines: n})
		if diff := cmp.Diff(want, short(got)); diff != "" {
			t.Errorf("%d at a time: %s", n, diff)
		}
		p := v.Start()
		for _, l := range got {
			p = p.After(l)
		}
		if !slices.Equal(p, end(t, v)) || p.Before(got[8])[2] != got[8].At || p.Bytes() != int64(len(a)+len(b)) {
			t.Errorf("after the last line at %v", p)
		}
		up := walk(t, v, Query{From: end(t, v), Back: true, Lines: n})
		slices.Reverse(up)
		if diff := cmp.Diff(want, short(up)); diff != "" {
			t.Errorf("back, %d at a time: %s", n, diff)
		}
	}
	m, err := Regexp("goes|b3")
	if err != nil {
		t.Fatal(err)
	}
	got := short(walk(t, v, Query{From: v.Start(), Lines: 1, Match: m}))
	if want := []string{"  goes on", "   goes on", "b3"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestIndex(t *testing.T) {
	t.Parallel()
	lines := long(2)
	v := view(t, strings.Join(lines, "\n")+"\n")
	x := v.NewIndex(0)
	if _, ok, err := x.find(t.Context(), 3); ok || err != nil {
		t.Errorf("an empty index finds a line: %v", err)
	}
	for done := false; !done; {
		var err error
		if done, err = x.countStep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if x.counted != end(t, v)[0] {
		t.Errorf("counted %d", x.counted)
	}
	for i, l := range walk(t, v, Query{From: v.Start(), Lines: 100}) {
		n, err := x.Number(t.Context(), l.At)
		if n != int64(i+1) || err != nil {
			t.Fatalf("line %d has number %d (%v)", i+1, n, err)
		}
		at, ok, err := x.find(t.Context(), int64(i+1))
		if at != l.At || !ok || err != nil {
			t.Fatalf("line %d is found at %d, want %d (%v, %v)", i+1, at, l.At, ok, err)
		}
	}
	if _, ok, err := x.find(t.Context(), 99_999); ok || err != nil {
		t.Errorf("a line beyond the end is found: %v", err)
	}
}

// An index has a bounded number of marks for logs of any length.
func TestIndexIsBounded(t *testing.T) {
	t.Parallel()
	v := view(t, strings.Repeat("1234567\n", 300_000))
	x := v.NewIndex(0)
	x.stride = 64
	if _, err := x.countStep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(x.marks) > maxMarks || x.stride <= 64 {
		t.Errorf("%d marks %d bytes apart", len(x.marks), x.stride)
	}
	for _, n := range []int64{1, 2, 77_777, 300_000} {
		if at, ok, err := x.find(t.Context(), n); at != 8*(n-1) || !ok || err != nil {
			t.Errorf("line %d at %d (%v, %v)", n, at, ok, err)
		}
		if got, err := x.Number(t.Context(), 8*(n-1)); got != n || err != nil {
			t.Errorf("line %d has number %d (%v)", n, got, err)
		}
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	v := view(t, "a\n", "b\n")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	grown, err := v.watch(ctx, end(t, v))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(v.files[1].path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("begun"); err != nil {
		t.Fatal(err)
	}
	if g := <-grown; g.File != 1 || g.Restarted || g.Err != nil {
		t.Errorf("unfinished line: %+v", g)
	}
	write(t, v.files[0].path, "")
	write(t, v.files[0].path, "anew, and longer\n")
	for g := range grown {
		if g.File == 0 && g.Restarted {
			break
		}
	}
	cancel()
	for range grown { // until the channel is closed
	}
}

// For any content, forward and backward scans give the same lines, and a search gives the
// matching ones.
func FuzzStep(f *testing.F) {
	f.Add([]byte("a\n\nERROR b\r\n\x1b[31mc\xff\x00"), "e", uint8(1))
	f.Add([]byte("10:00:00 x\n"), "x|(?i)y", uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, expr string, n uint8) {
		m, err := Regexp(expr)
		if err != nil {
			return
		}
		v := view(t, string(data))
		lines := int(n)%8 + 1
		all := walk(t, v, Query{From: v.Start(), Lines: lines})
		up := walk(t, v, Query{From: end(t, v), Back: true, Lines: lines})
		slices.Reverse(up)
		if diff := cmp.Diff(all, up, cmp.AllowUnexported(Line{})); diff != "" {
			t.Fatal(diff)
		}
		for _, l := range all {
			l.time(time.UTC, time.Time{})
			l.Coloured()
		}
		for _, l := range walk(t, v, Query{From: v.Start(), Lines: lines, Match: m}) {
			if !m.Match(l.Text) {
				t.Errorf("%q does not match %q", l.Text, expr)
			}
		}
	})
}

func TestIndexAltered(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range 20 {
			data := []byte("one two\r\nthree ~4567")
			data[at] = byte(c)
			want := at
			if c == '\n' || c == '\r' || c >= ' ' && c <= '~' {
				want = -1
			}
			if got := indexAltered(data); got != want {
				t.Fatalf("byte %#x at %d: %d", c, at, got)
			}
		}
	}
}

// Secrets in a log are hidden, with colors or without, and places in the line stay valid.
func TestSecretsInLogs(t *testing.T) {
	t.Parallel()
	l := LineOf([]byte("\x1b[31mHF_TOKEN=sesame\x1b[0m MAX_TOKENS=many ghp_x1"))
	if l.Text != "HF_TOKEN=****** MAX_TOKENS=many ******" || strings.Contains(l.Coloured(), "sesame") {
		t.Errorf("%q, with colors %q", l.Text, l.Coloured())
	}
}
