package logs

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/logview"
)

// Answers of a log that has been left, or of a page that is no longer wanted, are
// dropped.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 2, numbered(50), numbered(7))
	late := r.p.Scroll(-1)
	r.run(r.p.Open(Log{Name: "other", Path: filepath.Join(r.dir, "1")}))
	r.run(late)
	r.want("the other", "line 6", "line 7")
	r.run(r.p.Update(grownMsg{gen: 1, end: logview.Pos{9}}))
	if r.p.src.end[0] == 9 {
		t.Error("growth of the log before counts")
	}
}

// The watch of real files reaches the window.
func TestGrowthIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 2, "a\n")
	r.write(0, "a\nb\nc\n")
	r.grown <- logview.Growth{}
	close(r.grown)
	r.run(r.p.src.nextGrowth())
	r.want("grown", "b", "c")
}

// After its end a pane does not look at logs that are closed.
func TestNoGrowthAfterTheEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, 20, 2, "a\n")
	ctx, cancel := context.WithCancel(t.Context())
	r.p.src.ctx = ctx
	cancel()
	if msg := r.p.src.nextGrowth()(); msg != nil {
		t.Errorf("got %+v", msg)
	}
}
