// Package follow reads a file line by line while another process writes it. It handles
// growth, truncation, replacement by rename, files and directories that are created
// later, and incomplete lines.
//
// It uses inotify. It polls on network file systems, where writes by other nodes cause no
// events, and wherever a file has grown without an event. It does not interpret or change
// the lines, and holds at most one line and one buffer in memory.
package follow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

const (
	chunkLines     = 512
	chunkBytes     = 1 << 20
	defaultMaxLine = 64 << 20
	defaultPoll    = 2 * time.Second
	// minInterval is the shortest time between two reads. It limits the cost of frequent
	// writes to the file or to other files of the directory.
	minInterval = 20 * time.Millisecond
)

// Chunk is a group of lines: at most 512 lines or about 1 MiB, plus one line. The
// receiver owns the memory.
type Chunk struct {
	Lines     [][]byte // complete lines, without their newline
	Offset    int64    // byte offset of the end of the last line; usable as From later
	Restarted bool     // the file was truncated or replaced; Lines are its new beginning
	Skipped   int      // lines skipped since the previous chunk, because they exceed Options.MaxLine
	Err       error    // why the file can't be read now; sent once per cause, and following continues
}

// Options are the options of [File]. The zero value follows from the start of the file
// until the context ends.
type Options struct {
	From int64 // first byte to read: 0, or the Offset of an earlier Chunk
	// Stop is closed by the caller when the writer has finished: File then reads to the end
	// of the file and closes its channel. Nil never stops.
	Stop          <-chan struct{}
	FinalPartial  bool // after Stop, also deliver a last line without a newline
	PartialGrowth bool // also send a chunk without lines when only the incomplete last line has grown
	MaxLine       int  // bytes; longer lines are counted in Skipped; 0 is 64 MiB
	// Poll is the longest time between two reads; 0 is 2 s. Where inotify is not reliable, the
	// next read after growth comes after an eighth of it.
	Poll time.Duration

	noEvents bool // only poll, as on a network file system
}

// File follows the file at path, which need not exist yet. The channel is closed when ctx ends,
// or when Stop is closed and the rest of the file, if it exists, has been delivered. Sending
// blocks until the receiver is ready, and nothing is dropped. File returns an error only for
// invalid options.
func File(ctx context.Context, path string, opt Options) (<-chan Chunk, error) {
	if path == "" || opt.From < 0 || opt.MaxLine < 0 || opt.Poll < 0 {
		return nil, problem.Errorf(problem.Internal,
			"follow %q: path must not be empty and options not negative, got From %d, MaxLine %d, Poll %s",
			path, opt.From, opt.MaxLine, opt.Poll)
	}
	if opt.MaxLine == 0 {
		opt.MaxLine = defaultMaxLine
	}
	if opt.Poll == 0 {
		opt.Poll = defaultPoll
	}
	f := &follower{path: path, opt: opt, out: make(chan Chunk)}
	f.reader = reader{
		path: path, offset: opt.From, delivered: opt.From, reported: opt.From, maxLine: opt.MaxLine,
		notifyPartial: opt.PartialGrowth, emit: f.send,
	}
	go f.run(ctx)
	return f.out, nil
}

type follower struct {
	path    string
	opt     Options
	out     chan Chunk
	reader  reader
	lastErr string // text of the last reported error, to report a lasting one once
}

func (f *follower) run(ctx context.Context) {
	defer close(f.out)
	defer f.reader.close()
	var w watcher
	defer w.close()
	_, polled, err := FileSystem(filepath.Dir(f.path))
	p := pollPace{maxPause: f.opt.Poll, pause: f.opt.Poll / 8, trusted: !polled && err == nil && !f.opt.noEvents}
	byEvent := true // growth found by the first read does not count as a missed event
	for {
		if !f.opt.noEvents {
			w.watch(filepath.Dir(f.path)) // before reading, so that no write in between is missed
		}
		if w.dir == "" {
			p.trusted = false
		}
		began := time.Now()
		stopping := stopped(f.opt.Stop)
		grew, err := f.reader.readNew(ctx)
		if ctx.Err() != nil {
			return
		}
		if !f.reportErr(ctx, err) {
			return
		}
		if stopping {
			if f.opt.FinalPartial {
				f.reader.flushPartial(ctx)
			}
			return
		}
		if byEvent = w.wait(ctx, f.opt.Stop, p.next(byEvent, grew)); byEvent {
			w.debounce(ctx, f.opt.Stop, minInterval-time.Since(began))
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// reportErr sends err if it differs from the last one. A missing file is not an error. It
// returns false if the context has ended.
func (f *follower) reportErr(ctx context.Context, err error) bool {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		f.lastErr = ""
		return true
	}
	if err.Error() == f.lastErr {
		return true
	}
	f.lastErr = err.Error()
	return f.send(ctx, Chunk{Offset: f.reader.delivered, Err: err})
}

func (f *follower) send(ctx context.Context, c Chunk) bool {
	select {
	case f.out <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// watcher wakes the follower on inotify events of the file's directory. After any failure (no
// inotify, its limits reached, directory not found) the follower relies on polling.
type watcher struct {
	notify *fsnotify.Watcher
	dir    string // the watched directory; empty: none
	failed bool
}

func (w *watcher) watch(dir string) {
	if w.failed || w.dir == dir {
		return
	}
	if w.notify == nil {
		n, err := fsnotify.NewWatcher()
		if err != nil {
			w.failed = true
			return
		}
		w.notify = n
	}
	if w.notify.Add(dir) == nil {
		w.dir = dir
	}
}

// wait waits until the next read is due. It returns true if an event was the reason.
func (w *watcher) wait(ctx context.Context, stop <-chan struct{}, pause time.Duration) (byEvent bool) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	var events chan fsnotify.Event
	var errs chan error
	if w.notify != nil {
		events, errs = w.notify.Events, w.notify.Errors
	}
	select {
	case <-ctx.Done():
	case <-stop:
	case <-timer.C:
		return w.drain() // an event may have arrived at the same moment
	case <-errs: // queue overflow: events were lost, and the next read makes up for them
		return true
	case e := <-events:
		w.handleEvent(e)
		return true
	}
	return false
}

// debounce collects events for the given time.
func (w *watcher) debounce(ctx context.Context, stop <-chan struct{}, pause time.Duration) {
	if pause > 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-stop:
		case <-timer.C:
		}
	}
	w.drain()
}

// drain consumes all pending events, so that they cause a single read.
func (w *watcher) drain() (found bool) {
	if w.notify == nil {
		return false
	}
	for {
		select {
		case e := <-w.notify.Events:
			w.handleEvent(e)
			found = true
		default:
			return found
		}
	}
}

func (w *watcher) handleEvent(e fsnotify.Event) {
	if e.Name == w.dir && e.Has(fsnotify.Remove|fsnotify.Rename) {
		w.dir = "" // the directory was removed; watch it again when it exists again
	}
}

func (w *watcher) close() {
	if w.notify != nil {
		_ = w.notify.Close() // nothing was written, so the error can be ignored
	}
}

// noInotify maps the magic numbers of file systems where writes by other nodes cause no
// inotify events to their names.
var noInotify = map[int64]string{
	0x6969: "nfs", 0x0bd00bd0: "lustre", 0x47504653: "gpfs", 0x19830326: "beegfs", 0x65735546: "fuse", 0x00c36400: "ceph",
	0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb", 0x01021997: "9p", 0x5346414f: "afs", 0x61636673: "acfs",
}

// FileSystem returns the name of the file system of a path, or of its nearest existing
// parent directory. It is "local", or the name of one where writes by other nodes cause no
// inotify events and files are therefore polled.
func FileSystem(path string) (name string, polled bool, err error) {
	var st unix.Statfs_t
	for dir := path; ; dir = filepath.Dir(dir) {
		err := unix.Statfs(dir, &st)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", true, fmt.Errorf("find the file system of %s: %w", path, err)
		}
	}
	if name, ok := noInotify[int64(st.Type)&0xffffffff]; ok {
		return name, true, nil
	}
	return "local", false, nil
}

// pollPace decides how long to wait for an event before the next read. Where events are
// reliable, reads without an event are rare. Elsewhere the next read comes soon after
// growth, and the interval doubles while the file does not grow.
type pollPace struct {
	maxPause    time.Duration
	pause       time.Duration
	trusted     bool // every growth so far caused an event
	missedEvent bool // the last growth was seen without an event
}

// next returns how long to wait after a read, which was caused by an event or by the
// timer. If growth causes no event, not even a late one, events are never trusted again.
func (p *pollPace) next(byEvent, grew bool) time.Duration {
	if p.missedEvent && !byEvent {
		p.trusted = false
	}
	p.missedEvent = grew && !byEvent
	switch {
	case grew && (!p.trusted || p.missedEvent):
		p.pause = p.maxPause / 8
	case p.trusted:
		p.pause = p.maxPause
	default:
		p.pause = min(2*p.pause, p.maxPause)
	}
	return p.pause
}
