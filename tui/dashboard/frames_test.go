package dashboard

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

func root(s *Screen) *tui.Model { return tui.New(nil, s, tui.Options{Dark: true}) }

func TestFrames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		update engine.Update
		keys   []string
	}{
		"pending":   {pendingUpdate(), nil},
		"bringup":   {bringUpUpdate(), nil},
		"measuring": {measuringUpdate(), nil},
		"errors":    {errorsUpdate(), []string{"t", "t", "t"}},
		"earlier":   {measuringUpdate(), []string{"[", "/", "E", "R", "R", "enter"}},
		"logfound":  {measuringUpdate(), []string{"z", "/", "1", "7", "0", "0", "0", "enter"}},
		"logfilter": {measuringUpdate(), []string{"z", "&", "W", "A", "R", "N", "|", "E", "R", "R", "enter", "w"}},
		"logmerged": {measuringUpdate(), []string{"z", "m", "pgup", "e"}},
		"steps":     {measuringUpdate(), []string{"s", "down", "down"}},
		"done":      {doneUpdate(), nil},
		"failed":    {failedUpdate(), nil},
		"stalled":   {stalledUpdate(), []string{"space"}},
		"killed":    {killedUpdate(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.update)
			r.s.run.gpus = 52
			r.s.SetSize(80, 20)
			r.send(frametest.Keys(c.keys...)...)
			frametest.Golden(t, name, root(r.s))
			frametest.Frame(t, root(r.s), 60, 16)
		})
	}
}

func stalledUpdate() engine.Update {
	u := measuringUpdate()
	u.LastActivity = u.At.Add(-300 * time.Second)
	u.Recent.N = 0
	return u
}

// A playback is drawn in any size.
func TestPlaybackFrames(t *testing.T) {
	t.Parallel()
	r := playbackRig(t)
	r.send(frametest.Keys("<", "<", "<", "<", "<", "<", "<")...)
	frametest.Golden(t, "playback", root(r.s))
	frametest.Frame(t, root(r.s), 60, 16)
}

func errorsUpdate() engine.Update {
	u := measuringUpdate()
	u.Recent.Failed, u.Recent.Errors = 120, map[string]int{"timeout": 20, "http 503": 100}
	u.Run.Phases[1].Requests.Failed = 431
	u.Run.Phases[1].Errors = map[string]int{"http 503": 400, "unknown": 31}
	return u
}

func TestNoRun(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.findErr = errors.New("find run \"592210\": not a directory, and no match among 4 recorded runs; " +
		"list them with agentperf-tui runs")
	s := New(f, ui.NewTheme(true), "592210")
	defer s.Close()
	s.Update(s.Init()())
	frametest.Golden(t, "norun", root(s))
}

// A frame of any run in any size has exactly that size and is not empty.
func TestFramesFillAnySize(t *testing.T) {
	t.Parallel()
	unknown := measuringUpdate()
	unknown.Status.State, unknown.Status.Message = event.Unknown, "its host does not answer"
	external := measuringUpdate()
	external.Status = event.Status{State: event.Done, Last: at(5000)}
	broken := measuringUpdate()
	broken.Err = errors.New("read requests.jsonl: input/output error")
	broken.Run.Errors = []string{"phase 0 occurs 2 times"}
	frametest.Frame(t, root(newRig(t, measuringUpdate()).s), 500, 200)
	for _, u := range []engine.Update{
		{}, {Done: true}, bringUpUpdate(), measuringUpdate(), unknown, external, broken, failedUpdate(), doneUpdate(),
	} {
		r := newRig(t, u)
		for _, size := range [][2]int{{60, 16}, {99, 24}, {150, 30}} {
			for _, k := range []string{"z", "s", "tab", "z", "t"} {
				r.send(frametest.Keys(k)...)
				if frame := ansi.Strip(frametest.Frame(t, root(r.s), size[0], size[1])); strings.TrimSpace(frame) == "" {
					t.Errorf("%s at %v is empty", u.Status.State, size)
				}
			}
		}
		for _, size := range [][2]int{{0, 0}, {1, 1}, {20, 5}} { // smaller than the minimum
			r.s.SetSize(size[0], size[1])
			_ = r.s.View()
		}
	}
}

// A frame is drawn for every message, so it must be cheap.
func BenchmarkView(b *testing.B) {
	s := New(newFake(b), ui.NewTheme(true), "592210")
	defer s.Close()
	s.run.found = true
	s.SetSize(200, 56)
	s.Update(updatedMsg{update: measuringUpdate(), hasUpdate: true})
	b.ReportAllocs()
	for b.Loop() {
		_ = s.View()
	}
}
