package frametest

import tea "charm.land/bubbletea/v2"

// Updater is a component that handles messages and returns commands.
type Updater interface {
	Update(msg tea.Msg) tea.Cmd
}

// Drive runs a command, passes its message to u and repeats this with the command that u returns,
// until there is none. Messages for which forOthers returns true are not passed to u but returned.
// A command that blocks also blocks the test.
func Drive(u Updater, cmd tea.Cmd, forOthers func(tea.Msg) bool) (collected []tea.Msg) {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, c := range batch {
			collected = append(collected, Drive(u, c, forOthers)...)
		}
		return collected
	}
	switch {
	case msg == nil:
		return nil
	case forOthers(msg):
		return []tea.Msg{msg}
	}
	return Drive(u, u.Update(msg), forOthers)
}
