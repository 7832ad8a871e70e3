package follow

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	t.Parallel()
	const s = time.Second
	type look struct {
		byEvent, grew bool
		want          time.Duration
	}
	for name, c := range map[string]struct {
		trusted bool
		looks   []look
		after   bool // trusted
	}{
		"quiet and local": {true, []look{{true, false, 8 * s}, {false, false, 8 * s}}, true},
		"told":            {true, []look{{true, true, 8 * s}, {true, true, 8 * s}, {false, false, 8 * s}}, true},
		"told belatedly":  {true, []look{{false, true, s}, {true, false, 8 * s}, {false, false, 8 * s}}, true},
		"never told": {
			true, []look{{false, true, s}, {false, false, 2 * s}, {false, false, 4 * s}, {false, true, s}}, false,
		},
		"of a network": {
			false, []look{
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
			for i, l := range c.looks {
				if got := p.next(l.byEvent, l.grew); got != l.want {
					t.Errorf("look %d: waits %s, want %s", i, got, l.want)
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
		t.Error("below a file there is a file system to trust")
	}
}

// union mounts a folder by unionfs-fuse: what is written to the branch makes no
// events in the union, where sizes lag too. The test is left out where that can't be
// done.
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

// TestSilentFileSystem follows what is written behind a file system's back.
func TestSilentFileSystem(t *testing.T) {
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
	// What the system has cached of the old file may be read once more under the new
	// one's size; then that is taken back.
	restarted := false
	for {
		lines, last := until(t, c, 1)
		if restarted = restarted || last.Restarted; restarted && lines[0] == "replaced" {
			break
		}
	}
	close(stop)
	for range c { // the file is closed before the union is unmounted
	}
}
