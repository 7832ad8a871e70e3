// Package ui holds what all screens share: the interface between a screen and the
// workbench, the theme, and widgets. It does not depend on any screen or on the engine.
package ui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Screen is a screen of the workbench. It does I/O only in the commands that it returns.
type Screen interface {
	// Name returns the screen's name in the breadcrumbs.
	Name() string
	// State returns the state shown at the top right, with its age.
	State() State
	// Init returns the screen's first command. It is called once.
	Init() tea.Cmd
	// Update handles a message of one of the screen's commands, a key, a paste, or a Mouse, Tick,
	// Answer, Resumed or ThemeChanged. A screen may also be an UnsavedReporter, Leaver or Escaper.
	Update(msg tea.Msg) tea.Cmd
	// SetSize sets the size of the body in cells.
	SetSize(w, h int)
	// View returns the body; the workbench cuts and pads it to its size.
	View() string
	// Keys returns the current bindings, the most useful first. Disabled ones are shown with
	// the reason.
	Keys() []key.Binding
	// Typing reports whether keys are text input. The workbench then has no shortcuts.
	Typing() bool
	// Close stops the screen's work. Later messages of its commands are dropped.
	Close()
}

// State is a short text with a role and an age.
type State struct {
	Text string
	Role Role
	// Age tells how old the state is, with its source: "events 1 s". Empty if unknown.
	Age string
}

// Role is the meaning of a color.
type Role int

// The roles.
const (
	Plain Role = iota
	Muted
	Accent
	OK
	Warn
	Bad
)

// Tick is sent to the active screen every few seconds, with the current time.
type Tick struct{ Now time.Time }

// Mouse is a click or a turn of the wheel in the body.
type Mouse struct {
	X, Y  int // in the body
	Wheel int // lines down, negative for up; 0 for a click
}

// In reports whether the mouse is in a rectangle of the body.
func (m Mouse) In(x, y, w, h int) bool { return m.X >= x && m.X < x+w && m.Y >= y && m.Y < y+h }

// Open is a message that asks the workbench to open a screen on top.
type Open interface{ open() }

// The screens that can be opened.
type (
	// OpenPort opens the port wizard, which starts to port Dir unless it is empty.
	OpenPort struct{ Dir string }
	// OpenEdit opens the editor.
	OpenEdit struct{ Recipe, Workload string }
	// OpenSubmit opens the plan of a recipe and its workload.
	OpenSubmit struct{ Recipe, Workload string }
	// OpenRun opens the dashboard of a run, given its directory, job id or name.
	OpenRun struct{ Run string }
	// OpenParity opens the comparison of two runs.
	OpenParity struct{ Ref, Cand string }
)

func (OpenPort) open()   {}
func (OpenEdit) open()   {}
func (OpenSubmit) open() {}
func (OpenRun) open()    {}
func (OpenParity) open() {}

// Back is a message that closes the active screen.
type Back struct{}

// Replace is a message that replaces the sender with another screen and shows a toast.
// If another screen was opened on top meanwhile, only the toast is shown.
type Replace struct {
	With  Open
	Toast Toast
}

// Toast is a short message at the bottom. With role Bad it stays until a key is pressed.
type Toast struct {
	Text string
	Role Role
}

// Ask is a message that opens a dialog. The sender gets an Answer.
type Ask struct {
	ID      string
	Title   string
	Body    string
	Yes, No string // the texts of the two buttons; No is the default
	Danger  bool
}

// Answer is the choice made in a dialog.
type Answer struct {
	ID  string
	Yes bool
}

// Send returns a command that sends a message.
func Send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// ShowError returns a command that shows an error as a toast. For nil it returns nil.
func ShowError(err error) tea.Cmd {
	if err == nil {
		return nil
	}
	return Send(Toast{Text: err.Error(), Role: Bad})
}

// ThemeChanged is sent to all screens when the terminal's background is known.
type ThemeChanged struct{ Theme Theme }

// Resumed is sent to a screen when it becomes the active one again.
type Resumed struct{}

// Copy is a message that copies Text to the terminal's clipboard (OSC 52), which works
// through SSH and, if enabled, tmux. Message is then shown as a toast.
type Copy struct{ Text, Message string }

// Exec is a message that gives the terminal to another program until it ends. The
// sender then gets the message that Done returns.
type Exec struct {
	Program tea.ExecCommand
	Done    func(error) tea.Msg
}

// UnsavedReporter is a screen that may have unsaved changes.
type UnsavedReporter interface{ Unsaved() bool }

// Leaver is a screen that is asked before it is closed.
type Leaver interface {
	// Leave is called instead of closing the screen; its command sends Back to close it.
	Leave() tea.Cmd
}

// Escaper is a screen in which esc may cancel something instead of closing the screen.
type Escaper interface {
	// Escape cancels the operation in progress. It returns false if there is none; then the
	// screen is closed.
	Escape() (tea.Cmd, bool)
}
