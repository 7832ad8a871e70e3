package tui

import (
	"errors"
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// fakeScreen is a screen that records its messages.
type fakeScreen struct {
	name   string
	got    []tea.Msg
	w, h   int
	typing bool
	closed bool
	reply  tea.Cmd
}

func (f *fakeScreen) Name() string { return f.name }
func (f *fakeScreen) State() ui.State {
	return ui.State{Text: "ready", Role: ui.OK, Age: "updated just now"}
}
func (f *fakeScreen) Init() tea.Cmd { return nil }
func (f *fakeScreen) Update(m tea.Msg) tea.Cmd {
	f.got = append(f.got, m)
	r := f.reply
	f.reply = nil
	return r
}
func (f *fakeScreen) SetSize(w, h int) { f.w, f.h = w, h }
func (f *fakeScreen) View() string     { return strings.Repeat("body of "+f.name+"\n", 3) }
func (f *fakeScreen) Keys() []key.Binding {
	return []key.Binding{key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "open"))}
}
func (f *fakeScreen) Typing() bool { return f.typing }
func (f *fakeScreen) Close()       { f.closed = true }

type testModel struct {
	t *testing.T
	m *Model
}

func newTestModel(t *testing.T, first *fakeScreen, second *fakeScreen) testModel {
	m := New(func(ui.Open, ui.Theme) ui.Screen { return second }, first, Options{Dark: true})
	r := testModel{t, m}
	r.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	return r
}

// send updates the model and runs the commands, but for ticks.
func (r testModel) send(msgs ...tea.Msg) {
	for _, msg := range msgs {
		_, cmd := r.m.Update(msg)
		r.run(cmd)
	}
}

func (r testModel) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil, tea.QuitMsg, toastExpiredMsg:
	case tea.BatchMsg:
		for _, c := range msg {
			r.run(c)
		}
	default:
		r.send(msg)
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(testModel){
		"plain": func(testModel) {},
		"toast": func(r testModel) { r.send(screenMsg{1, ui.Toast{Text: "disk full:\nfree some space", Role: ui.Bad}}) },
		"help":  func(r testModel) { r.send(frametest.Keys("?")...) },
		"dialog": func(r testModel) {
			r.m.Update(screenMsg{1, ui.Ask{
				Title: "Cancel the run?", Body: "It has measured 612 s.", Yes: "cancel run", No: "keep running", Danger: true,
			}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestModel(t, &fakeScreen{name: "runs"}, nil)
			prepare(r)
			frametest.Golden(t, name, r.m)
		})
	}
}

func TestFrameFillsEverySize(t *testing.T) {
	t.Parallel()
	r := newTestModel(t, &fakeScreen{name: strings.Repeat("long name ", 20)}, nil)
	for _, s := range [][2]int{{20, 5}, {59, 16}, {60, 15}, {60, 16}, {61, 17}, {500, 200}} {
		frametest.Frame(t, r.m, s[0], s[1])
	}
	_, _ = r.m.Update(tea.WindowSizeMsg{})
	if r.m.View().Content != "" {
		t.Error("a frame for a terminal of 0x0 is not empty")
	}
}

func TestNavigation(t *testing.T) {
	t.Parallel()
	a, b := &fakeScreen{name: "a"}, &fakeScreen{name: "b"}
	r := newTestModel(t, a, b)
	a.reply = ui.Send(ui.OpenRun{Run: "x"})
	r.send(frametest.Keys("enter")...)
	if len(r.m.stack) != 2 || b.w != 80 || b.h != 20 {
		t.Fatalf("stack %d, second screen %dx%d", len(r.m.stack), b.w, b.h)
	}
	// A message of the first screen's command reaches it, though it is covered.
	type late struct{}
	r.send(screenMsg{1, late{}})
	if _, ok := a.got[len(a.got)-1].(late); !ok {
		t.Errorf("the covered screen got %v", a.got)
	}
	b.typing = true
	r.send(frametest.Keys("q")...)
	if len(r.m.stack) != 2 {
		t.Error("q closed a screen that accepts text")
	}
	b.typing = false
	r.send(frametest.Keys("q")...)
	if len(r.m.stack) != 1 || !b.closed {
		t.Errorf("stack %d, closed %v", len(r.m.stack), b.closed)
	}
	// Messages of the closed screen's commands are dropped.
	before := len(a.got)
	r.send(screenMsg{2, late{}})
	if len(a.got) != before || len(b.got) != 1 {
		t.Errorf("a message of a closed screen reached %v %v", a.got[before:], b.got)
	}
	if _, cmd := r.m.Update(frametest.Keys("q")[0]); cmd == nil {
		t.Error("q on the last screen does nothing")
	}
}

// A dialog ignores keys at first, and its default is No.
func TestDialogIgnoresKeysAtFirst(t *testing.T) {
	t.Parallel()
	a := &fakeScreen{name: "a"}
	r := newTestModel(t, a, nil)
	r.m.Update(screenMsg{1, ui.Ask{ID: "sure", Yes: "yes", No: "no"}})
	r.m.Update(frametest.Keys("y")[0])
	if r.m.dialog == nil {
		t.Fatal("a key pressed before the dialog was visible answered it")
	}
	r.m.Update(dialogReadyMsg{r.m.dialog})
	r.m.Update(frametest.Keys("x")[0])
	r.send(frametest.Keys("enter")...)
	if got, ok := a.got[len(a.got)-1].(ui.Answer); !ok || got.Yes || got.ID != "sure" {
		t.Errorf("enter answered %v", a.got)
	}
	r.m.Update(screenMsg{1, ui.Ask{ID: "again"}})
	r.m.Update(dialogReadyMsg{r.m.dialog})
	r.send(frametest.Keys("right", "enter")...)
	if got, ok := a.got[len(a.got)-1].(ui.Answer); !ok || !got.Yes {
		t.Errorf("right and enter answered %v", a.got[len(a.got)-1])
	}
}

func TestToasts(t *testing.T) {
	t.Parallel()
	r := newTestModel(t, &fakeScreen{name: "a"}, nil)
	r.m.Update(screenMsg{1, ui.Toast{Text: "one", Role: ui.OK}})
	old := r.m.toast
	r.m.Update(screenMsg{1, ui.Toast{Text: "two", Role: ui.OK}})
	r.m.Update(toastExpiredMsg{old})
	if r.m.toast == nil || r.m.toast.Text != "two" {
		t.Error("the timer of an older toast removed a newer one")
	}
	r.run(r.m.forScreen(1, ui.ShowError(errors.New("broken"))))
	r.m.Update(toastExpiredMsg{nil})
	if r.m.toast == nil || r.m.toast.Role != ui.Bad {
		t.Error("the toast of an error disappeared")
	}
	r.send(frametest.Keys("x")...)
	if r.m.toast != nil {
		t.Error("a key did not remove the toast of an error")
	}
}

// Every binding of the workbench names a key.
func TestBindingsHaveKeys(t *testing.T) {
	t.Parallel()
	for _, b := range []key.Binding{quitKey, backKey, helpKey} {
		for _, k := range b.Keys() {
			if k == " " || k == "" {
				t.Errorf("binding %q is empty", k)
			}
		}
	}
}

// unsavedScreen is a screen with unsaved changes.
type unsavedScreen struct{ *fakeScreen }

func (unsavedScreen) Unsaved() bool { return true }

func TestQuitAsksAboutUnsavedChanges(t *testing.T) {
	t.Parallel()
	m := New(nil, unsavedScreen{&fakeScreen{name: "edit"}}, Options{Dark: true})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(frametest.Keys("ctrl+c")[0])
	if m.dialog == nil {
		t.Fatal("ctrl+c discarded unsaved changes without asking")
	}
	_, cmd := m.Update(frametest.Keys("ctrl+c")[0])
	if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Error("a second ctrl+c does not quit")
	}
}

// The dialog about unsaved changes replaces an open one, which then returns.
func TestQuitDialogGoesFirst(t *testing.T) {
	t.Parallel()
	m := New(nil, unsavedScreen{&fakeScreen{name: "edit"}}, Options{Dark: true})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(screenMsg{1, ui.Ask{ID: "first"}})
	m.Update(dialogReadyMsg{m.dialog})
	m.Update(frametest.Keys("ctrl+c")[0])
	if m.dialog.owner != workbenchID {
		t.Fatalf("dialog %+v", m.dialog)
	}
	m.Update(dialogReadyMsg{m.dialog})
	m.Update(frametest.Keys("n")[0])
	if m.dialog == nil || m.dialog.ID != "first" || m.dialog.AcceptsKeys {
		t.Errorf("next dialog %+v", m.dialog)
	}
}

// A screen that was opened on top, and may hold unsaved changes, stays open when the
// one below asks to be replaced.
func TestReplaceKeepsScreenOnTop(t *testing.T) {
	t.Parallel()
	a, b := &fakeScreen{name: "submit"}, &fakeScreen{name: "edit"}
	r := newTestModel(t, a, b)
	r.send(screenMsg{1, ui.OpenEdit{}})
	r.m.Update(screenMsg{1, ui.Replace{With: ui.OpenRun{}, Toast: ui.Toast{Text: "submitted"}}})
	if len(r.m.stack) != 2 || b.closed || r.m.toast == nil || r.m.toast.Text != "submitted" {
		t.Errorf("stack %d, editor closed %v, toast %+v", len(r.m.stack), b.closed, r.m.toast)
	}
	c := &fakeScreen{name: "run"}
	r.m.newScreen = func(ui.Open, ui.Theme) ui.Screen { return c }
	r.m.Update(screenMsg{r.m.active().id, ui.Replace{With: ui.OpenRun{}, Toast: ui.Toast{Text: "again"}}})
	if len(r.m.stack) != 2 || !b.closed || r.m.active().screen != c || r.m.toast.Text != "again" {
		t.Errorf("stack %d, top %s, toast %+v", len(r.m.stack), r.m.active().screen.Name(), r.m.toast)
	}
}

// A key pressed twice opens a screen once: by the second message the sender is covered.
func TestOpenTwiceOpensOneScreen(t *testing.T) {
	t.Parallel()
	r := newTestModel(t, &fakeScreen{name: "a"}, &fakeScreen{name: "b"})
	r.send(screenMsg{1, ui.OpenSubmit{}}, screenMsg{1, ui.OpenSubmit{}})
	if len(r.m.stack) != 2 {
		t.Errorf("stack %d", len(r.m.stack))
	}
}

func TestClosedScreenOpensNothing(t *testing.T) {
	t.Parallel()
	r := newTestModel(t, &fakeScreen{name: "a"}, &fakeScreen{name: "b"})
	r.send(screenMsg{99, ui.OpenRun{}}, screenMsg{99, ui.Ask{ID: "x"}}, screenMsg{99, ui.Replace{With: ui.OpenRun{}}})
	if len(r.m.stack) != 1 || r.m.dialog != nil {
		t.Errorf("stack %d, dialog %v", len(r.m.stack), r.m.dialog)
	}
	r.m.Update(screenMsg{99, ui.Toast{Text: "the submission failed", Role: ui.Bad}})
	if r.m.toast == nil {
		t.Error("the toast of a closed screen was dropped")
	}
}

func TestDialogsAreQueued(t *testing.T) {
	t.Parallel()
	a := &fakeScreen{name: "a"}
	r := newTestModel(t, a, nil)
	r.m.Update(screenMsg{1, ui.Ask{ID: "first"}})
	r.m.Update(screenMsg{1, ui.Ask{ID: "second"}})
	for _, want := range []string{"first", "second"} {
		if r.m.dialog == nil || r.m.dialog.ID != want {
			t.Fatalf("dialog %+v, want %s", r.m.dialog, want)
		}
		r.m.Update(dialogReadyMsg{r.m.dialog})
		r.m.Update(frametest.Keys("y")[0])
	}
	var got []string
	for _, m := range a.got {
		if answer, ok := m.(ui.Answer); ok {
			got = append(got, answer.ID)
		}
	}
	if len(got) != 2 || r.m.dialog != nil {
		t.Errorf("answers %v", got)
	}
}

func TestThemeReachesCoveredScreens(t *testing.T) {
	t.Parallel()
	a, b := &fakeScreen{name: "a"}, &fakeScreen{name: "b"}
	r := newTestModel(t, a, b)
	r.send(screenMsg{1, ui.OpenRun{}}, tea.BackgroundColorMsg{Color: lipgloss.Color("#ffffff")})
	for _, f := range []*fakeScreen{a, b} {
		if _, ok := f.got[len(f.got)-1].(ui.ThemeChanged); !ok {
			t.Errorf("%s did not get the theme: %v", f.name, f.got)
		}
	}
}

// Two fast escapes arrive as one key with alt; both are handled.
func TestTwoFastEscapes(t *testing.T) {
	t.Parallel()
	first, second := &fakeScreen{name: "runs"}, &fakeScreen{name: "edit", typing: true}
	r := newTestModel(t, first, second)
	r.send(screenMsg{1, ui.OpenEdit{}})
	r.send(tea.KeyPressMsg{Code: tea.KeyEscape, Mod: tea.ModAlt})
	n := 0
	for _, m := range second.got {
		if k, ok := m.(tea.KeyPressMsg); ok && k.String() == "esc" {
			n++
		}
	}
	if n != 2 {
		t.Errorf("the screen got %v", second.got)
	}
}

type fakeProgram struct{ tea.ExecCommand }

// The message of a program that was given the terminal goes to the screen that started it.
func TestExec(t *testing.T) {
	t.Parallel()
	first := &fakeScreen{name: "runs"}
	r := newTestModel(t, first, nil)
	r.m.Update(tea.FocusMsg{})
	if len(first.got) != 1 || first.got[0] != (ui.Resumed{}) {
		t.Errorf("after the terminal got the focus: %v", first.got)
	}
	_, cmd := r.m.Update(screenMsg{1, ui.Exec{Program: fakeProgram{}, Done: func(error) tea.Msg { return ui.Tick{} }}})
	if cmd == nil {
		t.Fatal("no command was returned")
	}
	if _, wrapped := cmd().(screenMsg); wrapped {
		t.Error("the exec message was addressed to a screen")
	}
}
