package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/testdata/frametest"
)

// idleFor is the duration of one iteration of BenchmarkIdle.
const idleFor = time.Minute

// BenchmarkIdle measures the CPU time and memory of an idle dashboard: for a run that has
// ended, and for a followed run that writes nothing.
func BenchmarkIdle(b *testing.B) {
	if testing.Short() {
		b.Skip("takes minutes")
	}
	for _, kind := range []struct {
		name  string
		ended bool
	}{{"ended", true}, {"followed", false}} {
		b.Run(kind.name, func(b *testing.B) {
			root := b.TempDir()
			out := filepath.Join(root, "bm", "c1010", "agentperf")
			if err := os.MkdirAll(out, 0o755); err != nil {
				b.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(sampleRun, "agentperf", "*"))
			if err != nil {
				b.Fatal(err)
			}
			for _, f := range files {
				if !kind.ended && filepath.Base(f) != "requests.jsonl" {
					continue
				}
				data, err := os.ReadFile(f)
				if err != nil {
					b.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(out, filepath.Base(f)), data, 0o644); err != nil {
					b.Fatal(err)
				}
			}
			cmd := exec.Command(program, "--root", root)
			cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+b.TempDir())
			term := frametest.Start(b, 120, 40, cmd)
			term.WaitFor("bm/c1010")
			term.Press("enter")
			term.WaitFor("FIGURES")
			var cpu time.Duration
			var wall time.Duration
			for b.Loop() {
				cpuBefore, start := cpuOf(b, cmd.Process.Pid), time.Now()
				<-time.After(idleFor)
				cpu, wall = cpu+cpuOf(b, cmd.Process.Pid)-cpuBefore, wall+time.Since(start)
			}
			b.ReportMetric(100*cpu.Seconds()/wall.Seconds(), "%-of-a-core")
			b.ReportMetric(memoryOf(b, cmd.Process.Pid), "MiB-resident")
		})
	}
}

// cpuOf returns the CPU time of a process. The kernel counts it in units of 10 ms.
func cpuOf(b *testing.B, pid int) time.Duration {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // starts with the field state
	total := time.Duration(0)
	for _, f := range fields[11:13] { // user and system time
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		total += time.Duration(n) * 10 * time.Millisecond
	}
	return total
}

// memoryOf returns the resident memory of a process in MiB.
func memoryOf(b *testing.B, pid int) float64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	b.Fatal("no VmRSS in /proc")
	return 0
}
