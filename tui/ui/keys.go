package ui

import "charm.land/bubbles/v2/key"

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
