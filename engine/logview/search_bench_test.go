package logview

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// largeBytes is the size of the log of BenchmarkSearch.
const largeBytes = 10_000_000_000

// writeLarge writes a log of 10 GB: a repeated block of lines, with a few rare lines in between.
func writeLarge(b *testing.B, path string, size int) (needles int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var block bytes.Buffer
	for i := 0; block.Len() < 4<<20; i++ {
		fmt.Fprintf(&block,
			"2026-11-30 14:%02d:%02d,%03d INFO rank %d: batch of %d requests, %d context and %d generated tokens in %d.%d ms\n",
			i/60%60, i%60, i%1000, i%8, i%64, i*7919%100_000, i*31%900, i%40, i%10)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for n := 0; n < size; n += block.Len() {
		_, err := w.Write(block.Bytes())
		if needles++; needles%8 == 0 {
			_, err2 := fmt.Fprintf(w, "2026-11-30 14:59:59,%03d ERROR request %d failed: connection reset\n",
				needles%1000, needles)
			err = errors.Join(err, err2)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(w.Flush(), f.Sync()); err != nil { // pending writes would slow down the searches
		b.Fatal(err)
	}
	return needles / 8
}

// BenchmarkSearch searches a log of 10 GB for rare lines and compares the speed with grep -c and
// lnav on the same file with a warm cache. It searches for a word, a word in any case, one of
// two words, and an expression without a fixed word. It takes minutes.
func BenchmarkSearch(b *testing.B) {
	if testing.Short() {
		b.Skip("writes and reads gigabytes")
	}
	path := filepath.Join(b.TempDir(), "large.log")
	want := writeLarge(b, path, largeBytes)
	lnav := lnavSpeed(b, "ERROR request")
	for _, c := range []struct{ name, expr, grep string }{
		{"word", "ERROR request", ""},
		{"any-case", "connection reset", "-i"},
		{"one-of-two", "ERROR req|FATAL err", "-E"},
		{"expression", `^.{24}ERR[A-Z]+ r`, "-E"},
	} {
		b.Run(c.name, func(b *testing.B) {
			args := append(strings.Fields(c.grep), "-c", c.expr, path)
			run(b, "cat", path) // warms the page cache
			grep := run(b, "grep", args...)
			v := NewView(time.UTC, path)
			defer v.Close()
			m, err := Regexp(c.expr)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(largeBytes)
			for b.Loop() {
				if got := len(walk(b, v, Query{From: v.Start(), Lines: 1 << 20, Match: m})); got != want {
					b.Fatalf("found %d lines, want %d", got, want)
				}
			}
			took := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(grep.Seconds()/took, "x-grep-c")
			b.ReportMetric(grep.Seconds(), "s-grep-c")
			if lnav > 0 && c.name == "word" {
				b.ReportMetric(largeBytes/took/lnav, "x-lnav")
			}
		})
	}
	b.Run("back", func(b *testing.B) {
		v := NewView(time.UTC, path)
		defer v.Close()
		m, err := Regexp("ERROR request")
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(largeBytes)
		for b.Loop() {
			if got := len(walk(b, v, Query{From: end(b, v), Back: true, Lines: 1 << 20, Match: m})); got != want {
				b.Fatalf("found %d lines, want %d", got, want)
			}
		}
	})
	b.Run("index", func(b *testing.B) {
		v := NewView(time.UTC, path)
		defer v.Close()
		b.SetBytes(largeBytes)
		for b.Loop() {
			x := v.NewIndex(0)
			for done := false; !done; {
				var err error
				if done, err = x.countStep(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func run(b *testing.B, name string, args ...string) time.Duration {
	b.Helper()
	began := time.Now()
	cmd := exec.Command(name, args...)
	var said, out bytes.Buffer
	cmd.Stderr, cmd.Stdout = &said, &out // grep would stop at the first match if the output was /dev/null
	if name == "cat" {
		cmd.Stdout = nil
	}
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s: %v\n%.2000s", name, err, said.Bytes())
	}
	return time.Since(began)
}

// lnavSpeed returns the bytes per second at which lnav opens and filters a log. It uses a tenth of
// the size, because lnav is slow with larger logs. It returns 0 without lnav.
func lnavSpeed(b *testing.B, text string) float64 {
	b.Helper()
	program, err := exec.LookPath("lnav")
	if err != nil {
		b.Log("NO COMPARISON with lnav: it is not on this machine")
		return 0
	}
	path := filepath.Join(b.TempDir(), "tenth.log")
	want := writeLarge(b, path, largeBytes/10)
	ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-n", "-c", ":filter-in "+text, path)
	cmd.Env = append(os.Environ(), "HOME="+b.TempDir())
	began := time.Now()
	out, err := cmd.Output()
	took := time.Since(began)
	if got := bytes.Count(out, []byte{'\n'}); err != nil || got != want {
		b.Logf("NO COMPARISON with lnav: %v, %d lines of %d after %s", err, got, want, took.Round(time.Second))
		return 0
	}
	return largeBytes / 10 / took.Seconds()
}
