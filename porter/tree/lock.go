package tree

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// lockName is the file in OutDir that a call holds a lock on; it tells who does.
const lockName = ".port-tree.lock"

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
		holder := "another call"
		if text, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(text)) > 0 {
			holder = safetext.Clip(string(bytes.TrimSpace(text)), 200) // process and host
		}
		return fmt.Errorf("%s is ported to by %s; wait for its end, or give another --out-dir", t.opt.OutDir, holder)
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
