// Package dashboard is the screen of one run: its state, progress, figures, charts and
// logs. It shows the updates of the engine's watch. Closing it does not affect the run.
package dashboard

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Screen is the dashboard of one run. It passes messages to its panes and lays them out.
type Screen struct {
	eng    Engine
	th     ui.Theme
	ctx    context.Context // ends when the screen closes
	cancel context.CancelFunc
	w, h   int
	layout layout

	run      runView
	log      logPane
	steps    stepsPane
	playback playback
	trend    int
	zoom     bool // show only the log
}

// New returns the dashboard of a run, which is a directory, an id or a name.
func New(eng Engine, th ui.Theme, run string) *Screen {
	s := &Screen{eng: eng, th: th, run: runView{name: run, zone: time.Local, phase: -1}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.playback = playback{ctx: s.ctx, speed: defaultSpeed, interval: frameInterval}
	s.log.pane = logs.New(s.ctx, eng, th)
	s.steps.table.Columns = stepColumns()
	return s
}

// Name returns the label of the run, or before it is found the name given to New.
func (s *Screen) Name() string { return s.run.label() }

// Init finds the run and starts to watch it.
func (s *Screen) Init() tea.Cmd { return findRun(s.ctx, s.eng, s.run.name) }

// Close stops the watch. The run continues.
func (s *Screen) Close() { s.cancel() }

// Typing reports whether a prompt of the log is open.
func (s *Screen) Typing() bool { return s.log.pane.Typing() }

// SetSize sets the size of the body.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.arrange()
}

// arrange updates the layout, after each change of the size or the content.
func (s *Screen) arrange() {
	s.layout = arrangeLayout(s.w, s.h, content{
		headLines: len(s.headLines()), figureLines: minFigureLines(s.run.tiers, s.run.gpus),
		steps: true, stepsReplaceFigures: s.stepsShown() && (s.w < wideWidth || s.zoom), zoom: s.zoom,
	})
	s.log.pane.SetSize(s.layout.logW, s.layout.logH)
	s.steps.table.SetSize(s.layout.stepsW, s.layout.stepsH)
}

// stepsShown reports whether the steps are visible: beside the log in a wide terminal, or
// instead of the figures when opened or before the first phase.
func (s *Screen) stepsShown() bool {
	return !s.zoom && (s.w >= wideWidth || s.steps.open || s.run.beforeFirstPhase())
}

// Update handles a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.update(msg)
	if s.log.pickPending {
		cmd = tea.Batch(cmd, s.log.pickLog(&s.run))
	}
	s.arrange()
	return tea.Batch(cmd, s.log.pane.Fill())
}

func (s *Screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case foundMsg:
		if !s.run.handleFound(msg) {
			return nil
		}
		return tea.Batch(nextUpdate(s.ctx, s.run.updates), s.log.listFiles(s.eng, s.run.ref), ui.ShowError(msg.planErr))
	case updatedMsg:
		return s.handleUpdated(msg)
	case playbackOpenedMsg:
		s.run.paused = s.run.paused && msg.err != nil
		return s.playback.handleOpened(msg)
	case playedMsg:
		return s.handlePlayed(msg)
	case filesListedMsg:
		s.log.listing, s.log.files = false, msg.files
		s.steps.setRows(s.run.shown, msg.files)
		return s.log.pickLog(&s.run)
	case logs.Msg:
		return s.log.pane.Update(msg)
	case cancelledMsg:
		return s.run.handleCancelled(msg)
	case ui.Answer:
		if msg.Yes {
			return s.run.cancel(s.ctx, s.eng)
		}
	case ui.Tick:
		if s.run.tick(msg.Now); s.run.found && s.log.step == "" { // a log exists once its step has started
			return s.log.listFiles(s.eng, s.run.ref)
		}
	case ui.ThemeChanged:
		s.th = msg.Theme
		s.log.pane.SetTheme(s.th)
	case ui.Mouse:
		return s.handleMouse(msg)
	case tea.PasteMsg:
		return s.log.pane.Paste(msg.Content)
	case tea.KeyPressMsg:
		if s.Typing() {
			return s.log.pane.Key(msg)
		}
		return s.handleKey(msg)
	}
	return nil
}

func (s *Screen) handleUpdated(m updatedMsg) tea.Cmd {
	var cmds []tea.Cmd
	if m.hasUpdate {
		steps := 0
		if s.run.latest != nil {
			steps = len(s.run.latest.Status.Steps)
		}
		s.run.latest = &m.update
		s.run.tick(m.update.At)
		if !s.playback.active && !s.run.paused || s.run.shown == nil {
			s.show(s.run.latest)
		}
		if len(m.update.Status.Steps) != steps || m.update.Done {
			cmds = append(cmds, s.log.listFiles(s.eng, s.run.ref))
		} else {
			cmds = append(cmds, s.log.pickLog(&s.run))
		}
	}
	if m.more {
		cmds = append(cmds, nextUpdate(s.ctx, s.run.updates))
	}
	return tea.Batch(cmds...)
}

func (s *Screen) handlePlayed(m playedMsg) tea.Cmd {
	switch {
	case m.gen != s.playback.gen || !s.playback.active:
		return nil
	case m.err != nil:
		s.playback.running = false
		return ui.ShowError(m.err)
	}
	s.playback.at = m.update.At
	s.show(&m.update)
	if m.update.Done {
		s.playback.running = false
	}
	return s.playback.scheduleNext()
}

// show shows an update.
func (s *Screen) show(u *engine.Update) {
	s.run.show(u)
	s.steps.setRows(u, s.log.files)
}
