package follow

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// writerVariable makes the test binary only write numbered lines to a file, so that the CPU time
// of the reader can be measured separately.
const writerVariable = "AGENTPERF_BENCH_WRITE"

const (
	linesPerSecond = 20_000
	rateSeconds    = 10
)

func TestMain(m *testing.M) {
	path := os.Getenv(writerVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	if err := writeSteadily(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// writeSteadily writes 20,000 lines per second, in batches like a program with a buffer.
func writeSteadily(path string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	began := time.Now()
	for n := 0; n < linesPerSecond*rateSeconds; {
		<-tick.C
		for due := int(linesPerSecond * time.Since(began).Seconds()); n < min(due, linesPerSecond*rateSeconds); n++ {
			const line = "%d 2026-11-30 14:41:12,250 INFO a line of a worker's log as they come by the thousand: " +
				"batch of 64, 1234 tokens\n"
			if _, err := fmt.Fprintf(w, line, n); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkRate follows a file that grows by 20,000 lines per second for ten seconds, and
// reports the CPU usage and the number of lost lines.
func BenchmarkRate(b *testing.B) {
	if testing.Short() {
		b.Skip("takes ten seconds")
	}
	lost, used, wall := 0, time.Duration(0), time.Duration(0)
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "f")
		stop := make(chan struct{})
		c, err := File(b.Context(), path, Options{Stop: stop})
		if err != nil {
			b.Fatal(err)
		}
		writer := exec.Command(os.Args[0])
		writer.Env = append(os.Environ(), writerVariable+"="+path)
		writer.Stderr = os.Stderr
		before, began := cpu(b), time.Now()
		if err := writer.Start(); err != nil {
			b.Fatal(err)
		}
		failed := make(chan error, 1)
		go func() {
			failed <- writer.Wait()
			close(stop)
		}()
		next := 0
		for chunk := range c {
			for _, l := range chunk.Lines {
				n, err := strconv.Atoi(string(l[:max(indexSpace(l), 0)]))
				if err != nil || n < next {
					b.Fatalf("line %q after line %d", l, next)
				}
				lost, next = lost+n-next, n+1
			}
		}
		lost += linesPerSecond*rateSeconds - next
		used, wall = used+cpu(b)-before, wall+time.Since(began)
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(lost), "lines-lost")
	b.ReportMetric(100*used.Seconds()/wall.Seconds(), "%-of-a-core")
	b.ReportMetric(linesPerSecond, "lines/s")
}

func indexSpace(l []byte) int {
	for i, c := range l {
		if c == ' ' {
			return i
		}
	}
	return -1
}

// cpu returns the CPU time of this process.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSilent measures the time from the write of a line to its delivery on a file system
// without inotify events, with the default poll interval.
func BenchmarkSilent(b *testing.B) {
	branch, mount := union(b)
	written := filepath.Join(branch, "f")
	write(b, written, "")
	ctx, cancel := context.WithCancel(b.Context())
	c, err := File(ctx, filepath.Join(mount, "f"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	worst := time.Duration(0)
	for n := 0; b.Loop(); n++ {
		began := time.Now()
		add(b, written, fmt.Sprintf("line %d\n", n))
		until(b, c, 1)
		worst = max(worst, time.Since(began))
	}
	cancel()
	for range c { // wait until the file is closed, so that the union can be unmounted
	}
	b.ReportMetric(worst.Seconds(), "s-at-worst")
	b.ReportMetric(defaultPoll.Seconds(), "s-longest-pause")
}
