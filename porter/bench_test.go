package porter

import (
	"bufio"
	"fmt"
	"os"
	"testing"
)

func BenchmarkPortSample(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		r := port(b, sampleDir, Options{WorkloadOut: "/w.yaml"})
		recipeText(b, r)
		workloadText(b, r)
		if _, err := r.ProvenanceJSON(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBigJobLog ports a run whose job.log holds 1 GB of server output
// between the launch lines.
func BenchmarkBigJobLog(b *testing.B) {
	dir := lay(b, smallRun())
	f, err := os.OpenFile(dir+"/"+nameJob, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	size := int64(0)
	for i := 0; size < 1<<30; i++ {
		n, err := fmt.Fprintf(w, "%d: 2026-01-01T00:00:00.%06d INFO engine: iter = %d, global_rank = %d, rank = 0, currank_total_requests = 16/16, elapsed = 23.4ms\n", i%32, i%1000000, i, i%32)
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
	b.ReportAllocs()
	for b.Loop() {
		port(b, dir, Options{})
	}
}
