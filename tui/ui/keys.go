package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Bind makes a binding of keys, shown in help as so named.
func Bind(help, desc string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, desc))
}

// Disabled is a binding that keeps its place and says why it does nothing; without
// a reason it is as it was.
func Disabled(b key.Binding, why string) key.Binding {
	if why == "" {
		return b
	}
	b.SetHelp(b.Help().Key, b.Help().Desc+" ("+why+")")
	b.SetEnabled(false)
	return b
}

// Command is a key of a screen as things are now: how it is listed, and what it does.
type Command struct {
	Key    key.Binding
	Do     func() tea.Cmd // nil if the key is handled elsewhere and only listed
	Hidden bool           // it works, but is not listed
	// Why it can't be done now; empty: it can. Pressed all the same it says so, under its name.
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

// Bindings are the keys of commands, for the footer and the help.
func Bindings(commands []Command) []key.Binding {
	var out []key.Binding
	for _, c := range commands {
		if !c.Hidden {
			out = append(out, Disabled(c.Key, c.Unavailable))
		}
	}
	return out
}

// HandleKey runs the command that a key is bound to; taken is false if there is none.
func HandleKey(msg tea.KeyPressMsg, commands []Command) (cmd tea.Cmd, taken bool) {
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
