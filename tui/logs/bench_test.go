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

// frameVariable makes the test program show the end of a log once and nothing else,
// so that time and memory of a whole process can be measured.
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

// disk opens logs and watches them, as the engine does.
type disk struct{}

func (disk) LogView(ctx context.Context, paths ...string) (*logview.View, <-chan logview.Growth, error) {
	return logview.Watch(ctx, logview.NewView(time.UTC, paths...))
}

// firstFrame shows a log's end, says how long that took, and then pages up and goes
// to the beginning, for the memory that this needs.
func firstFrame(path string) error {
	began := time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := New(ctx, disk{}, ui.NewTheme(true))
	p.SetSize(200, 50)
	if err := settle(p, p.Open(Log{Name: "client", Path: path})); err != nil {
		return err
	}
	if !strings.Contains(p.View(), "the last line") {
		return fmt.Errorf("the end is not in view:\n%s", p.View())
	}
	fmt.Println(time.Since(began).Nanoseconds())
	for range 200 {
		if err := settle(p, p.Scroll(-p.win.h)); err != nil {
			return err
		}
	}
	if err := settle(p, p.fetch(p.win.at(p.src.view.Start(), 0))); err != nil {
		return err
	}
	if !strings.Contains(p.View(), "line 0 ") {
		return errors.New("the beginning is not in view")
	}
	return p.src.err
}

// settle runs a command and what follows from it; waiting for growth is left out.
func settle(p *Pane, cmd tea.Cmd) error {
	for cmd != nil {
		msg, ok := cmd().(Msg)
		if !ok {
			return fmt.Errorf("%T is no message of the pane", msg)
		}
		p.Update(msg) // what it asks for is the page, or to wait for growth
		if cmd = nil; p.read.now != nil {
			cmd = p.read.now.run()
		}
	}
	return p.src.err
}

// BenchmarkFirstFrame opens a log of 10 GB in a process of its own: the time to the
// first frame, and the memory of the process, which has then also paged up and gone
// to the log's beginning.
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
	const size = 10_000_000_000 // with a hole between two blocks of lines, which is fast to write
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

// BenchmarkAppendToView is the time from a line's write until it is in the window,
// through the watch, the reading and the drawing; the terminal's next frame comes
// 50 ms later at most.
func BenchmarkAppendToView(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	p := New(b.Context(), disk{}, ui.NewTheme(true))
	p.SetSize(120, 40)
	if err := settle(p, p.Open(Log{Name: "client", Path: path})); err != nil {
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
				b.Fatal("no message of the pane")
			}
			p.Update(msg)
			if p.read.now != nil {
				if err := settle(p, p.read.now.run()); err != nil {
					b.Fatal(err)
				}
			}
		}
		worst = max(worst, time.Since(began))
	}
	b.ReportMetric(worst.Seconds()*1000, "ms-at-worst")
}

// BenchmarkDraw draws a window of colourful long lines with something found in
// each: what a message costs, whatever the log's size.
func BenchmarkDraw(b *testing.B) {
	r := newRig(b, 200, 50, strings.Repeat(strings.Repeat("an ERROR word ", 40)+"\n", 1000))
	r.typed("/error")
	b.ReportAllocs()
	for b.Loop() {
		r.p.draw()
		_ = r.p.View()
	}
}
