package porter

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
)

// sampleCopy copies the sample for a benchmark that changes it.
func sampleCopy(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "bm_agentperf_dsv4_5p1d", "c1010")
	if err := os.CopyFS(dir, os.DirFS(sampleDir)); err != nil {
		b.Fatal(err)
	}
	return dir
}

// portAll ports and renders what a port writes.
func portAll(b *testing.B, dir string) {
	b.ReportAllocs()
	for b.Loop() {
		r := port(b, dir, Options{WorkloadOut: "/w.yaml"})
		recipeText(b, r)
		workloadText(b, r)
		if _, err := r.ProvenanceJSON(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPortSample(b *testing.B) { portAll(b, sampleDir) }

// BenchmarkPortBigClientLog ports the sample with a client.log of 4 GB.
func BenchmarkPortBigClientLog(b *testing.B) {
	if testing.Short() {
		b.Skip("creates a sparse file of 4 GB")
	}
	dir := sampleCopy(b)
	if err := os.Truncate(filepath.Join(dir, harness.ClientLog), 4<<30); err != nil {
		b.Fatal(err)
	}
	portAll(b, dir)
}

// BenchmarkPortBigJobLog ports the sample with 1 GB of server output after the launch lines, in the formats of
// two loggers.
func BenchmarkPortBigJobLog(b *testing.B) {
	if testing.Short() {
		b.Skip("writes a file of 1 GB")
	}
	for name, format := range map[string]string{
		"plain": "%d: 2026-01-01T00:00:00.%06d INFO engine: iter = %d, global_rank = 3, rank = 0, " +
			"currank_total_requests = 16/16, elapsed = 23.4ms\n",
		"brackets": "[%d] [2026-01-01 00:00:00.%06d] [TRT-LLM] [I] [rank 3] worker 5: iter = %d, elapsed = 23.4ms\n",
	} {
		b.Run(name, func(b *testing.B) {
			dir := sampleCopy(b)
			b.SetBytes(appendLines(b, filepath.Join(dir, harness.JobLog), format, 1<<30))
			portAll(b, dir)
		})
	}
}

// appendLines appends lines to a file until it has a size, and returns the number of bytes.
func appendLines(b *testing.B, path, format string, size int64) (written int64) {
	b.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i := 0; written < size; i++ {
		n, err := fmt.Fprintf(w, format, i%32, i%1000000, i)
		if err != nil {
			b.Fatal(err)
		}
		written += int64(n)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return written
}
