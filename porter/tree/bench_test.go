package tree

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter"
)

const sample = "../../testdata/bm_agentperf_dsv4_5p1d/c1010"

// BenchmarkPortTree ports a tree of 1000 copies of the sample and writes the files.
func BenchmarkPortTree(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		dir := filepath.Join(root, fmt.Sprintf("bm_%d", i/10), fmt.Sprintf("c%d", 1+i%10))
		for _, name := range []string{
			harness.JobParams, harness.CTXConfig, harness.GENConfig, harness.ClientScript, harness.ClientLog, harness.JobLog,
		} {
			text, err := os.ReadFile(filepath.Join(sample, name))
			if err != nil {
				b.Fatal(err)
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	opt := Options{Options: porter.Options{DatasetRoots: []string{filepath.Join(sample, "datasets")}}}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		opt.OutDir = b.TempDir()
		b.StartTimer()
		n := 0
		if err := Port(b.Context(), root, opt, func(r Row) error {
			if r.Status == Ported {
				n++
			}
			return nil
		}); err != nil || n != 1000 {
			b.Fatalf("%d ported, %v", n, err)
		}
	}
}
