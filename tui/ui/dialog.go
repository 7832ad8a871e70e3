package ui

import "strings"

// Dialog is an open dialog. It ignores keys until AcceptsKeys is set, so that a key
// pressed before the dialog was visible does not answer it.
type Dialog struct {
	Ask
	AcceptsKeys bool
	YesSelected bool // whether the cursor is on the Yes button
}

// Draw draws the dialog as a box of at most w × h cells. A body that does not fit is
// cut and ends with an ellipsis; the buttons are always visible.
func (d Dialog) Draw(t Theme, w, h int) string {
	inner := min(max(w-8, 20), 72)
	title := WrapAtMost(d.Title, inner, 2)
	buttons := d.buttons(t, inner)
	const frame, blank, keys = 2, 2, 1
	body := WrapAtMost(d.Body, inner, max(h-frame-blank-keys-len(title)-len(buttons), 0))
	lines := make([]string, 0, h)
	for _, l := range title {
		lines = append(lines, t.Title.Render(l))
	}
	lines = append(append(append(lines, ""), body...), "")
	lines = append(append(lines, buttons...), d.keyHint(t))
	return t.bordered(strings.Join(lines, "\n"), d.role(), 2)
}

func (d Dialog) role() Role {
	if d.Danger {
		return Bad
	}
	return Accent
}

// buttons returns the two buttons, one below the other if they do not fit in a line.
func (d Dialog) buttons(t Theme, w int) []string {
	button := func(text string, on bool, r Role) string {
		text = Clean(text)
		text = Fit(text, min(Width(text), w-3)) + " "
		if on {
			return t.Style(r).Reverse(true).Render("▸ " + text)
		}
		return t.Paint(Muted, "  "+text)
	}
	no, yes := button(d.No, !d.YesSelected, Accent), button(d.Ask.Yes, d.YesSelected, d.role())
	if line := no + "  " + yes; Width(line) <= w {
		return []string{line}
	}
	return []string{no, yes}
}

// keyHint returns the keys of the dialog, once it accepts keys.
func (d Dialog) keyHint(t Theme) string {
	if !d.AcceptsKeys {
		return ""
	}
	return t.Paint(Muted, " ← → choose · enter confirm · y / n")
}
