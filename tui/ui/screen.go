// Package ui is what all screens are made of: the contract between a screen and
// the workbench around it, the theme, and the parts that are drawn the same way
// everywhere. It knows no screen and no engine.
package ui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Screen is one place of the workbench. It is told its size and its messages, and
// draws itself; it does I/O only inside the commands that it returns.
type Screen interface {
	// Name is the screen's part of the breadcrumbs.
	Name() string
	// State is what stands top right: the state of what is shown, with its age.
	State() State
	// Init starts the screen's work; it is called once.
	Init() tea.Cmd
	// Update takes a message of this screen's own commands, a key, a paste, or one of Mouse, Tick,
	// Answer, Resumed and ThemeChanged. A screen may be an UnsavedReporter, Leaver or Escaper too.
	Update(msg tea.Msg) tea.Cmd
	// SetSize gives the size of the body in cells.
	SetSize(w, h int)
	// View is the body; the workbench cuts and pads it to its size.
	View() string
	// Keys are the bindings that work now, the most useful first. A disabled one
	// is shown with the reason in its help.
	Keys() []key.Binding
	// Typing says that keys are text now, so that none is a shortcut of the workbench.
	Typing() bool
	// Close ends the screen's work; its commands' answers go nowhere afterwards.
	Close()
}

// State is a short text with a meaning.
type State struct {
	Text string
	Role Role
	// Age is how old the state is, with its source: "events 1 s". Empty: not known.
	Age string
}

// Role is what a colour stands for.
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

// Tick is sent to the active screen every few seconds; it is how time reaches a screen.
type Tick struct{ Now time.Time }

// Mouse is a click or a turn of the wheel inside the body.
type Mouse struct {
	X, Y  int // in the body
	Wheel int // lines down; negative is up; 0 is a click
}

// In says whether it happened in a part of the body.
func (m Mouse) In(x, y, w, h int) bool { return m.X >= x && m.X < x+w && m.Y >= y && m.Y < y+h }

// Open asks the workbench for another screen.
type Open interface{ open() }

// The screens that can be asked for.
type (
	// OpenPort is the port wizard; with a directory it starts reading at once.
	OpenPort struct{ Dir string }
	// OpenEdit is the editor.
	OpenEdit struct{ Recipe, Workload string }
	// OpenSubmit shows the plan of a pair and asks whether to submit it.
	OpenSubmit struct{ Recipe, Workload string }
	// OpenRun is the dashboard of a run: a folder, an id or a name.
	OpenRun struct{ Run string }
	// OpenParity compares two runs.
	OpenParity struct{ Ref, Cand string }
)

func (OpenPort) open()   {}
func (OpenEdit) open()   {}
func (OpenSubmit) open() {}
func (OpenRun) open()    {}
func (OpenParity) open() {}

// Back leaves the active screen.
type Back struct{}

// Replace opens a screen in the place of the one that asks, with a remark. If
// another one was opened on top meanwhile, only the remark is made.
type Replace struct {
	With  Open
	Toast Toast
}

// Toast is a short remark at the bottom. An error stays until a key is pressed.
type Toast struct {
	Text string
	Role Role
}

// Ask opens a dialog; the answer goes to the screen that asked.
type Ask struct {
	ID      string
	Title   string
	Body    string
	Yes, No string // the words of the two choices; No is the default
	Danger  bool
}

// Answer is what was chosen in a dialog.
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

// ThemeChanged tells that the terminal's background is known now.
type ThemeChanged struct{ Theme Theme }

// Resumed tells a screen that it is the active one again.
type Resumed struct{}

// Copy puts a text into the terminal's clipboard, through SSH and tmux too where these allow it.
type Copy struct{ Text, Message string }

// Exec gives the terminal to another program until it ends; Done makes of its error
// the message that the screen gets then.
type Exec struct {
	Program tea.ExecCommand
	Done    func(error) tea.Msg
}

// UnsavedReporter is a screen that may hold unsaved changes.
type UnsavedReporter interface{ Unsaved() bool }

// Leaver is a screen that wants a word before it is left.
type Leaver interface {
	// Leave is called instead of leaving; it answers with Back when it is time.
	Leave() tea.Cmd
}

// Escaper is a screen in which esc ends something before it leaves the screen.
type Escaper interface {
	// Escape ends what is going on; false if nothing is, and the screen is left.
	Escape() (tea.Cmd, bool)
}
