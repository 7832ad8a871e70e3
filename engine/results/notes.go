package results

import "strings"

// warnOfNotes adds a warning for each note of the client on successful requests: responses without
// a finish reason, with contradicting token counts and the like. Not every client writes notes.
func (b *phaseBuilder) warnOfNotes() {
	if b.stats == nil {
		return
	}
	notes, _ := b.stats.values["notes"].(map[string]any)
	for _, key := range sortedKeys(notes) {
		n, share := b.stats.count("notes", key, "requests"), b.stats.number("notes", key, "share")
		if n <= 0 || !(share >= 0 && share <= 1) {
			continue
		}
		b.warn("the client reports %.40q in %s successful request(s) (%s %%)",
			strings.ReplaceAll(key, "_", " "), Count(n), Decimal(100*share, 1))
	}
}
