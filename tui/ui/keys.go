package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Bind returns a binding of keys. The screen shows label as the key, and desc as its description.
func Bind(label, desc string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(label, desc))
}

// Disabled returns a binding that is disabled and shows the reason. With an empty
// reason it returns the binding unchanged.
func Disabled(b key.Binding, reason string) key.Binding {
	if reason == "" {
		return b
	}
	b.SetHelp(b.Help().Key, b.Help().Desc+" ("+reason+")")
	b.SetEnabled(false)
	return b
}

// Command is a key binding of a screen with its current action.
type Command struct {
	Key    key.Binding
	Do     func() tea.Cmd // nil if the key is handled elsewhere and only listed
	Hidden bool           // the key works, but is not listed
	// Unavailable is the reason why the command can't be run now; empty if it can. If the
	// key is pressed anyway, a toast shows Name and the reason.
	Unavailable, Name string
}

// HelpOnly lists keys that are handled elsewhere.
func HelpOnly(keys ...key.Binding) []Command {
	out := make([]Command, 0, len(keys))
	for _, k := range keys {
		out = append(out, Command{Key: k})
	}
	return out
}

// Bindings returns the bindings of commands, for the footer and the help.
func Bindings(commands []Command) []key.Binding {
	var out []key.Binding
	for _, c := range commands {
		if !c.Hidden {
			out = append(out, Disabled(c.Key, c.Unavailable))
		}
	}
	return out
}

// HandleKey runs the command that a key is bound to; handled is false if there is none.
func HandleKey(msg tea.KeyPressMsg, commands []Command) (cmd tea.Cmd, handled bool) {
	for _, c := range commands {
		switch {
		case c.Do == nil || !key.Matches(msg, c.Key):
		case c.Unavailable != "":
			return Send(Toast{Text: c.Name + ": " + c.Unavailable, Role: Warn}), true
		default:
			return c.Do(), true
		}
	}
	return nil, false
}

// NoCmd adapts a function that returns no command to [Command].Do.
func NoCmd(change func()) func() tea.Cmd {
	return func() tea.Cmd {
		change()
		return nil
	}
}
