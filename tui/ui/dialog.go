package ui

import "strings"

// Dialog is an open question. Keys count only once Armed: a question that opens
// by itself must not be answered by a key that was meant for something else.
type Dialog struct {
	Ask
	AcceptsKeys bool
	YesSelected bool // the choice under the cursor
}

// Draw draws the dialog as a box of at most w × h cells. The answers are always in
// it: what is cut where there is no room is the body, and an ellipsis says so.
func (d Dialog) Draw(t Theme, w, h int) string {
	inner := min(max(w-8, 20), 72)
	title := WrapAtMost(d.Title, inner, 2)
	answers := d.buttons(t, inner)
	const frame, blank, keys = 2, 2, 1
	body := WrapAtMost(d.Body, inner, max(h-frame-blank-keys-len(title)-len(answers), 0))
	lines := make([]string, 0, h)
	for _, l := range title {
		lines = append(lines, t.Title.Render(l))
	}
	lines = append(append(append(lines, ""), body...), "")
	lines = append(append(lines, answers...), d.keyHint(t))
	return t.bordered(strings.Join(lines, "\n"), d.role(), 2)
}

func (d Dialog) role() Role {
	if d.Danger {
		return Bad
	}
	return Accent
}

// answers are the two buttons, one below the other where a line is too short.
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

// keys says how to answer, once an answer is taken.
func (d Dialog) keyHint(t Theme) string {
	if !d.AcceptsKeys {
		return ""
	}
	return t.Paint(Muted, " ← → choose · enter · y / n")
}
