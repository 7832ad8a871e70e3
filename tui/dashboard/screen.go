// Package dashboard is the screen of one run: is it healthy, how far is it, what
// are its figures. It shows what the engine's watch tells and never judges a run
// itself; leaving it does nothing to the run.
package dashboard

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Screen is the dashboard of one run. It routes what comes in to its panes, and lays them out.
type Screen struct {
	eng    Engine
	th     ui.Theme
	ctx    context.Context // ends with the screen, for all of its commands
	cancel context.CancelFunc
	w, h   int
	lay    layout

	run      runView
	log      logPane
	steps    stepsPane
	playback playback
	trend    int
	zoom     bool // the log takes all
}

// New makes the dashboard of a run: a folder, an id or a name.
func New(eng Engine, th ui.Theme, run string) *Screen {
	s := &Screen{eng: eng, th: th, run: runView{name: run, zone: time.Local, phase: -1}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.playback = playback{ctx: s.ctx, speed: firstSpeed, frame: frame}
	s.log.pane = logs.New(s.ctx, eng, th)
	s.steps.table.Columns = stepColumns()
	return s
}

// Name is the run's label once it is found.
func (s *Screen) Name() string { return s.run.label() }

// Init looks for the run and starts to watch it.
func (s *Screen) Init() tea.Cmd { return find(s.ctx, s.eng, s.run.name) }

// Close ends the watch; the run goes on.
func (s *Screen) Close() { s.cancel() }

// Typing says that a search is being typed.
func (s *Screen) Typing() bool { return s.log.pane.Typing() }

// SetSize sets the body's size.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.arrange()
}

// arrange lays out anew: after each change of size or of what is to be seen.
func (s *Screen) arrange() {
	s.lay = arrange(s.w, s.h, shape{
		head: len(s.head()), figures: leastFigures(s.run.tiers, s.run.gpus),
		steps: true, upper: s.stepsShown() && (s.w < wide || s.zoom), zoom: s.zoom,
	})
	s.log.pane.SetSize(s.lay.logW, s.lay.log)
	s.steps.table.SetSize(s.lay.stepsW, s.lay.stepsH)
}

// stepsShown says that the steps are in view: beside the log where there is room,
// else instead of the figures, as long as there are none or when asked for.
func (s *Screen) stepsShown() bool {
	return !s.zoom && (s.w >= wide || s.steps.open || s.run.noPhase())
}

// Update takes a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.update(msg)
	if s.log.held {
		cmd = tea.Batch(cmd, s.log.pick(&s.run))
	}
	s.arrange()
	return tea.Batch(cmd, s.log.pane.Fill())
}

func (s *Screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case foundMsg:
		if !s.run.onFound(msg) {
			return nil
		}
		return tea.Batch(nextUpdate(s.ctx, s.run.updates), s.log.list(s.eng, s.run.ref), ui.ShowError(msg.planErr))
	case updatedMsg:
		return s.onUpdated(msg)
	case playbackOpenedMsg:
		s.run.paused = s.run.paused && msg.err != nil
		return s.playback.onOpened(msg)
	case playedMsg:
		return s.onPlayed(msg)
	case filesListedMsg:
		s.log.listing, s.log.files = false, msg.files
		s.steps.fill(s.run.shown, msg.files)
		return s.log.pick(&s.run)
	case logs.Msg:
		return s.log.pane.Update(msg)
	case cancelledMsg:
		return s.run.onCancelled(msg)
	case ui.Answer:
		if msg.Yes {
			return s.run.cancel(s.ctx, s.eng)
		}
	case ui.Tick:
		if s.run.tick(msg.Now); s.run.found && s.log.step == "" { // a log appears with its step
			return s.log.list(s.eng, s.run.ref)
		}
	case ui.ThemeChanged:
		s.th = msg.Theme
		s.log.pane.SetTheme(s.th)
	case ui.Mouse:
		return s.mouse(msg)
	case tea.PasteMsg:
		return s.log.pane.Paste(msg.Content)
	case tea.KeyPressMsg:
		if s.Typing() {
			return s.log.pane.Key(msg)
		}
		return s.key(msg)
	}
	return nil
}

func (s *Screen) onUpdated(m updatedMsg) tea.Cmd {
	var cmds []tea.Cmd
	if m.any {
		steps := 0
		if s.run.live != nil {
			steps = len(s.run.live.Status.Steps)
		}
		s.run.live = &m.update
		s.run.tick(m.update.At)
		if !s.playback.on && !s.run.paused || s.run.shown == nil {
			s.show(s.run.live)
		}
		if len(m.update.Status.Steps) != steps || m.update.Done {
			cmds = append(cmds, s.log.list(s.eng, s.run.ref))
		} else {
			cmds = append(cmds, s.log.pick(&s.run))
		}
	}
	if m.more {
		cmds = append(cmds, nextUpdate(s.ctx, s.run.updates))
	}
	return tea.Batch(cmds...)
}

func (s *Screen) onPlayed(m playedMsg) tea.Cmd {
	switch {
	case m.gen != s.playback.gen || !s.playback.on:
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
	return s.playback.goOn()
}

// show brings an update on the screen.
func (s *Screen) show(u *engine.Update) {
	s.run.show(u)
	s.steps.fill(u, s.log.files)
}
