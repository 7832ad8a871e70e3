package frametest

import tea "charm.land/bubbletea/v2"

// Updater is a part of a program that is told messages and answers with commands.
type Updater interface {
	Update(msg tea.Msg) tea.Cmd
}

// Drive runs a command and tells u what comes back, until nothing more does. What
// is meant for others is collected instead. A command that blocks blocks the test.
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
