package ui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
)

// Rows that the workbench uses above and below a screen.
const (
	HeaderRows = 2
	FooterRows = 2
)

// MinWidth and MinHeight are the size in cells of the smallest supported terminal.
const (
	MinWidth  = 60
	MinHeight = 16
)

// Header returns the title line and its rule: breadcrumbs left, state and age right.
// In a narrow terminal the age is left out first, then the first breadcrumbs.
func (t Theme) Header(crumbs []string, st State, w int) string {
	right := t.Paint(st.Role, Clean(st.Text))
	if st.Age != "" {
		if full := right + t.Paint(Muted, "  "+Clean(st.Age)); Width(full)+12 < w {
			right = full
		}
	}
	room := w - Width(right) - 2
	for len(crumbs) > 1 && Width("agentperf  "+strings.Join(crumbs, " › ")) > room {
		crumbs = crumbs[1:]
	}
	left := t.Title.Render(" agentperf") + "  "
	for i, c := range crumbs {
		if i > 0 {
			left += t.Paint(Muted, " › ")
		}
		if i == len(crumbs)-1 {
			left += Clean(c)
		} else {
			left += t.Paint(Muted, Clean(c))
		}
	}
	return LeftRight(left, right+" ", w) + "\n" + t.RuleLine(w)
}

// RuleLine returns a horizontal rule of w cells.
func (t Theme) RuleLine(w int) string { return t.Rule.Render(strings.Repeat("─", max(w, 0))) }

// Footer returns a rule and as many key hints as fit. The last one is always the help key.
func (t Theme) Footer(keys []key.Binding, helpKey string, w int) string {
	return t.RuleLine(w) + "\n" + t.keyLine(keys, helpKey, w)
}

// keyLine returns the key hints. It replaces the help of bubbles (v2.2.1), which hides disabled
// bindings instead of showing the reason, and draws one item too many if there is no room
// for its ellipsis.
func (t Theme) keyLine(keys []key.Binding, helpKey string, w int) string {
	help := t.Paint(Accent, helpKey) + t.Paint(Muted, " help")
	line, room := " ", w-Width("  · "+help+" ")
	for _, k := range keys {
		h := k.Help()
		if h.Key == "" {
			continue
		}
		part := t.Paint(Accent, h.Key) + t.Paint(Muted, " "+h.Desc)
		if !k.Enabled() {
			part = t.Rule.Render(h.Key + " " + h.Desc)
		}
		if line != " " {
			part = t.Rule.Render(" · ") + part
		}
		if room -= Width(part); room < 0 {
			break
		}
		line += part
	}
	if line != " " {
		line += t.Rule.Render(" · ")
	}
	return Fit(line+help, w)
}

// Help lists all bindings of a screen, in as many columns as needed. The last group, the
// keys that leave the screen, is drawn first, so that it is always visible. If bindings do
// not fit, the last line says how many. The full help of bubbles has one column per group
// and cuts off long groups silently.
func (t Theme) Help(title string, groups [][]key.Binding, w, h int) string {
	const head, minColumn = 3, 26
	keyWidth := 1
	for _, g := range groups {
		for _, k := range g {
			keyWidth = min(max(keyWidth, Width(Clean(k.Help().Key))), 12)
		}
	}
	var items []string
	for _, g := range slices.Backward(groups) {
		if len(items) > 0 {
			items = append(items, "")
		}
		for _, k := range g {
			if help := k.Help(); help.Key != "" {
				items = append(items, t.Paint(Accent, Fit(Clean(help.Key), keyWidth))+" "+Clean(help.Desc))
			}
		}
	}
	rows := max(h-head, 1)
	cols := min(max((len(items)+rows-1)/rows, 1), max((w-2)/minColumn, 1))
	if room := rows * cols; len(items) > room {
		items = slices.DeleteFunc(items, func(s string) bool { return s == "" })
		if n := len(items) - room; n > 0 {
			items = append(items[:room-1], t.Paint(Warn, fmt.Sprintf("%d more: enlarge the window", n+1)))
		}
	}
	rows = max((len(items)+cols-1)/cols, 1)
	lines := []string{"", "  " + t.Title.Render(Clean(title)) + t.Paint(Muted, "   any key closes"), ""}
	for y := range rows {
		line := "  "
		for x := range cols {
			if i := x*rows + y; i < len(items) {
				line += Fit(items[i], max((w-2)/cols-1, 1)) + " "
			}
		}
		lines = append(lines, line)
	}
	return Box(strings.Join(lines, "\n"), w, h)
}
