package porter

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
)

func TestLustreNotice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{"/scratch", "/real"} {
		if err := os.Mkdir(dir+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir+"/scratch", dir+"/lustre"); err != nil {
		t.Fatal(err)
	}
	if n := lustreNotice(dir+"/lustre", dir+"/scratch"); n != "" {
		t.Errorf("a good link: %s", n)
	}
	if n := lustreNotice(dir+"/real", dir+"/scratch"); !strings.Contains(n, "is not a link to") {
		t.Errorf("another directory: %q", n)
	}
	if n := lustreNotice(dir+"/none", dir+"/scratch"); n != "" {
		t.Errorf("no such directory: %s", n)
	}
}

// TestBigLogs checks that large logs are not kept in memory.
func TestBigLogs(t *testing.T) {
	dir := lay(t, smallRun())
	for _, name := range []string{harness.JobLog, harness.ClientLog} {
		f, err := os.OpenFile(dir+"/"+name, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(256 << 20); err != nil { // sparse: one endless line of zeros
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := port(t, dir, Options{})
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 30<<20 {
		t.Errorf("allocated %d MiB, want at most 30", got>>20)
	}
	if r.CountOpen(MustFix) != 3 {
		t.Errorf("open questions: %v", todoLines(r))
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"on": `"on"`, "12:30": `"12:30"`, "none": "none", "1": `"1"`, "a: b": "'a: b'", "": `""`, "/x/y": "/x/y", "-": "'-'",
	} {
		if got := yamldoc.Text(plain(in)); got != want {
			t.Errorf("plain %q: %s, want %s", in, got, want)
		}
	}
}
