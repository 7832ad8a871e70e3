package edit

// rect is a rectangle of the body in cells.
type rect struct{ x, y, w, h int }

// boxes are the parts of the body.
type boxes struct {
	bar        rect    // the timeout rule: two lines
	tabs       rect    // names of the texts
	text       [2]rect // equal if only one text is visible
	desc       rect    // description of the field; height 0 if it is left out
	list       rect    // problems
	all        rect
	sideBySide bool // both texts are in view
}

// Widths at which the arrangement changes.
const (
	sideBySideFrom = 140 // both texts side by side
	descFrom       = 100 // the description of the field beside the text or the list
	descWidth      = 40
)

// layout arranges the body. Both texts are in view from 140 columns. In a narrow
// terminal the description of the field is one line; in a low one it is left out first,
// then the list shrinks to a line. The rule and five lines of text are always in view.
func layout(w, h int, two bool) boxes {
	w, h = max(w, 0), max(h, 0)
	b := boxes{all: rect{0, 0, w, h}, bar: rect{0, 0, w, min(2, h)}}
	b.sideBySide = two && w >= sideBySideFrom
	y := b.bar.h + 1 // below the horizontal rule
	b.tabs = rect{0, y, w, 1}
	y++
	listH := min(max(h/5, 2), 12)
	if h < 12 {
		listH = 1
	}
	docLine := 0
	if w < descFrom && h >= 16 {
		docLine = 1
	}
	textH := max(h-y-1-listH-docLine, 0)
	switch {
	case b.sideBySide:
		left := (w - 3) / 2
		b.text[recipe] = rect{0, y, left, textH}
		b.text[workload] = rect{left + 3, y, w - 3 - left, textH}
	case w >= descFrom:
		b.text[recipe] = rect{0, y, w - descWidth - 3, textH}
		b.text[workload] = b.text[recipe]
		b.desc = rect{w - descWidth, y, descWidth, textH}
	default:
		b.text[recipe] = rect{0, y, w, textH}
		b.text[workload] = b.text[recipe]
	}
	y += textH + 1
	b.list = rect{0, y + docLine, w, max(min(listH, h-y-docLine), 0)}
	switch {
	case b.sideBySide:
		b.list.w = (w - 3) / 2
		b.desc = rect{b.list.w + 3, y, w - 3 - b.list.w, b.list.h}
	case docLine > 0:
		b.desc = rect{0, y, w, 1}
	}
	return b
}
