package ui

// StateLook is the mark, one cell wide, and the role of a run's state as the
// events name it. All screens show a state alike, and never by its colour alone.
func StateLook(state string) (mark string, role Role) {
	switch state {
	case "done":
		return "✓", OK
	case "failed", "timeout":
		return "✗", Bad
	case "cancelled":
		return "⊘", Muted
	case "pending":
		return "◌", Muted
	case "unknown", "":
		return "?", Warn
	}
	return "●", Accent
}
