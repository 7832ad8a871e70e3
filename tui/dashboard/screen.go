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
	"github.com/agentperf/agentperf-tui/engine/follow"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// logLimit is how many lines of a log are held.
const logLimit = 5000

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

	located engine.Located
	found   bool
	planned []plan.Phase
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

	log        logPane
	steps      ui.Table
	stepRows   []stepRow
	stepsOpen  bool
	focusSteps bool
	paused     bool
	zoom       bool
	typing     bool
	input      ui.Input
	cancelling bool
}

// logPane is the log that is open.
type logPane struct {
	list    *ui.LogList
	step    string
	chosen  bool // by a key; else the screen picks
	gen     int  // of the opening; answers of an older one are dropped
	ctx     context.Context
	cancel  context.CancelFunc
	chunks  <-chan follow.Chunk
	opening bool
	open    bool // lines come
	ended   bool // no more come; what came stays
	held    bool // another is to be picked once the display moves on
	skipped int
	err     error
	query   string
}

// New makes the dashboard of a run: a folder, an id or a name.
func New(eng Engine, th ui.Theme, run string) *Screen {
	s := &Screen{eng: eng, th: th, run: run, zone: time.Local, keys: newKeys(), phase: -1}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.log.list = ui.NewLogList(logLimit)
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
func (s *Screen) Typing() bool { return s.typing }

// SetSize sets the body's size.
func (s *Screen) SetSize(w, h int) {
	s.w, s.h = w, h
	s.arrange()
}

// arrange lays out anew: after each change of size or of what is to be seen.
func (s *Screen) arrange() {
	s.lay = arrange(s.w, s.h, shape{
		head: len(s.head(s.w)), figures: mainFigures + 2 + len(s.tiers),
		steps: true, upper: s.stepsShown() && (s.w < wide || s.zoom), zoom: s.zoom,
	})
	s.log.list.SetSize(s.lay.logW-1, s.lay.log)
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
	return cmd
}

func (s *Screen) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case foundMsg:
		return s.onFound(msg)
	case updatedMsg:
		return s.onUpdated(msg)
	case filesListedMsg:
		s.listing = false
		s.files = msg.files
		s.fillSteps()
		return s.pickLog()
	case logOpenedMsg:
		return s.onLogOpened(msg)
	case logReadMsg:
		return s.onLogRead(msg)
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
	case ui.Mouse:
		s.mouse(msg)
	case tea.PasteMsg:
		s.pasted(msg)
	case tea.KeyPressMsg:
		if s.typing {
			s.typed(msg)
			return nil
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
	if s.paused {
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
		if !s.paused || s.shown == nil {
			s.show()
		}
		if len(m.update.Status.Steps) != steps || m.update.Done {
			cmds = append(cmds, s.list())
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
	s.phases = phasesOf(s.planned, s.shown)
	s.fillSteps()
}

func (s *Screen) fillSteps() {
	var steps []event.StepStatus
	ended := false
	if s.shown != nil {
		steps, ended = s.shown.Status.Steps, s.shown.Status.State.Final()
	}
	s.stepRows = stepsOf(steps, s.files, ended)
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

// lookForLog lists the logs until there is one, since a log appears with its step,
// and opens one again that ended before its run did.
func (s *Screen) lookForLog() tea.Cmd {
	switch g := s.log; {
	case !s.found || g.open || g.opening:
	case !g.ended:
		return s.list()
	case !s.holdsLog() && (s.live == nil || !s.live.Done):
		return s.openLog(g.step)
	}
	return nil
}

// holdsLog says that what is in the log's pane must not move: the display is
// paused, or somebody reads older lines.
func (s *Screen) holdsLog() bool {
	return s.paused || s.log.step != "" && !s.log.list.Following()
}

// pickLog opens the log that tells most: the job's until there is the client's,
// that of the step which a failed run blames, and whichever there is in other
// tools' folders. It waits as long as the pane must not move.
func (s *Screen) pickLog() tea.Cmd {
	if s.log.held = false; s.log.chosen || len(s.files) == 0 {
		return nil
	}
	blamed := ""
	if s.live != nil && s.live.Status.State == event.Failed {
		blamed = failedStep(s.live.Status)
	}
	step := s.files[0].Step // the client's, if there is one
	for _, f := range s.files {
		if f.Step == blamed || f.Step == "job" && step != "client" && step != blamed {
			step = f.Step
		}
	}
	if s.log.step == step && (s.log.open || s.log.opening || s.log.ended) {
		return nil
	}
	if s.log.held = s.holdsLog(); s.log.held {
		return nil
	}
	return s.openLog(step)
}

func (s *Screen) onLogOpened(m logOpenedMsg) tea.Cmd {
	if m.gen != s.log.gen {
		return nil
	}
	s.log.opening = false
	if s.log.err = m.err; m.err != nil {
		return nil
	}
	s.log.open, s.log.chunks = true, m.chunks
	return s.nextLines()
}

func (s *Screen) onLogRead(m logReadMsg) tea.Cmd {
	if m.gen != s.log.gen {
		return nil
	}
	if m.restarted {
		s.log.list.Clear()
	}
	s.log.list.Add(m.lines...)
	s.log.skipped += m.skipped
	s.log.err = m.err
	if !m.more {
		s.log.open, s.log.ended = false, true
		return nil
	}
	return s.nextLines()
}
