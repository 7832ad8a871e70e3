package logs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine/logview"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// frameVariable names a log. If it is set, the test binary only shows the end of that
// log, so that the time and memory of a process can be measured.
const frameVariable = "AGENTPERF_BENCH_FRAME"

func TestMain(m *testing.M) {
	path := os.Getenv(frameVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	if err := firstFrame(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// watchedSource opens and watches logs, as the engine does.
type watchedSource struct{}

func (watchedSource) LogView(ctx context.Context, paths ...string) (*logview.View, <-chan logview.Growth, error) {
	return logview.Watch(ctx, logview.NewView(time.UTC, paths...))
}

// firstFrame shows the end of a log and prints the time in nanoseconds. Then it pages
// up and goes to the first line, which counts for the memory.
func firstFrame(path string) error {
	began := time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := New(ctx, watchedSource{}, ui.NewTheme(true))
	p.SetSize(200, 50)
	if err := runAll(p, p.Open(Log{Name: "client", Path: path})); err != nil {
		return err
	}
	if !strings.Contains(p.View(), "the last line") {
		return fmt.Errorf("the last line is not visible:\n%s", p.View())
	}
	fmt.Println(time.Since(began).Nanoseconds())
	for range 200 {
		if err := runAll(p, p.Scroll(-p.win.h)); err != nil {
			return err
		}
	}
	if err := runAll(p, p.load(p.win.targetAt(p.src.view.Start(), 0))); err != nil {
		return err
	}
	if !strings.Contains(p.View(), "line 0 ") {
		return errors.New("the first line is not visible")
	}
	return p.src.err
}

// runAll runs a command and the commands that result from it, but does not wait for growth.
func runAll(p *Pane, cmd tea.Cmd) error {
	for cmd != nil {
		msg, ok := cmd().(Msg)
		if !ok {
			return fmt.Errorf("%T is not a message of the pane", msg)
		}
		p.Update(msg) // the resulting command reads a page or waits for growth
		if cmd = nil; p.loading.fetch != nil {
			cmd = p.loading.fetch.run()
		}
	}
	return p.src.err
}

// BenchmarkFirstFrame opens a log of 10 GB in a new process and reports the time to
// the first frame and the peak memory, after paging up and going to the first line.
func BenchmarkFirstFrame(b *testing.B) {
	path := filepath.Join(b.TempDir(), "large.log")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	block := func(last string) string {
		var t strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&t, "2026-11-30 14:41:12,250 INFO line %d of a worker's log: "+
				"batch of 64, 1234 context tokens, 17.3 ms\n", i)
		}
		return t.String() + last
	}
	const size = 10_000_000_000 // a sparse file: two blocks of lines with a hole between them
	end := block("the last line\n")
	if _, err := f.WriteString(block("")); err != nil {
		b.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("\n"+end), int64(size-len(end))); err != nil {
		b.Fatal(err)
	}
	took, memory, n := time.Duration(0), int64(0), 0
	for b.Loop() {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), frameVariable+"="+path)
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("%v\n%.2000s", err, out)
		}
		var nanos int64
		if _, err := fmt.Sscan(string(out), &nanos); err != nil {
			b.Fatal(err)
		}
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			b.Fatal("no resource usage on this system")
		}
		took, memory, n = took+time.Duration(nanos), max(memory, usage.Maxrss<<10), n+1
	}
	b.ReportMetric(took.Seconds()*1000/float64(n), "ms-to-frame")
	b.ReportMetric(float64(memory)/(1<<20), "MiB-resident")
}

// BenchmarkAppendToView measures the time from writing a line until it is drawn. The
// terminal's next frame comes at most 50 ms later.
func BenchmarkAppendToView(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	p := New(b.Context(), watchedSource{}, ui.NewTheme(true))
	p.SetSize(120, 40)
	if err := runAll(p, p.Open(Log{Name: "client", Path: path})); err != nil {
		b.Fatal(err)
	}
	worst := time.Duration(0)
	for n := 0; b.Loop(); n++ {
		began := time.Now()
		line := fmt.Sprintf("line %d\n", n)
		if _, err := f.WriteString(line); err != nil {
			b.Fatal(err)
		}
		for !strings.Contains(p.View(), strings.TrimSpace(line)+" ") {
			msg, ok := p.src.nextGrowth()().(Msg)
			if !ok {
				b.Fatal("not a message of the pane")
			}
			p.Update(msg)
			if p.loading.fetch != nil {
				if err := runAll(p, p.loading.fetch.run()); err != nil {
					b.Fatal(err)
				}
			}
		}
		worst = max(worst, time.Since(began))
	}
	b.ReportMetric(worst.Seconds()*1000, "ms-max")
}

// BenchmarkDraw draws a window of long lines with matches in each. Each message costs
// that much, independent of the size of the log.
func BenchmarkDraw(b *testing.B) {
	r := newRig(b, 200, 50, strings.Repeat(strings.Repeat("an ERROR word ", 40)+"\n", 1000))
	r.typeText("/error")
	b.ReportAllocs()
	for b.Loop() {
		r.p.draw()
		_ = r.p.View()
	}
}
