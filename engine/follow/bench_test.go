package follow

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkChaos runs TestChaos with other seeds for 50 s, so that six runs take five minutes.
// It restarts the writer often, because a writer keeps the content of its file in memory.
func BenchmarkChaos(b *testing.B) {
	if testing.Short() {
		b.Skip("takes fifty seconds")
	}
	lines, lives := 0, 0
	began := time.Now()
	for b.Loop() {
		for end := time.Now().Add(50 * time.Second); time.Now().Before(end); lives++ {
			seed := uint64(time.Now().UnixNano())
			limit := time.Now().Add(2 * time.Second)
			lines += chaos(b, seed, func() bool { return time.Now().After(limit) })
		}
	}
	b.ReportMetric(float64(lines)/time.Since(began).Seconds(), "lines/s")
	b.ReportMetric(float64(lives), "writers")
}

// BenchmarkAppend measures the time from the write of a line to its delivery.
func BenchmarkAppend(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	c := start(b, path, Options{})
	n := 0
	for b.Loop() {
		add(b, path, fmt.Sprintf("line %d\n", n))
		if lines, _ := until(b, c, 1); len(lines) != 1 || lines[0] != fmt.Sprint("line ", n) {
			b.Fatalf("line %d: got %q", n, lines)
		}
		n++
	}
}

// BenchmarkFinishedFile reads a complete file of request rows.
func BenchmarkFinishedFile(b *testing.B) {
	const lines = 100_000
	path := filepath.Join(b.TempDir(), "f")
	write(b, path, strings.Repeat(strings.Repeat("x", 399)+"\n", lines))
	stop := make(chan struct{})
	close(stop)
	b.SetBytes(400 * lines)
	b.ReportAllocs()
	for b.Loop() {
		c, err := File(b.Context(), path, Options{Stop: stop})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for chunk := range c {
			n += len(chunk.Lines)
		}
		if n != lines {
			b.Fatalf("%d lines, want %d", n, lines)
		}
	}
}
