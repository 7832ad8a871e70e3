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

// fake is a screen that notes what it is told.
type fakeScreen struct {
	name   string
	got    []tea.Msg
	w, h   int
	typing bool
	closed bool
	reply  tea.Cmd
}

func (f *fakeScreen) Name() string    { return f.name }
func (f *fakeScreen) State() ui.State { return ui.State{Text: "ready", Role: ui.OK, Age: "files now"} }
func (f *fakeScreen) Init() tea.Cmd   { return nil }
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

// send updates the model and runs the commands, ticks aside.
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
				Title: "Cancel the run?", Body: "It has measured 612 s.", Yes: "cancel it", No: "let it go on", Danger: true,
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

func TestEverySizeIsDrawnWhole(t *testing.T) {
	t.Parallel()
	r := newTestModel(t, &fakeScreen{name: strings.Repeat("long name ", 20)}, nil)
	for _, s := range [][2]int{{20, 5}, {59, 16}, {60, 15}, {60, 16}, {61, 17}, {500, 200}} {
		frametest.Frame(t, r.m, s[0], s[1])
	}
	_, _ = r.m.Update(tea.WindowSizeMsg{})
	if r.m.View().Content != "" {
		t.Error("a terminal of 0x0 is drawn to")
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
	// An answer of the first screen's command reaches it, though it is covered.
	type late struct{}
	r.send(screenMsg{1, late{}})
	if _, ok := a.got[len(a.got)-1].(late); !ok {
		t.Errorf("the covered screen got %v", a.got)
	}
	b.typing = true
	r.send(frametest.Keys("q")...)
	if len(r.m.stack) != 2 {
		t.Error("q is text while a screen takes text")
	}
	b.typing = false
	r.send(frametest.Keys("q")...)
	if len(r.m.stack) != 1 || !b.closed {
		t.Errorf("stack %d, closed %v", len(r.m.stack), b.closed)
	}
	// What the left screen's commands answer goes nowhere.
	before := len(a.got)
	r.send(screenMsg{2, late{}})
	if len(a.got) != before || len(b.got) != 1 {
		t.Errorf("an answer of a left screen reached %v %v", a.got[before:], b.got)
	}
	if _, cmd := r.m.Update(frametest.Keys("q")[0]); cmd == nil {
		t.Error("q on the last screen does nothing")
	}
}

// A dialog ignores keys until it has been in view for a moment, and its default is No.
func TestDialogGrace(t *testing.T) {
	t.Parallel()
	a := &fakeScreen{name: "a"}
	r := newTestModel(t, a, nil)
	r.m.Update(screenMsg{1, ui.Ask{ID: "sure", Yes: "yes", No: "no"}})
	r.m.Update(frametest.Keys("y")[0])
	if r.m.dialog == nil {
		t.Fatal("a key that was typed before the dialog was seen answered it")
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
		t.Error("an older toast's timer wiped a newer one")
	}
	r.run(r.m.forScreen(1, ui.ShowError(errors.New("broken"))))
	r.m.Update(toastExpiredMsg{nil})
	if r.m.toast == nil || r.m.toast.Role != ui.Bad {
		t.Error("an error does not stay")
	}
	r.send(frametest.Keys("x")...)
	if r.m.toast != nil {
		t.Error("a key does not dismiss an error")
	}
}

// Every binding of the workbench is a key that exists.
func TestBindingsExist(t *testing.T) {
	t.Parallel()
	for _, b := range []key.Binding{quitKey, backKey, helpKey} {
		for _, k := range b.Keys() {
			if k == " " || k == "" {
				t.Errorf("binding %q never matches", k)
			}
		}
	}
}

// keeper is a screen with unsaved work.
type unsavedScreen struct{ *fakeScreen }

func (unsavedScreen) Unsaved() bool { return true }

func TestQuitAsksForUnsavedWork(t *testing.T) {
	t.Parallel()
	m := New(nil, unsavedScreen{&fakeScreen{name: "edit"}}, Options{Dark: true})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(frametest.Keys("ctrl+c")[0])
	if m.dialog == nil {
		t.Fatal("ctrl+c lost unsaved work without a question")
	}
	_, cmd := m.Update(frametest.Keys("ctrl+c")[0])
	if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Error("a second ctrl+c does not quit")
	}
}

// The question about unsaved work goes before one that is open, which comes back.
func TestQuitAsksBeforeOthers(t *testing.T) {
	t.Parallel()
	m := New(nil, unsavedScreen{&fakeScreen{name: "edit"}}, Options{Dark: true})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(screenMsg{1, ui.Ask{ID: "first"}})
	m.Update(dialogReadyMsg{m.dialog})
	m.Update(frametest.Keys("ctrl+c")[0])
	if m.dialog.owner != workbenchID {
		t.Fatalf("asked %+v", m.dialog)
	}
	m.Update(dialogReadyMsg{m.dialog})
	m.Update(frametest.Keys("n")[0])
	if m.dialog == nil || m.dialog.ID != "first" || m.dialog.AcceptsKeys {
		t.Errorf("then asked %+v", m.dialog)
	}
}

// A screen that was opened on top, and may hold unsaved work, is not closed by what
// the one below replaces itself with.
func TestReplaceSparesWhatLiesOnTop(t *testing.T) {
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

// A key pressed twice in a hurry opens a screen once: the second wish comes from a
// screen that is covered by then.
func TestOpenTwiceOpensOnce(t *testing.T) {
	t.Parallel()
	r := newTestModel(t, &fakeScreen{name: "a"}, &fakeScreen{name: "b"})
	r.send(screenMsg{1, ui.OpenSubmit{}}, screenMsg{1, ui.OpenSubmit{}})
	if len(r.m.stack) != 2 {
		t.Errorf("stack %d", len(r.m.stack))
	}
}

func TestScreensThatWereLeftOpenNothing(t *testing.T) {
	t.Parallel()
	r := newTestModel(t, &fakeScreen{name: "a"}, &fakeScreen{name: "b"})
	r.send(screenMsg{99, ui.OpenRun{}}, screenMsg{99, ui.Ask{ID: "x"}}, screenMsg{99, ui.Replace{With: ui.OpenRun{}}})
	if len(r.m.stack) != 1 || r.m.dialog != nil {
		t.Errorf("stack %d, dialog %v", len(r.m.stack), r.m.dialog)
	}
	r.m.Update(screenMsg{99, ui.Toast{Text: "the submit failed", Role: ui.Bad}})
	if r.m.toast == nil {
		t.Error("how the work of a left screen ended is not told")
	}
}

func TestQuestionsWaitForEachOther(t *testing.T) {
	t.Parallel()
	a := &fakeScreen{name: "a"}
	r := newTestModel(t, a, nil)
	r.m.Update(screenMsg{1, ui.Ask{ID: "first"}})
	r.m.Update(screenMsg{1, ui.Ask{ID: "second"}})
	for _, want := range []string{"first", "second"} {
		if r.m.dialog == nil || r.m.dialog.ID != want {
			t.Fatalf("asked %+v, want %s", r.m.dialog, want)
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
			t.Errorf("%s was not told: %v", f.name, f.got)
		}
	}
}

// Two fast escs reach a program as one key with alt; both count.
func TestTwoFastEscs(t *testing.T) {
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

// A program that gets the terminal answers to the screen that started it.
func TestExec(t *testing.T) {
	t.Parallel()
	first := &fakeScreen{name: "runs"}
	r := newTestModel(t, first, nil)
	r.m.Update(tea.FocusMsg{})
	if len(first.got) != 1 || first.got[0] != (ui.Resumed{}) {
		t.Errorf("coming back to the terminal: %v", first.got)
	}
	_, cmd := r.m.Update(screenMsg{1, ui.Exec{Program: fakeProgram{}, Done: func(error) tea.Msg { return ui.Tick{} }}})
	if cmd == nil {
		t.Fatal("nothing runs")
	}
	if _, wrapped := cmd().(screenMsg); wrapped {
		t.Error("the library does not get its message")
	}
}
