package logs

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/logview"
)

// Messages of a closed log or of a replaced fetch are dropped.
func TestStaleMessagesAreDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 2, numberedLines(50), numberedLines(7))
	late := r.p.Scroll(-1)
	r.runCmd(r.p.Open(Log{Name: "other", Path: filepath.Join(r.dir, "1")}))
	r.runCmd(late)
	r.wantRows("the other log", "line 6", "line 7")
	r.runCmd(r.p.Update(grownMsg{gen: 1, end: logview.Pos{9}}))
	if r.p.src.end[0] == 9 {
		t.Error("growth of the previous log was not dropped")
	}
}

// Growth of a real file is shown.
func TestGrowthIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 2, "a\n")
	r.write(0, "a\nb\nc\n")
	r.grown <- logview.Growth{}
	close(r.grown)
	r.runCmd(r.p.src.nextGrowth())
	r.wantRows("grown", "b", "c")
}

// After Close the pane does not access its logs.
func TestNoGrowthAfterClose(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 2, "a\n")
	ctx, cancel := context.WithCancel(t.Context())
	r.p.src.ctx = ctx
	cancel()
	if msg := r.p.src.nextGrowth()(); msg != nil {
		t.Errorf("got %+v", msg)
	}
}
