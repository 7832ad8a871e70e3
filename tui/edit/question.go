package edit

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes/examples"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// question is an open list of what may be done; all keys go to it. What is chosen
// is a message for the screen.
type question struct {
	ui.Menu
	choices     []tea.Msg      // of each item; nil does nothing
	esc         tea.Msg        // nil: esc only closes
	shortcuts   map[string]int // further keys that choose an item
	ignoresKeys bool           // opened by itself just now: keys are meant for something else
}

// keyDelay is how long a question that opens by itself takes no keys.
const keyDelay = 400 * time.Millisecond

// questionReadyMsg says that a question has been seen long enough to be meant.
type questionReadyMsg struct{ question *question }

// delayKeys makes a question one that no key asked for.
func (q *question) delayKeys() tea.Cmd {
	q.ignoresKeys = true
	return tea.Tick(keyDelay, func(time.Time) tea.Msg { return questionReadyMsg{q} })
}

func (q *question) add(choice tea.Msg, it ui.Item) {
	q.Items, q.choices = append(q.Items, it), append(q.choices, choice)
}

// Key handles a key; closed says that the question is answered, by what is chosen.
func (q *question) Key(msg tea.KeyPressMsg) (chosen tea.Msg, closed bool) {
	if q.ignoresKeys {
		return nil, false
	}
	if i, ok := q.shortcuts[msg.String()]; ok {
		return q.choices[i], true
	}
	i, closed := q.Menu.Key(msg)
	if i >= 0 {
		return q.choices[i], true
	}
	return q.esc, closed
}

// View draws the question as a box of at most w × h cells.
func (q *question) View(th ui.Theme, w, h int) string {
	m := q.Menu
	if q.ignoresKeys { // says how to answer once an answer is taken
		m.Footer = " "
	}
	return m.Draw(th, w, h)
}

// leaveQuestion asks before edits are lost.
func leaveQuestion(unsaved []string) *question {
	q := &question{
		Menu:      ui.Menu{Title: "Leave without saving?", Body: "Not saved: " + strings.Join(unsaved, ", "), Cursor: 1},
		shortcuts: map[string]int{"ctrl+s": 0, "s": 0},
	}
	q.add(saveMsg{leaveMsg{}}, ui.Item{Text: "save, then leave", Note: "ctrl+s"})
	q.add(nil, ui.Item{Text: "stay", Note: "esc"})
	q.add(leaveMsg{}, ui.Item{Text: "leave, and discard the edits", Role: ui.Bad})
	return q
}

// newRecipeQuestion offers to begin a recipe that is not there yet.
func newRecipeQuestion(path string) *question {
	q := &question{esc: ui.Back{}, Menu: ui.Menu{
		Title: "There is no " + path, Footer: "a number or enter chooses · esc goes back",
		Body: "A new recipe can begin as one of the examples, each with its workload. Nothing is written before it is saved.",
	}}
	q.add(q.esc, ui.Item{Text: "go back", Note: "esc"})
	for _, name := range examples.Names() {
		q.add(exampleMsg{name}, ui.Item{Text: "new, from " + name})
	}
	return q
}
