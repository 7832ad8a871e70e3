package follow

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

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
			return "", true, fmt.Errorf("file system of %s: %w", path, err)
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
