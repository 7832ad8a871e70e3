package follow

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fast polls often, so that tests do not wait for seconds.
func fast(events bool) Options {
	return Options{Poll: 8 * time.Millisecond, noEvents: !events}
}

func start(t testing.TB, path string, opt Options) <-chan Chunk {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	c, err := File(ctx, path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func add(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// until reads chunks until it has n lines or the channel is closed. A restart discards the
// lines so far.
func until(t testing.TB, c <-chan Chunk, n int) (lines []string, last Chunk) {
	t.Helper()
	restarted := false
	for len(lines) < n {
		ch, ok := <-c
		if !ok {
			t.Fatalf("channel closed after %d of %d lines: %q", len(lines), n, lines)
		}
		if ch.Err != nil {
			t.Fatal(ch.Err)
		}
		if ch.Restarted {
			lines, restarted = nil, true
		}
		for _, l := range ch.Lines {
			lines = append(lines, string(l))
		}
		last = ch
	}
	last.Restarted = restarted
	return lines, last
}

// all reads until the channel is closed.
func all(t testing.TB, c <-chan Chunk) (lines []string, last Chunk, skipped int) {
	t.Helper()
	for ch := range c {
		if ch.Err != nil {
			t.Fatal(ch.Err)
		}
		if ch.Restarted {
			lines = nil
		}
		for _, l := range ch.Lines {
			lines = append(lines, string(l))
		}
		skipped += ch.Skipped
		last = ch
	}
	return lines, last, skipped
}

func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestFinishedFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		text    string
		opt     Options
		want    []string
		offset  int64
		skipped int
	}{
		{name: "empty"},
		{name: "two lines", text: "a\nbc\n", want: []string{"a", "bc"}, offset: 5},
		{name: "half line held back", text: "a\nbc", want: []string{"a"}, offset: 2},
		{name: "final partial line", text: "a\nbc", opt: Options{FinalPartial: true}, want: []string{"a", "bc"}, offset: 4},
		{name: "bytes untouched", text: "\x00\xff\x1b[1m\r\n\n", want: []string{"\x00\xff\x1b[1m\r", ""}, offset: 9},
		{name: "from the middle", text: "a\nbc\nd\n", opt: Options{From: 2}, want: []string{"bc", "d"}, offset: 7},
		{name: "from the end", text: "a\n", opt: Options{From: 2}},
		{name: "from beyond the end", text: "a\n", opt: Options{From: 9}, want: []string{"a"}, offset: 2},
		{
			name: "line over the limit", text: "a\nbcdef\ng\n", opt: Options{MaxLine: 4}, want: []string{"a", "g"},
			offset: 10, skipped: 1,
		},
		{name: "line at the limit", text: "abcd\n", opt: Options{MaxLine: 4}, want: []string{"abcd"}, offset: 5},
		{name: "rest over the limit", text: "abcde", opt: Options{MaxLine: 4, FinalPartial: true}, offset: 5, skipped: 1},
		{
			name: "line longer than the buffer", text: strings.Repeat("x", 3*readBytes) + "\ny\n",
			want: []string{strings.Repeat("x", 3*readBytes), "y"}, offset: 3*readBytes + 3,
		},
		{
			name: "limit across buffers", text: strings.Repeat("x", 3*readBytes) + "\ny\n", opt: Options{MaxLine: 2 * readBytes},
			want: []string{"y"}, offset: 3*readBytes + 3, skipped: 1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "f")
			write(t, path, tt.text)
			tt.opt.Stop = closed()
			lines, last, skipped := all(t, start(t, path, tt.opt))
			if diff := cmp.Diff(tt.want, lines); diff != "" {
				t.Error(diff)
			}
			if last.Offset != tt.offset || skipped != tt.skipped {
				t.Errorf("offset %d, skipped %d; want %d, %d", last.Offset, skipped, tt.offset, tt.skipped)
			}
		})
	}
}

func TestMissingFile(t *testing.T) {
	t.Parallel()
	lines, _, _ := all(t, start(t, filepath.Join(t.TempDir(), "no", "such"), Options{Stop: closed()}))
	if lines != nil {
		t.Errorf("lines %q of no file", lines)
	}
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	for _, opt := range []Options{{From: -1}, {MaxLine: -1}, {Poll: -1}} {
		if _, err := File(t.Context(), "f", opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
	if _, err := File(t.Context(), "", Options{}); err == nil {
		t.Error("empty path: no error")
	}
}

func TestChunksAreBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, strings.Repeat("x\n", 2000)+strings.Repeat(strings.Repeat("y", 99_999)+"\n", 40))
	total := 0
	for c := range start(t, path, Options{Stop: closed()}) {
		size := 0
		for _, l := range c.Lines {
			size += len(l)
		}
		if len(c.Lines) > chunkLines || size > chunkBytes+100_000 {
			t.Errorf("chunk of %d lines, %d bytes", len(c.Lines), size)
		}
		total += len(c.Lines)
	}
	if total != 2040 {
		t.Errorf("%d lines, want 2040", total)
	}
}

// TestLive tests changes to a file while it is followed, with and without inotify.
func TestLive(t *testing.T) {
	t.Parallel()
	for _, events := range []bool{true, false} {
		t.Run(fmt.Sprintf("events=%v", events), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "later")
			path := filepath.Join(dir, "f")
			opt := fast(events)
			stop := make(chan struct{})
			opt.Stop = stop
			c := start(t, path, opt)

			step := func(name string, restarted bool, offset int64, want ...string) {
				t.Helper()
				lines, last := until(t, c, len(want))
				if diff := cmp.Diff(want, lines); diff != "" {
					t.Fatalf("%s: %s", name, diff)
				}
				if last.Restarted != restarted || last.Offset != offset {
					t.Fatalf("%s: restarted %v, offset %d; want %v, %d", name, last.Restarted, last.Offset, restarted, offset)
				}
			}
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, path, "one\ntw")
			step("appeared", false, 4, "one")
			add(t, path, "o\nthree\n")
			step("half line completed", false, 14, "two", "three")
			write(t, path, "short\n")
			step("truncated", true, 6, "short")
			write(t, path, "another and longer than before\n")
			step("truncated and grown past the offset", true, 31, "another and longer than before")
			write(t, path+".new", "replaced, which is longer than before\n")
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
			step("replaced", true, 38, "replaced, which is longer than before")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			write(t, path, "again\n")
			step("vanished and back", true, 6, "again")
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, path, "back\n")
			step("directory removed and created again", true, 5, "back")
			add(t, path, "last\nhalf")
			close(stop)
			step("last", false, 10, "last")
			if ch, ok := <-c; ok {
				t.Fatalf("chunk after the stop: %+v", ch)
			}
		})
	}
}

// Lines that are written to a file after it was renamed are delivered too.
func TestRenamedFileIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "a\n")
	c := start(t, path, fast(true))
	until(t, c, 1)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	add(t, path+".1", "b\n")
	if lines, _ := until(t, c, 1); lines[0] != "b" {
		t.Errorf("got %q, want b", lines)
	}
}

func TestNotAFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	c := start(t, path, fast(true))
	ch := <-c
	if ch.Err == nil || !strings.Contains(ch.Err.Error(), "is a directory, not a regular file") {
		t.Fatalf("got %+v, want an error with directory", ch)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, path, "now a file\n")
	if lines, _ := until(t, c, 1); lines[0] != "now a file" {
		t.Errorf("got %q", lines)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, strings.Repeat("x\n", 5000))
	ctx, cancel := context.WithCancel(t.Context())
	c, err := File(ctx, path, fast(true))
	if err != nil {
		t.Fatal(err)
	}
	<-c // one chunk of many; the next one is not received
	cancel()
	for range c { // until the channel is closed
	}
}

// TestChaos lets a writer make random changes. It compares the lines that a receiver has in
// the end, considering Restarted, with the content of the file.
func TestChaos(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			steps := 0
			chaos(t, seed, func() bool { steps++; return steps > 300 })
		})
	}
}

// TestChaosForLonger runs TestChaos with other writers for ten seconds.
func TestChaosForLonger(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	end := time.Now().Add(10 * time.Second)
	for seed := uint64(100); time.Now().Before(end) && !t.Failed(); seed++ {
		steps := 0
		chaos(t, seed, func() bool { steps++; return steps > 300 })
	}
}

// chaos runs until done returns true, and returns the number of written lines.
func chaos(t testing.TB, seed uint64, done func() bool) int {
	t.Helper()
	w := &writer{t: t, rng: rand.New(rand.NewPCG(seed, 7)), path: filepath.Join(t.TempDir(), "f"), destroys: seed%2 == 1}
	opt := fast(seed%4 < 2)
	stop := make(chan struct{})
	opt.Stop, opt.FinalPartial = stop, true
	c, err := File(t.Context(), w.path, opt)
	if err != nil {
		t.Fatal(err)
	}
	type received struct {
		lines  []string
		offset int64
	}
	end := make(chan received)
	go func() {
		var r received
		for ch := range c {
			if ch.Restarted {
				r.lines = nil
			}
			for _, l := range ch.Lines {
				r.lines = append(r.lines, string(l))
			}
			r.offset = ch.Offset
		}
		end <- r
	}()
	for !done() {
		w.step()
	}
	close(stop)
	got := <-end
	want := strings.Split(strings.TrimSuffix(w.content.String(), "\n"), "\n")
	if diff := cmp.Diff(want, got.lines); diff != "" {
		t.Errorf("seed %d: %d lines in the file, %d received, first difference: %.400s",
			seed, len(want), len(got.lines), diff)
	}
	if got.offset != int64(w.content.Len()) {
		t.Errorf("seed %d: offset %d, want %d", seed, got.offset, w.content.Len())
	}
	return w.n
}

// writer changes a file and records its expected content.
type writer struct {
	t        testing.TB
	rng      *rand.Rand
	path     string
	destroys bool // also truncates, replaces, removes
	n        int
	content  bytes.Buffer
}

func (w *writer) step() {
	text := w.text()
	switch k := w.rng.IntN(40); {
	case k == 0 && w.destroys:
		w.content.Reset()
		w.content.WriteString(text)
		write(w.t, w.path, text)
	case k == 1 && w.destroys:
		w.content.Reset()
		w.content.WriteString(text)
		write(w.t, w.path+".new", text)
		if err := os.Rename(w.path+".new", w.path); err != nil {
			w.t.Fatal(err)
		}
	case k == 2 && w.destroys:
		if err := os.Remove(w.path); err != nil && !os.IsNotExist(err) {
			w.t.Fatal(err)
		}
		w.content.Reset()
		w.content.WriteString(text)
		write(w.t, w.path, text)
	default:
		w.content.WriteString(text)
		add(w.t, w.path, text)
		if k == 3 { // long enough for a read to find no growth
			<-time.After(time.Duration(w.rng.IntN(40)) * time.Millisecond)
		}
	}
}

// text returns some numbered lines, often followed by an incomplete one.
func (w *writer) text() string {
	var b strings.Builder
	for range 1 + w.rng.IntN(30) {
		w.n++
		fmt.Fprintf(&b, "line %d %s", w.n, strings.Repeat("z", w.rng.IntN(300)))
		if w.rng.IntN(20) > 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
