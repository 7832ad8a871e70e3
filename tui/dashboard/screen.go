// Package dashboard is the screen of one run: is it healthy, how far is it, what
// are its figures. It shows what the engine's watch tells and never judges a run
// itself; leaving it does nothing to the run.
package dashboard

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/logs"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// Screen is the dashboard of one run.
type Screen struct {
	eng    Engine
	th     ui.Theme
	run    string
	zone   *time.Location
	keys   keyMap
	ctx    context.Context // ends with the screen, for all of its commands
	cancel context.CancelFunc
	w, h   int
	lay    layout
	now    time.Time
	still  time.Time // now, when the display was paused

	located engine.RunRef
	found   bool
	planned []plan.Phase
	gpus    int // of the run's workers; 0 when not known
	tiers   []results.Tier
	files   []engine.LogFile
	listing bool
	problem error // why the run can't be shown

	updates <-chan engine.Update
	live    *engine.Update // the newest
	shown   *engine.Update // the one on the screen: older while paused
	phases  []phaseView    // of shown
	phase   int            // which is shown; -1 the newest
	trend   int

	log        openLog
	steps      ui.Table
	stepRows   []stepRow
	stepsOpen  bool
	focusSteps bool
	paused     bool
	tape       tape
	zoom       bool
	cancelling bool
}

// New makes the dashboard of a run: a folder, an id or a name.
func New(eng Engine, th ui.Theme, run string) *Screen {
	s := &Screen{eng: eng, th: th, run: run, zone: time.Local, keys: newKeys(), phase: -1, tape: tape{speed: firstSpeed, frame: frame}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.log.pane = logs.New(s.ctx, eng, th)
	s.steps.Columns = stepColumns()
	return s
}

// Name is the run's label once it is found.
func (s *Screen) Name() string {
	if s.found {
		return s.located.Label()
	}
	return s.run
}

// Init looks for the run and starts to watch it.
func (s *Screen) Init() tea.Cmd { return s.find() }

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
		head: len(s.head(s.w)), figures: leastFigures(s.tiers, s.gpus),
		steps: true, upper: s.stepsShown() && (s.w < wide || s.zoom), zoom: s.zoom,
	})
	s.log.pane.SetSize(s.lay.logW, s.lay.log)
	s.steps.SetSize(s.lay.stepsW, s.lay.stepsH)
}

// stepsShown says that the steps are in view: beside the log where there is room,
// else instead of the figures, as long as there are none or when asked for.
func (s *Screen) stepsShown() bool {
	if s.zoom {
		return false
	}
	return s.w >= wide || s.stepsOpen || s.noPhase()
}

// noPhase says that no phase has begun; for another tool's outputs, which have no
// steps either, it is never said.
func (s *Screen) noPhase() bool {
	return s.shown != nil && len(s.shown.Run.Phases) == 0 && len(s.shown.Status.Phases) == 0 && s.located.Record.ID != ""
}

// Update takes a message.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	cmd := s.update(msg)
	if s.log.held {
		cmd = tea.Batch(cmd, s.pickLog())
	}
	s.arrange()
	return tea.Batch(cmd, s.log.pane.Settle())
}

func (s *Screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case foundMsg:
		return s.onFound(msg)
	case updatedMsg:
		return s.onUpdated(msg)
	case tapeOpenedMsg:
		return s.onTapeOpened(msg)
	case playedMsg:
		return s.onPlayed(msg)
	case filesListedMsg:
		s.listing = false
		s.files = msg.files
		s.fillSteps()
		return s.pickLog()
	case logs.Msg:
		return s.log.pane.Update(msg)
	case cancelledMsg:
		return s.onCancelled(msg)
	case ui.Answer:
		if msg.Yes && s.noCancel() == "" {
			s.cancelling = true
			return tea.Batch(s.cancelRun(), ui.Do(ui.Toast{Text: "asked the run to end; its client has 30 s for what is in flight", Role: ui.Warn}))
		}
	case ui.Tick:
		s.now = later(s.now, msg.Now)
		return s.lookForLog()
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

func (s *Screen) onCancelled(m cancelledMsg) tea.Cmd {
	s.cancelling = false
	if m.err != nil {
		return ui.Fail(m.err)
	}
	return ui.Do(ui.Toast{Text: "the run has ended in an orderly way", Role: ui.OK})
}

// clockNow is the time of what the body shows.
func (s *Screen) clockNow() time.Time {
	switch {
	case s.tape.on:
		return s.tape.at
	case s.paused:
		return s.still
	}
	return s.now
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (s *Screen) onFound(m foundMsg) tea.Cmd {
	if m.err != nil {
		s.problem = m.err
		return nil
	}
	s.found, s.located, s.updates, s.planned, s.tiers = true, m.located, m.updates, m.phases, m.tiers
	s.gpus = m.gpus
	return tea.Batch(s.nextUpdate(), s.list(), ui.Fail(m.planErr))
}

func (s *Screen) list() tea.Cmd {
	if s.listing {
		return nil
	}
	s.listing = true
	return s.listFiles()
}

func (s *Screen) onUpdated(m updatedMsg) tea.Cmd {
	var cmds []tea.Cmd
	if m.any {
		steps := 0
		if s.live != nil {
			steps = len(s.live.Status.Steps)
		}
		s.live = &m.update
		s.now = later(s.now, m.update.At)
		if !s.tape.on && !s.paused || s.shown == nil {
			s.show()
		}
		if len(m.update.Status.Steps) != steps || m.update.Done {
			cmds = append(cmds, s.list())
		} else {
			cmds = append(cmds, s.pickLog())
		}
	}
	if m.more {
		cmds = append(cmds, s.nextUpdate())
	}
	return tea.Batch(cmds...)
}

// show brings the newest update on the screen.
func (s *Screen) show() {
	s.shown = s.live
	s.refresh()
}

// refresh follows what is shown.
func (s *Screen) refresh() {
	s.phases = phasesOf(s.planned, s.shown)
	s.fillSteps()
}

func (s *Screen) fillSteps() {
	var st event.Status
	if s.shown != nil {
		st = s.shown.Status
	}
	s.stepRows = stepsOf(st, s.files)
	rows := make([][]ui.Cell, 0, len(s.stepRows))
	for _, r := range s.stepRows {
		rows = append(rows, r.cells)
	}
	s.steps.SetRows(rows)
}

// current is the phase on the screen; false before there is any.
func (s *Screen) current() (phaseView, bool) {
	if len(s.phases) == 0 {
		return phaseView{}, false
	}
	i := s.phase
	if i < 0 || i >= len(s.phases) {
		i = newest(s.phases)
	}
	return s.phases[i], true
}
