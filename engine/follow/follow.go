// Package follow reads one file line by line while another process writes it:
// growth, truncation, replacement by rename, a file or folder that appears only
// later, lines that are half written at the moment of reading.
//
// It listens to inotify, and polls where that can't be trusted: on network file systems, where no
// event arrives for what another node wrote, and wherever growth was seen that no event told of. It
// knows nothing of what the lines mean, passes every byte through untouched, and holds no more than
// a line and a buffer in memory.
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
	chunkLines  = 512
	chunkBytes  = 1 << 20
	defaultLine = 64 << 20
	defaultPoll = 2 * time.Second
	// shortest is the time between two looks, so that a burst of writes, or of
	// other files in the folder, costs little.
	shortest = 20 * time.Millisecond
)

// Chunk is what was read at once: at most 512 lines or about 1 MiB, and one
// line more. The receiver owns the memory.
type Chunk struct {
	Lines     [][]byte // whole lines, without their newline
	Offset    int64    // bytes from the file's start to the end of the last line; a later From
	Restarted bool     // truncated or replaced: what came before is gone, Lines are the new beginning
	Skipped   int      // lines longer than Options.MaxLine that were left out since the chunk before
	Err       error    // why the file can't be read now; following goes on, and each change of the cause is told once
}

// Options of File. The zero value follows from the start until the context ends.
type Options struct {
	From int64 // first byte to read: 0, or the Offset of an earlier Chunk
	// Stop is closed when the writer has finished: File reads up to the end, then closes
	// the channel. Nil never stops.
	Stop          <-chan struct{}
	FinalPartial  bool // after Stop, also deliver a last line that has no newline
	PartialGrowth bool // also send a chunk, without lines, when only the begun line has grown
	MaxLine       int  // bytes; longer lines are counted in Skipped; 0 is 64 MiB
	// Poll is the longest pause between two looks, an eighth of it after growth where
	// events are not trusted. 0 is 2 s.
	Poll time.Duration

	noEvents bool // polling only, as on a network file system
}

// File follows the file at path, which need not exist yet. The channel is
// closed when ctx ends, or after Stop once the end of the file was delivered
// (at once, with nothing, if there is no file). Delivery waits for the receiver
// and drops nothing. File fails only for options that make no sense.
func File(ctx context.Context, path string, opt Options) (<-chan Chunk, error) {
	if path == "" || opt.From < 0 || opt.MaxLine < 0 || opt.Poll < 0 {
		return nil, problem.Errorf(problem.Internal,
			"follow %q: path must not be empty and options not negative, got From %d, MaxLine %d, Poll %s",
			path, opt.From, opt.MaxLine, opt.Poll)
	}
	if opt.MaxLine == 0 {
		opt.MaxLine = defaultLine
	}
	if opt.Poll == 0 {
		opt.Poll = defaultPoll
	}
	f := &follower{path: path, opt: opt, out: make(chan Chunk)}
	f.read = reader{
		path: path, offset: opt.From, parsed: opt.From, told: opt.From, maxLine: opt.MaxLine,
		begun: opt.PartialGrowth, emit: f.send,
	}
	go f.run(ctx)
	return f.out, nil
}

type follower struct {
	path  string
	opt   Options
	out   chan Chunk
	read  reader
	cause string // text of the error told last, so that a lasting one is told once
}

func (f *follower) run(ctx context.Context) {
	defer close(f.out)
	defer f.read.close()
	var w watcher
	defer w.close()
	_, polled, err := FileSystem(filepath.Dir(f.path))
	p := pace{longest: f.opt.Poll, pause: f.opt.Poll / 8, trusted: !polled && err == nil && !f.opt.noEvents}
	byEvent := true // the first look is nobody's fault
	for {
		if !f.opt.noEvents {
			w.watch(filepath.Dir(f.path)) // before the look, so that nothing falls between the two
		}
		if w.dir == "" {
			p.trusted = false
		}
		began := time.Now()
		last := stopped(f.opt.Stop)
		grew, err := f.read.pass(ctx)
		if ctx.Err() != nil {
			return
		}
		if !f.tell(ctx, err) {
			return
		}
		if last {
			if f.opt.FinalPartial {
				f.read.rest(ctx)
			}
			return
		}
		if byEvent = w.wait(ctx, f.opt.Stop, p.next(byEvent, grew)); byEvent {
			w.calm(ctx, f.opt.Stop, shortest-time.Since(began))
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// tell reports err when it differs from the one before. A file that is not
// there yet is no error. False means that the context has ended.
func (f *follower) tell(ctx context.Context, err error) bool {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		f.cause = ""
		return true
	}
	if err.Error() == f.cause {
		return true
	}
	f.cause = err.Error()
	return f.send(ctx, Chunk{Offset: f.read.parsed, Err: err})
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

// watcher wakes the follower by inotify events of the file's folder. Every failure (no inotify, its
// limits reached, no such folder) leaves polling alone to do the work.
type watcher struct {
	notify *fsnotify.Watcher
	dir    string // the folder that is watched now, else empty
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

// wait waits until it is time to look again; true if an event said so.
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
		return w.drain() // an event may have come at the same moment
	case <-errs: // an overflow: events were lost, the look that follows makes up for them
		return true
	case e := <-events:
		w.seen(e)
		return true
	}
	return false
}

// calm lets events gather for a while.
func (w *watcher) calm(ctx context.Context, stop <-chan struct{}, pause time.Duration) {
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

// drain takes the events that have come, so that all of them cost one look.
func (w *watcher) drain() (any bool) {
	if w.notify == nil {
		return false
	}
	for {
		select {
		case e := <-w.notify.Events:
			w.seen(e)
			any = true
		default:
			return any
		}
	}
}

func (w *watcher) seen(e fsnotify.Event) {
	if e.Name == w.dir && e.Has(fsnotify.Remove|fsnotify.Rename) {
		w.dir = "" // the folder itself is gone; watch it again when it is back
	}
}

func (w *watcher) close() {
	if w.notify != nil {
		_ = w.notify.Close() // nothing was written: nothing can be lost
	}
}

// silent are the magic numbers of file systems on which another node's writes make no events.
var silent = map[int64]string{
	0x6969: "nfs", 0x0bd00bd0: "lustre", 0x47504653: "gpfs", 0x19830326: "beegfs", 0x65735546: "fuse", 0x00c36400: "ceph",
	0x517b: "smb", 0xff534d42: "cifs", 0xfe534d42: "smb", 0x01021997: "9p", 0x5346414f: "afs", 0x61636673: "acfs",
}

// FileSystem names the file system that a path lies on, or the folder above that
// is there: "local", or a name of one on which other nodes' writes make no inotify
// events. There, files are followed by polling.
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
	if name, ok := silent[int64(st.Type)&0xffffffff]; ok {
		return name, true, nil
	}
	return "local", false, nil
}

// pace decides how long to wait for an event before the next look. Where events are
// trusted a look without one is a precaution and seldom; elsewhere looks come soon
// after growth, and later and later while the file is quiet.
type pace struct {
	longest time.Duration
	pause   time.Duration
	trusted bool // events tell of every growth, as far as is known
	untold  bool // no event told of the growth that was seen last
}

// next is how long to wait after a look that an event, or else the clock, caused.
// Growth that no event tells of, not even belatedly, ends the trust for good.
func (p *pace) next(byEvent, grew bool) time.Duration {
	if p.untold && !byEvent {
		p.trusted = false
	}
	p.untold = grew && !byEvent
	switch {
	case grew && (!p.trusted || p.untold):
		p.pause = p.longest / 8
	case p.trusted:
		p.pause = p.longest
	default:
		p.pause = min(2*p.pause, p.longest)
	}
	return p.pause
}
