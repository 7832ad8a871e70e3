package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// BenchmarkPortProcess measures port as a process, from exec to exit. ns/op is wall time;
// max-MB is the largest resident memory, an upper bound, because the kernel includes the
// memory of the parent before exec.
func BenchmarkPortProcess(b *testing.B) {
	sampleRun, err := filepath.Abs(sampleRun)
	if err != nil {
		b.Fatal(err)
	}
	copySample := func(b *testing.B) string {
		b.Helper()
		dir := filepath.Join(b.TempDir(), "bm_copy", "c1010")
		if err := os.CopyFS(dir, os.DirFS(sampleRun)); err != nil {
			b.Fatal(err)
		}
		return dir
	}
	b.Run("sample", func(b *testing.B) { benchmarkPort(b, sampleRun) })
	b.Run("client.log-4GB", func(b *testing.B) {
		dir := copySample(b)
		if err := os.Truncate(filepath.Join(dir, "client.log"), 4<<30); err != nil {
			b.Fatal(err)
		}
		benchmarkPort(b, dir)
	})
	b.Run("job.log-1GB", func(b *testing.B) {
		if testing.Short() {
			b.Skip("writes a file of 1 GB")
		}
		dir := copySample(b)
		growLog(b, filepath.Join(dir, "job.log"), 1<<30)
		benchmarkPort(b, dir)
	})
	b.Run("tree-1000", func(b *testing.B) {
		root := b.TempDir()
		for i := range 1000 {
			dir := filepath.Join(root, fmt.Sprintf("bm_%d", i/10), fmt.Sprintf("c%d", 1+i%10))
			if err := os.CopyFS(dir, os.DirFS(sampleRun)); err != nil {
				b.Fatal(err)
			}
		}
		benchmarkProcess(b, func(out string) []string {
			return []string{"port", "--tree", root, "--out-dir", out, "--dataset-root", filepath.Join(sampleRun, "datasets")}
		})
	})
}

// benchmarkPort ports one run directory in each iteration.
func benchmarkPort(b *testing.B, dir string) {
	b.Helper()
	benchmarkProcess(b, func(out string) []string {
		return []string{
			"port", dir, "--out", filepath.Join(out, "r.yaml"), "--workload-out", filepath.Join(out, "w.yaml"),
			"--dataset-root", filepath.Join(dir, "datasets"),
		}
	})
}

// benchmarkProcess runs the program in each iteration, with an empty output directory.
func benchmarkProcess(b *testing.B, args func(out string) []string) {
	b.Helper()
	var maxKB int64
	for b.Loop() {
		b.StopTimer()
		cmd := exec.Command(program, args(b.TempDir())...)
		b.StartTimer()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			maxKB = max(maxKB, u.Maxrss)
		}
	}
	b.ReportMetric(float64(maxKB)/1024, "max-MB")
}

// growLog appends server log lines to a file until they have the given size.
func growLog(b *testing.B, path string, size int64) {
	b.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var lines strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&lines, "%d: 2026-01-01T00:00:00.%06d INFO engine: "+
			"iter = %d, global_rank = %d, rank = 0, elapsed = 23.4ms\n", i%32, i, i, i%32)
	}
	for n := int64(0); n < size; n += int64(lines.Len()) {
		if _, err := f.WriteString(lines.String()); err != nil {
			b.Fatal(err)
		}
	}
}
