package follow

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestPollPace(t *testing.T) {
	t.Parallel()
	const s = time.Second
	type read struct {
		byEvent, grew bool
		want          time.Duration
	}
	for name, c := range map[string]struct {
		trusted bool
		reads   []read
		after   bool // events are still trusted afterwards
	}{
		"no growth":  {true, []read{{true, false, 8 * s}, {false, false, 8 * s}}, true},
		"event":      {true, []read{{true, true, 8 * s}, {true, true, 8 * s}, {false, false, 8 * s}}, true},
		"late event": {true, []read{{false, true, s}, {true, false, 8 * s}, {false, false, 8 * s}}, true},
		"no event": {
			true, []read{{false, true, s}, {false, false, 2 * s}, {false, false, 4 * s}, {false, true, s}}, false,
		},
		"network file system": {
			false, []read{
				{false, false, 2 * s},
				{false, false, 4 * s},
				{false, false, 8 * s},
				{false, false, 8 * s},
				{true, true, s},
				{false, false, 2 * s},
			}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pollPace{maxPause: 8 * s, pause: s, trusted: c.trusted}
			for i, l := range c.reads {
				if got := p.next(l.byEvent, l.grew); got != l.want {
					t.Errorf("read %d: waits %s, want %s", i, got, l.want)
				}
			}
			if p.trusted != c.after {
				t.Errorf("trusted %v", p.trusted)
			}
		})
	}
}

func TestFileSystem(t *testing.T) {
	t.Parallel()
	if name, polled, err := FileSystem(filepath.Join(t.TempDir(), "not", "there")); name == "" || err != nil {
		t.Errorf("%q %v %v", name, polled, err)
	}
	if _, polled, err := FileSystem("/proc/self/mem/x"); err == nil || !polled {
		t.Error("no error for a path below a file")
	}
}

// union mounts a directory with unionfs-fuse. Writes to the branch cause no events in the
// union, and its file sizes lag. The test is skipped where this is not possible.
func union(t testing.TB) (branch, mount string) {
	t.Helper()
	program, err := exec.LookPath("unionfs")
	if err != nil {
		t.Skip("left out: a file system without events needs Debian's unionfs-fuse")
	}
	dir := t.TempDir()
	branch, mount = filepath.Join(dir, "branch"), filepath.Join(dir, "union")
	for _, d := range []string{branch, mount} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(program, branch+"=RW", mount).CombinedOutput(); err != nil {
		t.Skipf("left out: unionfs can't mount here (is there /dev/fuse?): %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("fusermount", "-u", mount).CombinedOutput(); err != nil {
			t.Errorf("unmount: %v %s", err, out)
		}
	})
	return branch, mount
}

// A file is followed on a file system without inotify events.
func TestFileSystemWithoutEvents(t *testing.T) {
	t.Parallel()
	branch, mount := union(t)
	if name, polled, err := FileSystem(mount); name != "fuse" || !polled || err != nil {
		t.Errorf("%q %v %v", name, polled, err)
	}
	written := filepath.Join(branch, "f")
	write(t, written, "one\n")
	stop := make(chan struct{})
	c := start(t, filepath.Join(mount, "f"), Options{Poll: 200 * time.Millisecond, Stop: stop})
	for i, want := range []string{"one", "two", "three", "four"} {
		if i > 0 {
			add(t, written, want+"\n")
		}
		if lines, _ := until(t, c, 1); lines[0] != want {
			t.Fatalf("got %q, want %s", lines, want)
		}
	}
	write(t, written+".new", "replaced\n")
	if err := os.Rename(written+".new", written); err != nil {
		t.Fatal(err)
	}
	// The kernel may return cached content of the old file with the size of the new one. A
	// restart follows.
	restarted := false
	for {
		lines, last := until(t, c, 1)
		if restarted = restarted || last.Restarted; restarted && lines[0] == "replaced" {
			break
		}
	}
	close(stop)
	for range c { // wait until the file is closed, so that the union can be unmounted
	}
}
