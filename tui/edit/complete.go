package edit

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// completion is the list of keys or values that are valid at the cursor.
type completion struct {
	items     []candidate
	cursor    int
	prefixLen int  // bytes before the cursor that the choice replaces
	explicit  bool // the user opened the list or moved in it: enter accepts, too, not only tab
}

type candidate struct {
	text string // the inserted text
	name string
	note string
}

// visibleCandidates is the maximum number of visible candidates.
const visibleCandidates = 8

// findCandidates returns the keys or values that are valid at a position, and the number of
// bytes already typed. It looks only at indentation. With all it also returns a value that is
// already typed in full.
func findCandidates(t *schema.Table, lines []string, at ui.Pos, all bool) (items []candidate, typed int) {
	line := strings.TrimSuffix(lines[at.Line], "\r")
	before := line[:min(at.Col, len(line))]
	if rest := line[len(before):]; strings.TrimSpace(rest) != "" && rest[0] != ' ' {
		return nil, 0 // in the middle of a word
	}
	word := strings.TrimLeft(before, " ")
	switch {
	case strings.HasPrefix(word, "#"), strings.HasPrefix(word, "- "):
		return nil, 0
	case strings.Contains(word, ":"):
		return valueCandidates(t, lines, at.Line, word, all)
	}
	indent := len(before) - len(word)
	path := parentPath(lines, at.Line, indent)
	n, depth := lookup(t, path)
	if depth < len(path) || len(n.Children) == 0 || len(path) == 0 && indent > 0 {
		return nil, 0
	}
	have := siblingKeys(lines, at.Line, indent)
	for _, k := range n.Keys() {
		if !strings.HasPrefix(strings.ToLower(k), strings.ToLower(word)) || slices.Contains(have, k) {
			continue
		}
		c := candidate{text: k + ":", name: k, note: "mapping"}
		if f := n.Children[k].Field; f != nil {
			c.text, c.note = k+": ", string(f.Kind)+" · "+f.Doc
		}
		items = append(items, c)
	}
	return items, len(word)
}

// valueCandidates returns the values that are valid for the key on a line.
func valueCandidates(t *schema.Table, lines []string, row int, word string, all bool) ([]candidate, int) {
	_, rest, _ := strings.Cut(word, ":")
	typed := strings.TrimLeft(rest, " ")
	if rest == "" || strings.ContainsAny(typed, "#\"'[{") {
		return nil, 0
	}
	path := pathAt(lines, row)
	n, depth := lookup(t, path)
	if depth < len(path) || n.Field == nil {
		return nil, 0
	}
	f := n.Field
	words := slices.Clone(f.Enum)
	if f.Kind == schema.Bool || f.Kind == schema.BoolOrStr {
		words = append(words, "true", "false")
	}
	if f.Nullable {
		words = append(words, "null")
	}
	if f.Default != "" && !slices.Contains(words, f.Default) {
		words = append(words, f.Default)
	}
	var items []candidate
	for _, w := range words {
		if strings.HasPrefix(w, typed) && (w != typed || all) {
			c := candidate{text: w, name: w}
			if w == f.Default {
				c.note = "default"
			}
			items = append(items, c)
		}
	}
	return items, len(typed)
}

// parentPath returns the path of the mapping that contains a line with this indentation; nil
// at the top level.
func parentPath(lines []string, row, indent int) []string {
	for i := row - 1; i >= 0; i-- {
		if _, n, ok := trimIndent(lines[i]); ok && n < indent {
			return pathAt(lines, i)
		}
	}
	return nil
}

// siblingKeys returns the keys of the mapping that a line belongs to.
func siblingKeys(lines []string, row, indent int) (keys []string) {
	for _, step := range []int{-1, 1} {
		for i := row + step; i >= 0 && i < len(lines); i += step {
			trimmed, n, ok := trimIndent(lines[i])
			if !ok {
				continue
			}
			if n < indent {
				break
			}
			if k, _, ok := strings.Cut(trimmed, ":"); ok && n == indent {
				keys = append(keys, strings.Trim(k, `"'`))
			}
		}
	}
	return keys
}

// newCompletion returns the completions at the cursor of a text, or nil. With requested, the
// user asked for them; explicit is that of the list that was open before. In a list that
// opened by itself enter does not accept, so that it still starts a new line.
func newCompletion(t *schema.Table, text *ui.Editor, requested, explicit bool) *completion {
	items, typed := findCandidates(t, text.Lines(), text.Cursor(), requested)
	explicit = explicit || requested
	if len(items) == 0 || !explicit && typed == 0 {
		return nil
	}
	return &completion{items: items, prefixLen: typed, explicit: explicit}
}

// Key handles a key while the list is open, and inserts the choice. Open is false once
// the list is closed; handled is false if the key is for the text.
func (c *completion) Key(msg tea.KeyPressMsg, text *ui.Editor) (open, handled bool) {
	switch msg.String() {
	case "tab":
	case "enter":
		if !c.explicit {
			return false, false
		}
	case "down", "up":
		by := 1
		if msg.String() == "up" {
			by = len(c.items) - 1
		}
		if c.explicit { // otherwise this key selects the first one
			c.cursor = (c.cursor + by) % len(c.items)
		}
		c.explicit = true
		return true, true
	case "esc":
		return false, true
	default:
		return true, false
	}
	at := text.Cursor()
	text.Replace(ui.Pos{Line: at.Line, Col: at.Col - c.prefixLen}, at, c.items[c.cursor].text)
	return false, true
}

// View draws the list for a body of w cells.
func (c *completion) View(th ui.Theme, w int) string {
	rows := min(len(c.items), visibleCandidates)
	top := max(min(c.cursor-rows/2, len(c.items)-rows), 0)
	nameWidth, noteWidth := 0, 0
	for _, it := range c.items {
		nameWidth, noteWidth = max(nameWidth, ui.Width(it.name)), max(noteWidth, ui.Width(it.note))
	}
	nameWidth, noteWidth = min(nameWidth, 40), min(noteWidth, max(min(w-50, 44), 0))
	lines := make([]string, 0, rows+1)
	for i := top; i < top+rows; i++ {
		name := ui.Fit(c.items[i].name, nameWidth)
		if i == c.cursor {
			name = th.Selected.Render(name)
		}
		lines = append(lines, name+"  "+th.Paint(ui.Muted, ui.Fit(c.items[i].note, noteWidth)))
	}
	hint := "tab accepts"
	if c.explicit {
		hint = "tab or enter"
	}
	if n := len(c.items) - rows; n > 0 {
		hint += fmt.Sprintf(" · %d more", n)
	}
	lines = append(lines, th.Paint(ui.Muted, ui.Fit(hint, nameWidth+2+noteWidth)))
	return th.Framed(strings.Join(lines, "\n"))
}
