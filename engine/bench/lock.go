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

// buildLock lets one start at a time prepare a runtime folder. It is a folder,
// since mkdir is atomic everywhere, with a record of its holder inside: a lock
// whose holder is dead, or that is older than any build, is taken away.
type buildLock struct {
	dir   string
	now   func() time.Time
	stale time.Duration
	mine  []byte // the record while it is ours
}

// holder is the process that has the lock.
type holder struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // of the process, in clock ticks since the host's boot
	Host  string `json:"host"`  // name and PID namespace: where the PID means anything
	Since string `json:"since"` // for people
}

func (h holder) String() string {
	if h.PID == 0 {
		return "a process that left no record"
	}
	return fmt.Sprintf("process %d on %s", h.PID, h.Host)
}

// seen is a lock as somebody else finds it.
type seen struct {
	holder
	raw []byte
	at  time.Time // its last change, which is when it was taken
}

// tryTake takes the lock if it is free.
func (l *buildLock) tryTake() (bool, error) {
	if err := os.Mkdir(l.dir, 0o700); errors.Is(err, fs.ErrExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("take the build lock: %w", err)
	}
	me, err := self(l.now())
	if err == nil {
		l.mine, err = json.Marshal(me)
	}
	if err == nil {
		err = os.WriteFile(l.record(), l.mine, 0o600)
	}
	if err != nil {
		return false, errors.Join(fmt.Errorf("take the build lock: %w", err), os.RemoveAll(l.dir))
	}
	return true, nil
}

func (l *buildLock) record() string { return filepath.Join(l.dir, "holder.json") }

// look reads the lock; ok is false when there is none.
func (l *buildLock) look() (s seen, ok bool, err error) {
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

// parseHolder reads a record; one that is not (or not yet) whole names nobody.
func parseHolder(raw []byte) holder {
	var h holder
	if err := json.Unmarshal(raw, &h); err != nil || h.PID < 1 {
		return holder{}
	}
	return h
}

// abandoned says whether nobody works behind a lock any more, and how it is known.
func (l *buildLock) abandoned(s seen) (string, bool) {
	if age := l.now().Sub(s.at); age > l.stale {
		return fmt.Sprintf("it is %s old", age.Round(time.Second)), true
	}
	me, err := self(l.now())
	if err != nil || s.PID == 0 || s.Host != me.Host {
		return "", false
	}
	if start, alive := processStart(s.PID); !alive || start != s.Start {
		return "its holder is dead", true
	}
	return "", false
}

// steal takes an abandoned lock away; who takes it next is open. Only one at a
// time does so, and looks again first: what another has taken since is left alone.
func (l *buildLock) steal(s seen) error {
	guard, err := flock(l.dir+".steal", syscall.LOCK_EX)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil
	} else if err != nil {
		return fmt.Errorf("take away an abandoned build lock: %w; remove %s", err, l.dir)
	}
	again, ok, err := l.look()
	if err == nil && ok && bytes.Equal(again.raw, s.raw) && again.at.Equal(s.at) {
		err = l.remove()
	}
	return errors.Join(err, unlock(guard))
}

// remove makes the lock vanish at once, though it is a folder with a file in it.
func (l *buildLock) remove() error {
	aside, err := os.MkdirTemp(filepath.Dir(l.dir), filepath.Base(l.dir)+".")
	if err != nil {
		return fmt.Errorf("remove the build lock: %w", err)
	}
	err = os.Rename(l.dir, filepath.Join(aside, "gone"))
	if err = errors.Join(err, os.RemoveAll(aside)); err != nil {
		return fmt.Errorf("remove the build lock: %w", err)
	}
	return nil
}

// release gives the lock back, unless it has been taken away.
func (l *buildLock) release() error {
	s, ok, err := l.look()
	if err != nil || !ok || !bytes.Equal(s.raw, l.mine) {
		return err
	}
	return l.remove()
}

// acquire waits for the lock, visibly.
func (s *step) acquire(ctx context.Context, l *buildLock) error {
	if got, err := l.tryTake(); got || err != nil {
		return err
	}
	return s.rec.step("wait for the build lock", func() error {
		ctx, cancel := context.WithTimeoutCause(ctx, s.lim.wait,
			problem.Errorf(problem.ResultsInUse, "still held after %s; if no build is running, remove it", s.lim.wait))
		defer cancel()
		tick := time.NewTicker(s.lim.poll)
		defer tick.Stop()
		for looks := 0; ; looks++ {
			found, held, err := l.look()
			if err != nil {
				return err
			}
			if why, ok := l.abandoned(found); held && ok {
				s.rec.say("the build lock of %s is taken away: %s", found, why)
				if err := l.steal(found); err != nil {
					return err
				}
			} else if held && looks%s.lim.tell == 0 {
				s.rec.note("wait for the build lock", fmt.Sprintf("%s has it, since %s", found, found.at.Format(time.TimeOnly)))
			}
			if got, err := l.tryTake(); got || err != nil {
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

// self is this process as a holder.
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

// processStart is when a living process began, in clock ticks since boot. A zombie does not live.
func processStart(pid int) (ticks uint64, alive bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	return parseStat(string(data))
}

// parseStat reads state and start (fields 3 and 22) of /proc/PID/stat. Field 2,
// the program's name, may hold anything: the last parenthesis ends it.
func parseStat(stat string) (ticks uint64, alive bool) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return 0, false
	}
	ticks, err := strconv.ParseUint(fields[19], 10, 64)
	return ticks, err == nil
}

// lockResults takes the results folder for this run alone.
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
		s.remarks = append(s.remarks,
			"the file system of "+s.ResultsDir+" does not support locks: make sure that no other run writes there")
		return nil
	case err != nil:
		return fmt.Errorf("lock the results directory: %w", err)
	}
	s.held = append(s.held, f)
	return nil
}

// flock opens a file, making it, and locks it without waiting. Unless it is
// unlocked, the lock ends with the last process that has the file open.
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
