package port

import (
	"context"
	"fmt"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// viewer shows artifacts at the locations that a field comes from.
type viewer struct {
	pane      *logs.Pane
	locations []porter.Evidence // empty: the viewer is closed
	current   int               // index of the location that is shown
	dir       string            // run directory
	w         int
}

// fileSource opens files for the pane of logs.
type fileSource struct{ eng Engine }

// LogView opens the file.
func (s fileSource) LogView(ctx context.Context, paths ...string) (*engine.LogView, <-chan engine.LogGrowth, error) {
	return s.eng.FileView(ctx, session.ExpandHome(paths[0]))
}

func newViewer(ctx context.Context, eng Engine, th ui.Theme) viewer {
	return viewer{pane: logs.NewFile(ctx, fileSource{eng}, th)}
}

func (v *viewer) shown() bool { return len(v.locations) > 0 }

func (v *viewer) setSize(w, h int) {
	v.w = w
	v.pane.SetSize(w, h-1)
}

// open shows the first of several locations in a run directory.
func (v *viewer) open(dir string, locations []porter.Evidence) tea.Cmd {
	v.dir, v.locations = dir, locations
	return v.show(0)
}

func (v *viewer) show(at int) tea.Cmd {
	v.current = at
	e := v.locations[at]
	name := e.Artifact
	if n := len(v.locations); n > 1 {
		name += fmt.Sprintf("  location %d of %d", at+1, n)
	}
	file := logs.Log{Name: name, Path: porter.ArtifactPath(v.dir, e.Artifact)}
	return v.pane.OpenAt(file, logs.Location{Line: int64(e.Line), Column: e.Column, Length: len(e.Raw)})
}

// close closes the viewer.
func (v *viewer) close() {
	v.pane.Close()
	v.locations = nil
}

var (
	nextLocationKey = ui.Bind("tab", "next location", "tab")
	closeKey        = ui.Bind("esc", "close", "esc", "q", "o")
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
	if len(v.locations) > 1 {
		first = append(first, nextLocationKey)
	}
	return append(first, rest...)
}

func (v *viewer) key(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case v.pane.Typing():
	case key.Matches(msg, closeKey):
		v.close()
		return nil
	case key.Matches(msg, nextLocationKey) && len(v.locations) > 1:
		return v.show((v.current + 1) % len(v.locations))
	}
	return v.pane.Key(msg)
}

func (v *viewer) view(th ui.Theme) string {
	left, right := v.pane.Title(true, v.w)
	return th.TitledRule(left, right, v.w) + "\n" + v.pane.View()
}
