package ui

import "strings"

// eighths fill a cell from the left.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Bar is a progress bar of w cells, filled by a fraction from 0 to 1. It moves by
// an eighth of a cell; bubbles' progress by a whole one.
func (t Theme) Bar(w int, fraction float64, r Role) string {
	if w <= 0 {
		return ""
	}
	fraction = min(max(fraction, 0), 1)
	parts := int(fraction*float64(w*8) + 0.5)
	full := strings.Repeat("█", parts/8) + eighths[parts%8]
	return t.Paint(r, full) + t.Rule.Render(strings.Repeat("░", w-Width(full)))
}
