package port

import (
	"context"
	"fmt"
	"path/filepath"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// viewer shows artifacts over the body, at the places that a field rests on.
type viewer struct {
	pane   *logs.Pane
	places []porter.Evidence // none: it is closed
	at     int               // the place that is shown
	dir    string            // that artifacts lie in
	w      int
}

// oneFile makes the pane of logs open a file.
type oneFile struct{ eng Engine }

// LogView opens the file.
func (a oneFile) LogView(ctx context.Context, paths ...string) (*engine.LogView, <-chan engine.LogGrowth, error) {
	return a.eng.FileView(ctx, session.ExpandHome(paths[0]))
}

func newViewer(ctx context.Context, eng Engine, th ui.Theme) viewer {
	return viewer{pane: logs.NewFile(ctx, oneFile{eng}, th)}
}

func (v *viewer) shown() bool { return len(v.places) > 0 }

func (v *viewer) setSize(w, h int) {
	v.w = w
	v.pane.SetSize(w, h-1)
}

// open shows the first of some places in a run directory.
func (v *viewer) open(dir string, places []porter.Evidence) tea.Cmd {
	v.dir, v.places = dir, places
	return v.show(0)
}

func (v *viewer) show(at int) tea.Cmd {
	v.at = at
	e := v.places[at]
	name := e.Artifact
	if n := len(v.places); n > 1 {
		name += fmt.Sprintf("  place %d of %d", at+1, n)
	}
	file := logs.Log{Name: name, Path: filepath.Join(v.dir, e.Artifact)}
	return v.pane.OpenAt(file, logs.Location{Line: int64(e.Line), Column: e.Column, Length: len(e.Raw)})
}

// leave closes what is open, whatever it is at.
func (v *viewer) leave() {
	v.pane.Close()
	v.places = nil
}

var (
	placeKey = ui.Bind("tab", "next place", "tab")
	closeKey = ui.Bind("esc", "close", "esc", "q", "o")
)

func (v *viewer) typing() bool { return v.pane.Typing() }

func (v *viewer) paste(text string) tea.Cmd { return v.pane.Paste(text) }

func (v *viewer) mouse(m ui.Mouse) tea.Cmd { return v.pane.Scroll(m.Wheel) }

func (v *viewer) keys() []key.Binding {
	first, rest := v.pane.Keys()
	if v.pane.Typing() {
		return first
	}
	first = append([]key.Binding{closeKey}, first...)
	if len(v.places) > 1 {
		first = append(first, placeKey)
	}
	return append(first, rest...)
}

func (v *viewer) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case v.pane.Typing():
	case key.Matches(msg, closeKey):
		v.leave()
		return nil
	case key.Matches(msg, placeKey) && len(v.places) > 1:
		return v.show((v.at + 1) % len(v.places))
	}
	return v.pane.Key(msg)
}

func (v *viewer) view(th ui.Theme) string {
	left, right := v.pane.Title(true, v.w)
	return th.TitledRule(left, right, v.w) + "\n" + v.pane.View()
}
