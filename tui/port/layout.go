package port

// rect is a part of the body in cells.
type rect struct{ x, y, w, h int }

// boxes are the parts of the body while a result is looked at. Titles take a line above each.
type boxes struct {
	wide      bool // three columns; otherwise one below the other
	artifacts rect // no width: left out
	file      rect
	origin    rect // of the line under the cursor
	todos     rect
}

const wideFrom = 110

// layout arranges a result. Narrow terminals lose the artifacts and have the
// origin below the file; low ones lose lines of the questions, then of the origin.
// need is how many lines the questions need now; up to half of the body is theirs.
func layout(w, h, need int) boxes {
	w, h = max(w, 0), max(h, 0)
	var b boxes
	b.wide = w >= wideFrom
	todos := max(min(h/4, 12), 2, min(need, h/2-2))
	if b.wide {
		y := 3 // facts, rule, titles
		body := max(h-y-1-todos, 0)
		side, origin := 26, max(w*3/10, 36)
		if w >= 180 {
			side = 32
		}
		b.artifacts = rect{0, y, side, body}
		b.file = rect{side + 3, y, max(w-side-origin-6, 0), body}
		b.origin = rect{w - origin, y, origin, body}
		b.todos = rect{0, y + body + 1, w, max(min(todos, h-y-body-1), 0)}
		return b
	}
	origin := max(min(h/4, 6, h-8-todos), 2)
	file := max(h-4-origin-todos, 0)
	b.file = rect{0, 2, w, file}
	b.origin = rect{0, 3 + file, w, max(min(origin, h-3-file), 0)}
	b.todos = rect{0, 4 + file + origin, w, max(min(todos, h-4-file-origin), 0)}
	return b
}
