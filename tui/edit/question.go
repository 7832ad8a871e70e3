package edit

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes/examples"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// question is an open menu. It gets all keys, and each choice is a message for the
// screen.
type question struct {
	ui.Menu
	choices     []tea.Msg      // one per item; nil does nothing
	esc         tea.Msg        // nil if esc only closes
	shortcuts   map[string]int // more keys that choose an item
	ignoresKeys bool           // just opened: keys may still be meant for the text
}

// keyDelay is how long a question that opens by itself ignores keys.
const keyDelay = 400 * time.Millisecond

// questionReadyMsg is sent when a question accepts keys.
type questionReadyMsg struct{ question *question }

// delayKeys makes a question ignore keys for keyDelay.
func (q *question) delayKeys() tea.Cmd {
	q.ignoresKeys = true
	return tea.Tick(keyDelay, func(time.Time) tea.Msg { return questionReadyMsg{q} })
}

func (q *question) add(choice tea.Msg, it ui.Item) {
	q.Items, q.choices = append(q.Items, it), append(q.choices, choice)
}

// Key handles a key. It returns the choice, and whether the question is closed.
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
	if q.ignoresKeys { // the key hints appear once it accepts keys
		m.Footer = " "
	}
	return m.Draw(th, w, h)
}

// leaveQuestion asks before unsaved changes are discarded.
func leaveQuestion(unsaved []string) *question {
	q := &question{
		Menu: ui.Menu{
			Title: "Leave without saving?", Body: "Unsaved changes in " + strings.Join(unsaved, ", "), Cursor: 1,
		},
		shortcuts: map[string]int{"ctrl+s": 0, "s": 0},
	}
	q.add(saveMsg{leaveMsg{}}, ui.Item{Text: "save and leave", Note: "ctrl+s"})
	q.add(nil, ui.Item{Text: "stay", Note: "esc"})
	q.add(leaveMsg{}, ui.Item{Text: "discard the changes and leave", Role: ui.Bad})
	return q
}

// newRecipeQuestion offers to create a recipe that does not exist.
func newRecipeQuestion(path string) *question {
	q := &question{esc: ui.Back{}, Menu: ui.Menu{
		Title: path + " does not exist", Footer: "enter or a number chooses · esc goes back",
		Body: "Start from an example recipe with its workload? Nothing is written until you save.",
	}}
	q.add(q.esc, ui.Item{Text: "go back", Note: "esc"})
	for _, name := range examples.Names() {
		q.add(exampleMsg{name}, ui.Item{Text: "new from " + name})
	}
	return q
}
