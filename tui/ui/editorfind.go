package ui

import "strings"

// match is where in a line something was found, in bytes.
type match struct{ from, to int }

// Search lights a text wherever it stands; an empty one lights nothing. Without a
// capital letter in it letter case does not matter.
func (e *Editor) Search(what string) { e.find = what }

// Found moves the cursor to the next place of what is searched for, or the one
// before, from the cursor on and around the end; here counts the place under the
// cursor too. It says which of how many places that is, from 1; 0: there is none.
func (e *Editor) Found(forward, here bool) (nth, of int) {
	var places []Pos
	for y, l := range e.lines {
		for _, m := range e.found(body(l)) {
			places = append(places, Pos{y, m.from})
		}
	}
	if len(places) == 0 {
		return 0, 0
	}
	after := func(p Pos) bool {
		at := e.at
		return p.Line > at.Line || p.Line == at.Line && (p.Col > at.Col || here && p.Col == at.Col)
	}
	first := 0
	for first < len(places) && !after(places[first]) {
		first++
	}
	i := first % len(places)
	if !forward {
		if i = first - 1; i >= 0 && places[i] == e.at {
			i--
		}
		i = (i + len(places)) % len(places)
	}
	e.Go(places[i])
	e.Centre()
	return i + 1, len(places)
}

// found are the places of what is searched for in a line.
func (e *Editor) found(line string) []match {
	what := e.find
	if what == "" {
		return nil
	}
	if lower := strings.ToLower(line); strings.ToLower(what) == what && len(lower) == len(line) {
		line = lower
	}
	var out []match
	for at := 0; ; {
		i := strings.Index(line[at:], what)
		if i < 0 {
			return out
		}
		out = append(out, match{at + i, at + i + len(what)})
		at += i + len(what)
	}
}
