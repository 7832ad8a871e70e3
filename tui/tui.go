// Package tui implements the workbench: a stack of screens in one frame. The root
// model passes sizes, keys and ticks to the active screen, and shows dialogs and
// toasts. A message from a screen's command goes to that screen, even if it is hidden.
package tui

import (
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/tui/ui"
)

const (
	tickInterval = 5 * time.Second        // screens show ages in steps of 5 s
	dialogDelay  = 400 * time.Millisecond // before a dialog accepts keys
	toastTime    = 6 * time.Second
)

// Factory returns a new screen in the current theme.
type Factory func(what ui.Open, th ui.Theme) ui.Screen

// Model is the root model of the program.
type Model struct {
	newScreen   Factory
	theme       ui.Theme
	stack       []entry
	nextID      int
	w, h        int
	dialog      *dialog
	queue       []*dialog // shown after the current dialog
	toast       *ui.Toast
	help        bool
	hint        func(active string) string // next step of the guided tour; may be nil
	openAtStart []ui.Open                  // on top of the first screen
}

// entry is an open screen. Messages from its commands are addressed by its id.
type entry struct {
	id     int
	screen ui.Screen
}

type dialog struct {
	ui.Dialog
	owner int // id of the screen that opened it
}

// screenMsg is a message from a screen's command, addressed to that screen.
type screenMsg struct {
	id  int
	msg tea.Msg
}

type (
	tickMsg         struct{ now time.Time }
	dialogReadyMsg  struct{ dialog *dialog }
	toastExpiredMsg struct{ toast *ui.Toast }
)

// Options configures [New].
type Options struct {
	Dark bool
	// Hint returns the line that a guided tour shows above the key hints, given the
	// name of the active screen. It may be nil.
	Hint func(active string) string
	// Open lists the screens to open at the start, on top of the first one.
	Open []ui.Open
}

// New returns a workbench that shows its first screen.
func New(factory Factory, first ui.Screen, opt Options) *Model {
	m := &Model{newScreen: factory, theme: ui.NewTheme(opt.Dark), hint: opt.Hint, openAtStart: opt.Open}
	m.push(first)
	return m
}

func (m *Model) push(s ui.Screen) {
	m.nextID++
	m.stack = append(m.stack, entry{m.nextID, s})
}

func (m *Model) active() entry { return m.stack[len(m.stack)-1] }

// Init starts the first screen and the ticks.
func (m *Model) Init() tea.Cmd {
	e := m.active()
	cmds := []tea.Cmd{m.forScreen(e.id, e.screen.Init()), tick(), tea.RequestBackgroundColor}
	for _, o := range m.openAtStart {
		cmds = append(cmds, m.open(o))
	}
	return tea.Batch(cmds...)
}

func tick() tea.Cmd {
	return tea.Tick(tickInterval, func(now time.Time) tea.Msg { return tickMsg{now} })
}

// forScreen wraps a command so that its message is addressed to a screen.
func (m *Model) forScreen(id int, cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		switch msg := cmd().(type) {
		case nil:
			return nil
		case tea.BatchMsg:
			out := make(tea.BatchMsg, 0, len(msg))
			for _, c := range msg {
				out = append(out, m.forScreen(id, c))
			}
			return out
		default:
			return screenMsg{id, msg}
		}
	}
}

// Update routes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		m.resize()
		return m, nil
	case tea.BackgroundColorMsg:
		m.theme = ui.NewTheme(msg.IsDark())
		cmds := make([]tea.Cmd, 0, len(m.stack))
		for _, e := range m.stack {
			cmds = append(cmds, m.deliver(e, ui.ThemeChanged{Theme: m.theme}))
		}
		return m, tea.Batch(cmds...)
	case tickMsg:
		return m, tea.Batch(tick(), m.deliver(m.active(), ui.Tick{Now: msg.now}))
	case dialogReadyMsg:
		if m.dialog == msg.dialog {
			m.dialog.AcceptsKeys = true
		}
		return m, nil
	case toastExpiredMsg:
		if m.toast != nil && m.toast == msg.toast {
			m.toast = nil
			m.resize()
		}
		return m, nil
	case screenMsg:
		return m, m.handleScreenMsg(msg)
	case tea.FocusMsg: // files may have changed while the terminal had no focus
		return m, m.deliver(m.active(), ui.Resumed{})
	case tea.KeyPressMsg:
		return m, m.handleKey(msg)
	case tea.PasteMsg:
		if m.dialog == nil && !m.help {
			return m, m.deliver(m.active(), msg)
		}
	case tea.MouseClickMsg:
		return m, m.handleMouse(msg.Mouse(), 0)
	case tea.MouseWheelMsg:
		by := 3
		if msg.Button == tea.MouseWheelUp {
			by = -3
		}
		return m, m.handleMouse(msg.Mouse(), by)
	}
	return m, nil
}

// handleScreenMsg handles a message from a screen's command. After a screen was closed
// only its toasts are shown, so that a late failure is still reported.
func (m *Model) handleScreenMsg(from screenMsg) tea.Cmd {
	sender, found := m.findEntry(from.id)
	if _, isToast := from.msg.(ui.Toast); !found && !isToast {
		return nil
	}
	switch msg := from.msg.(type) {
	case ui.Open:
		if sender.id != m.active().id { // the key was pressed twice: the first press has opened a screen
			return nil
		}
		return m.open(msg)
	case ui.Replace:
		if sender.id != m.active().id { // another screen is on top, possibly with unsaved changes
			return m.showToast(msg.Toast)
		}
		m.active().screen.Close()
		m.stack = m.stack[:len(m.stack)-1]
		return tea.Batch(m.open(msg.With), m.showToast(msg.Toast))
	case ui.Back:
		return m.back(from.id)
	case ui.Toast:
		return m.showToast(msg)
	case ui.Ask:
		return m.openDialog(from.id, msg)
	case ui.Exec:
		return tea.Exec(msg.Program, func(err error) tea.Msg { return screenMsg{from.id, msg.Done(err)} })
	case ui.Copy:
		return tea.Batch(tea.SetClipboard(msg.Text), m.showToast(ui.Toast{Text: msg.Message, Role: ui.OK}))
	case tea.QuitMsg:
		return tea.Quit
	}
	return m.deliver(sender, from.msg)
}

// findEntry returns the screen with an id, if it is still open.
func (m *Model) findEntry(id int) (entry, bool) {
	for _, e := range m.stack {
		if e.id == id {
			return e, true
		}
	}
	return entry{}, false
}

func (m *Model) deliver(e entry, msg tea.Msg) tea.Cmd { return m.forScreen(e.id, e.screen.Update(msg)) }

func (m *Model) open(what ui.Open) tea.Cmd {
	m.push(m.newScreen(what, m.theme))
	m.toast = nil
	m.resize()
	e := m.active()
	return m.forScreen(e.id, e.screen.Init())
}

// back closes a screen if it is the active one. Closing the last one ends the program.
func (m *Model) back(id int) tea.Cmd {
	if m.active().id != id {
		return nil
	}
	if len(m.stack) == 1 {
		return tea.Quit
	}
	m.active().screen.Close()
	m.stack = m.stack[:len(m.stack)-1]
	m.resize()
	return m.deliver(m.active(), ui.Resumed{})
}

func (m *Model) showToast(t ui.Toast) tea.Cmd {
	if t.Text == "" {
		return nil
	}
	m.toast = &t
	m.resize()
	if t.Role == ui.Bad {
		return nil // stays until a key is pressed
	}
	return tea.Tick(toastTime, func(time.Time) tea.Msg { return toastExpiredMsg{&t} })
}

// Bindings of the workbench itself.
var (
	quitKey = key.NewBinding(key.WithKeys("ctrl+c"), key.WithHelp("ctrl+c", "quit; runs continue"))
	backKey = key.NewBinding(key.WithKeys("q", "esc"), key.WithHelp("q esc", "back"))
	helpKey = key.NewBinding(key.WithKeys("?", "f1"), key.WithHelp("?", "help"))
)

func (m *Model) handleKey(msg tea.KeyPressMsg) tea.Cmd {
	if msg.Code == tea.KeyEscape && msg.Mod == tea.ModAlt { // two fast escapes arrive as one key
		esc := tea.KeyPressMsg{Code: tea.KeyEscape}
		first := m.handleKey(esc)
		return tea.Batch(first, m.handleKey(esc))
	}
	if key.Matches(msg, quitKey) {
		return m.quit()
	}
	if m.dialog != nil {
		return m.handleDialogKey(msg)
	}
	if m.help {
		m.help = false
		return nil
	}
	if m.toast != nil {
		m.toast = nil
		m.resize()
	}
	e := m.active()
	typing := e.screen.Typing()
	if !typing && msg.Mod == tea.ModAlt { // esc and another key in one read arrive as alt+key
		next := msg
		next.Mod = 0
		return tea.Batch(m.handleKey(tea.KeyPressMsg{Code: tea.KeyEscape}), m.handleKey(next))
	}
	switch {
	case key.Matches(msg, helpKey) && (!typing || msg.Text == ""):
		m.help = true
		return nil
	case key.Matches(msg, backKey) && !typing:
		if x, ok := e.screen.(ui.Escaper); ok && msg.String() == "esc" {
			if cmd, handled := x.Escape(); handled {
				return m.forScreen(e.id, cmd)
			}
		}
		if l, ok := e.screen.(ui.Leaver); ok {
			return m.forScreen(e.id, l.Leave())
		}
		return m.back(e.id) // not as a message: the next key is for the screen below
	}
	return m.deliver(e, msg)
}

// quit ends the program. If a screen has unsaved changes, it asks for confirmation first;
// a second ctrl+c quits without an answer.
func (m *Model) quit() tea.Cmd {
	if m.dialog != nil && m.dialog.owner == workbenchID {
		return tea.Quit
	}
	for _, e := range m.stack {
		if r, ok := e.screen.(ui.UnsavedReporter); ok && r.Unsaved() {
			return m.openDialog(workbenchID, ui.Ask{
				Title: "Quit with unsaved changes?", Body: "The changes in " + e.screen.Name() + " are not saved.",
				Yes: "quit", No: "stay", Danger: true,
			})
		}
	}
	return tea.Quit
}

// workbenchID is the owner of the workbench's own dialog; screens have ids from 1.
const workbenchID = 0

func (m *Model) openDialog(owner int, a ui.Ask) tea.Cmd {
	d := &dialog{Dialog: ui.Dialog{Ask: a}, owner: owner}
	switch {
	case m.dialog == nil:
	case owner == workbenchID: // shown before the others
		m.queue = slices.Insert(m.queue, 0, m.dialog)
	default: // one dialog at a time
		m.queue = append(m.queue, d)
		return nil
	}
	return m.showDialog(d)
}

func (m *Model) showDialog(d *dialog) tea.Cmd {
	m.dialog, d.AcceptsKeys = d, false
	return tea.Tick(dialogDelay, func(time.Time) tea.Msg { return dialogReadyMsg{d} })
}

func (m *Model) handleDialogKey(msg tea.KeyPressMsg) tea.Cmd {
	d := m.dialog
	if !d.AcceptsKeys {
		return nil
	}
	yes := d.YesSelected
	switch msg.String() {
	case "left", "right", "tab", "shift+tab", "h", "l":
		d.YesSelected = !d.YesSelected
		return nil
	case "y":
		yes = true
	case "n", "esc", "q":
		yes = false
	case "enter":
	default:
		return nil
	}
	m.dialog = nil
	if d.owner == workbenchID && yes {
		return tea.Quit
	}
	var next tea.Cmd
	if len(m.queue) > 0 {
		next = m.showDialog(m.queue[0])
		m.queue = m.queue[1:]
	}
	if e, ok := m.findEntry(d.owner); ok {
		return tea.Batch(m.deliver(e, ui.Answer{ID: d.ID, Yes: yes}), next)
	}
	return next
}

func (m *Model) handleMouse(at tea.Mouse, wheel int) tea.Cmd {
	y := at.Y - ui.HeaderRows
	if m.dialog != nil || m.help || y < 0 || y >= m.bodyHeight() {
		return nil
	}
	return m.deliver(m.active(), ui.Mouse{X: at.X, Y: y, Wheel: wheel})
}

// extraRows returns the lines between body and footer: the toast and the tour's hint.
func (m *Model) extraRows() []string {
	var rows []string
	if m.toast != nil {
		mark := map[ui.Role]string{ui.Bad: "✗ ", ui.Warn: "⚠ ", ui.OK: "✓ "}[m.toast.Role]
		for _, line := range ui.WrapAtMost(mark+strings.ReplaceAll(m.toast.Text, "\n", "; "), max(m.w-2, 1), max(m.h/5, 1)) {
			rows = append(rows, m.theme.Paint(m.toast.Role, ui.Fit(" "+line, m.w)))
		}
	}
	if m.hint != nil {
		if text := m.hint(m.active().screen.Name()); text != "" {
			rows = append(rows, m.theme.Paint(ui.Accent, ui.Fit(" ▸ "+text, m.w)))
		}
	}
	return rows
}

func (m *Model) bodyHeight() int {
	return max(m.h-ui.HeaderRows-ui.FooterRows-len(m.extraRows()), 0)
}

func (m *Model) resize() {
	if m.w == 0 {
		return
	}
	m.active().screen.SetSize(m.w, m.bodyHeight())
}

// View returns the frame and the terminal modes.
func (m *Model) View() tea.View {
	v := tea.NewView(m.frame())
	v.AltScreen, v.ReportFocus, v.MouseMode, v.WindowTitle = true, true, tea.MouseModeCellMotion, "agentperf-tui"
	return v
}

func (m *Model) frame() string {
	if m.w == 0 || m.h == 0 {
		return ""
	}
	if m.w < ui.MinWidth || m.h < ui.MinHeight {
		return ui.Box("terminal too small: needs at least 60 × 16", m.w, m.h)
	}
	s := m.active().screen
	crumbs := make([]string, 0, len(m.stack))
	for _, e := range m.stack {
		crumbs = append(crumbs, e.screen.Name())
	}
	body := s.View()
	if m.help {
		body = m.theme.Help(s.Name(), [][]key.Binding{s.Keys(), {backKey, helpKey, quitKey}}, m.w, m.bodyHeight())
	}
	parts := []string{m.theme.Header(crumbs, s.State(), m.w), ui.Box(body, m.w, m.bodyHeight())}
	parts = append(parts, m.extraRows()...)
	help := "?"
	if s.Typing() {
		help = "f1"
	}
	parts = append(parts, m.theme.Footer(s.Keys(), help, m.w))
	frame := strings.Join(parts, "\n")
	if m.dialog != nil {
		frame = ui.OverlayCentred(frame, m.dialog.Draw(m.theme, m.w, m.h), m.w, m.h)
	}
	return frame
}
