package port

// rect is a part of the body in cells.
type rect struct{ x, y, w, h int }

// reviewLayout has the parts of the body during the review. Each has a title line above it.
type reviewLayout struct {
	wide      bool // three columns; otherwise one above the other
	artifacts rect // no width: hidden
	file      rect
	origin    rect // of the selected line
	questions rect
}

const wideWidth = 110

// arrangeReview divides a body of w × h cells. A narrow body hides the artifacts and has
// the origin below the file. A low one drops lines of the questions, then of the origin.
// need is the number of lines that the questions need.
func arrangeReview(w, h, need int) reviewLayout {
	w, h = max(w, 0), max(h, 0)
	var b reviewLayout
	b.wide = w >= wideWidth
	questions := max(min(h/4, 12), 2, min(need, h-7))
	if b.wide {
		y := 3 // facts, rule, titles
		body := max(h-y-1-questions, 0)
		side, origin := 26, max(w*3/10, 36)
		if w >= 180 {
			side = 32
		}
		b.artifacts = rect{0, y, side, body}
		b.file = rect{side + 3, y, max(w-side-origin-6, 0), body}
		b.origin = rect{w - origin, y, origin, body}
		b.questions = rect{0, y + body + 1, w, max(min(questions, h-y-body-1), 0)}
		return b
	}
	origin := max(min(h/4, 6, h-8-questions), 2)
	file := max(h-4-origin-questions, 0)
	b.file = rect{0, 2, w, file}
	b.origin = rect{0, 3 + file, w, max(min(origin, h-3-file), 0)}
	b.questions = rect{0, 4 + file + origin, w, max(min(questions, h-4-file-origin), 0)}
	return b
}
