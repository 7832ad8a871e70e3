package porter

import (
	"bufio"
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

// BenchmarkPortBigJobLog ports the sample with 1 GB of server output after the launch lines.
func BenchmarkPortBigJobLog(b *testing.B) {
	if testing.Short() {
		b.Skip("writes a file of 1 GB")
	}
	dir := sampleCopy(b)
	f, err := os.OpenFile(filepath.Join(dir, harness.JobLog), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	size := int64(0)
	for i := 0; size < 1<<30; i++ {
		n, err := fmt.Fprintf(
			w,
			"%d: 2026-01-01T00:00:00.%06d INFO engine: iter = %d, global_rank = %d, rank = 0, currank_total_requests = "+
				"16/16, elapsed = 23.4ms\n",
			i%32,
			i%1000000,
			i,
			i%32,
		)
		if err != nil {
			b.Fatal(err)
		}
		size += int64(n)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	portAll(b, dir)
}
