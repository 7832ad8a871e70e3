package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// buildLock allows one process at a time to prepare a runtime directory. The lock is a directory,
// since mkdir is atomic on every file system, with a record of its holder. It is stale, and may be
// removed, if the holder has ended or the lock is older than any build can be.
type buildLock struct {
	dir   string
	now   func() time.Time
	stale time.Duration
	mine  []byte // our record while we hold the lock
}

// holder identifies the process that holds the lock.
type holder struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // start of the process, in clock ticks since boot
	Host  string `json:"host"`  // host name and PID namespace, in which the PID is valid
	Since string `json:"since"` // informative
}

func (h holder) String() string {
	if h.PID == 0 {
		return "an unknown process"
	}
	return fmt.Sprintf("process %d on %s", h.PID, h.Host)
}

// lockState is the state of a lock as read from disk.
type lockState struct {
	holder
	raw []byte
	at  time.Time // when it was acquired
}

// tryAcquire acquires the lock if it is free.
func (l *buildLock) tryAcquire() (bool, error) {
	if err := os.Mkdir(l.dir, 0o700); errors.Is(err, fs.ErrExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("acquire the build lock: %w", err)
	}
	me, err := self(l.now())
	if err == nil {
		l.mine, err = json.Marshal(me)
	}
	if err == nil {
		err = os.WriteFile(l.record(), l.mine, 0o600)
	}
	if err != nil {
		return false, errors.Join(fmt.Errorf("acquire the build lock: %w", err), os.RemoveAll(l.dir))
	}
	return true, nil
}

func (l *buildLock) record() string { return filepath.Join(l.dir, "holder.json") }

// read reads the lock; ok is false if it is free.
func (l *buildLock) read() (s lockState, ok bool, err error) {
	info, err := os.Stat(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	} else if err != nil {
		return s, false, fmt.Errorf("read the build lock: %w", err)
	}
	s.at = info.ModTime()
	if s.raw, err = os.ReadFile(l.record()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, false, fmt.Errorf("read the build lock: %w", err)
	}
	s.holder = parseHolder(s.raw)
	return s, true, nil
}

// parseHolder parses a record. If it is invalid or incomplete, the PID is 0.
func parseHolder(raw []byte) holder {
	var h holder
	if err := json.Unmarshal(raw, &h); err != nil || h.PID < 1 {
		return holder{}
	}
	return h
}

// isStale reports whether a lock is stale, and why.
func (l *buildLock) isStale(s lockState) (reason string, stale bool) {
	if age := l.now().Sub(s.at); age > l.stale {
		return fmt.Sprintf("%s old", age.Round(time.Second)), true
	}
	me, err := self(l.now())
	if err != nil || s.PID == 0 || s.Host != me.Host {
		return "", false
	}
	if start, alive := processStart(s.PID); !alive || start != s.Start {
		return "its process has ended", true
	}
	return "", false
}

// breakStale removes a stale lock; it does not acquire it. Only one process at a time does this,
// and only if the lock is unchanged since s was read, because another process may have acquired it.
func (l *buildLock) breakStale(s lockState) error {
	guard, err := flock(l.dir+".steal", syscall.LOCK_EX)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil
	} else if err != nil {
		return fmt.Errorf("remove a stale build lock: %w; remove %s by hand", err, l.dir)
	}
	current, ok, err := l.read()
	if err == nil && ok && bytes.Equal(current.raw, s.raw) && current.at.Equal(s.at) {
		err = l.remove()
	}
	return errors.Join(err, unlock(guard))
}

// remove removes the lock atomically: it renames the directory before it deletes it.
func (l *buildLock) remove() error {
	aside, err := os.MkdirTemp(filepath.Dir(l.dir), filepath.Base(l.dir)+".")
	if err != nil {
		return fmt.Errorf("remove the build lock: %w", err)
	}
	err = os.Rename(l.dir, filepath.Join(aside, "removed"))
	if err = errors.Join(err, os.RemoveAll(aside)); err != nil {
		return fmt.Errorf("remove the build lock: %w", err)
	}
	return nil
}

// release releases the lock, unless another process holds it now.
func (l *buildLock) release() error {
	s, ok, err := l.read()
	if err != nil || !ok || !bytes.Equal(s.raw, l.mine) {
		return err
	}
	return l.remove()
}

// acquire waits for the lock and logs the wait.
func (s *step) acquire(ctx context.Context, l *buildLock) error {
	if got, err := l.tryAcquire(); got || err != nil {
		return err
	}
	return s.rec.step("wait for the build lock", func() error {
		ctx, cancel := context.WithTimeoutCause(ctx, s.lim.wait,
			problem.Errorf(problem.ResultsInUse, "still held after %s; if no build is running, remove it", s.lim.wait))
		defer cancel()
		tick := time.NewTicker(s.lim.poll)
		defer tick.Stop()
		for checks := 0; ; checks++ {
			found, held, err := l.read()
			if err != nil {
				return err
			}
			if why, stale := l.isStale(found); held && stale {
				s.rec.logf("removing the stale build lock of %s: %s", found, why)
				if err := l.breakStale(found); err != nil {
					return err
				}
			} else if held && checks%s.lim.notice == 0 {
				s.rec.report("wait for the build lock", fmt.Sprintf("held by %s since %s", found, found.at.Format(time.TimeOnly)))
			}
			if got, err := l.tryAcquire(); got || err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("build lock %s: %w", l.dir, context.Cause(ctx))
			case <-tick.C:
			}
		}
	})
}

// self returns the record of this process.
func self(now time.Time) (holder, error) {
	name, err := os.Hostname()
	if err != nil {
		return holder{}, err
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return holder{}, err
	}
	start, _ := processStart(os.Getpid())
	return holder{PID: os.Getpid(), Start: start, Host: name + " " + space, Since: now.UTC().Format(time.RFC3339)}, nil
}

// processStart returns the start of a process, in clock ticks since boot, and whether it is alive.
// A zombie is not.
func processStart(pid int) (ticks uint64, alive bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	return parseStat(string(data))
}

// parseStat parses the state and the start time (fields 3 and 22) of /proc/PID/stat. Field 2, the
// program's name, may contain any character and ends at the last parenthesis.
func parseStat(stat string) (ticks uint64, alive bool) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0, false
	}
	ticks, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return 0, false
	}
	return ticks, true
}

// lockResults creates and locks the results directory.
func (s *step) lockResults() error {
	if err := os.MkdirAll(s.ResultsDir, 0o755); err != nil {
		return fmt.Errorf("create the results directory: %w", err)
	}
	var err error
	if s.ResultsDir, err = filepath.Abs(s.ResultsDir); err != nil {
		return fmt.Errorf("results directory: %w", err)
	}
	f, err := flock(filepath.Join(s.ResultsDir, ".bench.lock"), syscall.LOCK_EX)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return problem.Errorf(problem.ResultsInUse, "results directory: another run writes to %s; "+
			"wait until it has ended, or choose another directory", s.ResultsDir)
	case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOLCK):
		s.notes = append(s.notes,
			"the file system of "+s.ResultsDir+" does not support locks: make sure that no other run writes there")
		return nil
	case err != nil:
		return fmt.Errorf("lock the results directory: %w", err)
	}
	s.locks = append(s.locks, f)
	return nil
}

// flock opens or creates a file and locks it without waiting. The lock ends when it is unlocked, or
// when the last process that has the file open ends.
func flock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(&fs.PathError{Op: "flock", Path: path, Err: err}, f.Close())
	}
	return f, nil
}

func unlock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}
