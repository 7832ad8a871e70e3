package tree

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// lockName is the file in OutDir that a call holds a lock on; it tells who does.
const lockName = ".port-tree.lock"

// busyError says that another call ports to the same folder.
type busyError struct {
	Dir    string
	Holder string // process and host; empty if it does not say
}

func (e *busyError) Error() string {
	who := "another call"
	if e.Holder != "" {
		who = e.Holder
	}
	return fmt.Sprintf("%s is ported to by %s; wait for its end, or give another --out-dir", e.Dir, who)
}

// take locks OutDir for this call: two would replace each other's half-written
// folders, and both write the record. The kernel drops the lock of one that died.
// A file system without locks is no reason not to port.
func (t *tree) take(path string) error {
	t.lock = flock.New(path)
	switch got, err := t.lock.TryLock(); {
	case errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOSYS):
		return nil
	case err != nil:
		return fmt.Errorf("lock %s: %w", path, err)
	case !got:
		holder, err := os.ReadFile(path)
		if err != nil {
			holder = nil // it is busy all the same
		}
		return &busyError{Dir: t.opt.OutDir, Holder: safetext.Clip(strings.TrimSpace(string(holder)), 200)}
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, "process %d on %s\n", os.Getpid(), host), 0o644); err != nil {
		t.lock.Close()
		return fmt.Errorf("lock %s: %w", path, err)
	}
	return nil
}

func (t *tree) close() {
	t.record.Close()
	t.lock.Close()
}
