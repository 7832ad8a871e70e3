package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func pressKeys(e *Editor, keys ...tea.KeyPressMsg) {
	for _, k := range keys {
		e.Key(k)
	}
}

func typeText(s string) (keys []tea.KeyPressMsg) {
	for _, r := range s {
		keys = append(keys, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return keys
}

func keyCode(c rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: c} }

func ctrl(c rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: c, Mod: tea.ModCtrl} }

func TestEditorKeepsUneditedBytes(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"empty": "", "no last line end": "a: 1", "crlf": "a: 1\r\nb: 2\r\n", "mixed": "a\r\nb\nc\r", "tabs": "\ta:\t1\n",
		"not utf-8": "a: \xff\xfe\n", "escapes": "a: \x1b[31mred\x07\n", "blank ends": "\n\n\n", "nul": "a\x00b\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e Editor
			e.SetText(s)
			e.SetSize(20, 3)
			if got := e.Text(); got != s {
				t.Fatalf("%q became %q", s, got)
			}
			for _, k := range []rune{tea.KeyDown, tea.KeyEnd, tea.KeyHome, tea.KeyPgDown, tea.KeyUp} {
				pressKeys(&e, keyCode(k))
			}
			pressKeys(&e, typeText("x")...)
			pressKeys(&e, keyCode(tea.KeyBackspace))
			if got := e.Text(); got != s {
				t.Errorf("typed and deleted a character: %q became %q", s, got)
			}
		})
	}
}

func TestEditorKeys(t *testing.T) {
	t.Parallel()
	enter, back, del := keyCode(tea.KeyEnter), keyCode(tea.KeyBackspace), keyCode(tea.KeyDelete)
	for _, c := range []struct {
		name, from, want string
		at               Pos
		keys             []tea.KeyPressMsg
	}{
		{"type", "ab", "aXb", Pos{0, 1}, typeText("X")},
		{"new line keeps the indentation", "  a: 1", "  a: 1\n  ", Pos{0, 6}, []tea.KeyPressMsg{enter}},
		{"new line inside the indentation", "  a", " \n  a", Pos{0, 1}, []tea.KeyPressMsg{enter}},
		{"new line keeps the kind of line end", "a\r\nb", "a\r\n\r\nb", Pos{0, 1}, []tea.KeyPressMsg{enter}},
		{"join lines", "a\nb", "ab", Pos{1, 0}, []tea.KeyPressMsg{back}},
		{"join lines with a carriage return", "a\r\nb", "ab", Pos{1, 0}, []tea.KeyPressMsg{back}},
		{"delete at the end of a line", "a\nb", "ab", Pos{0, 1}, []tea.KeyPressMsg{del}},
		{"delete a character of several bytes", "aé\u0301b", "ab", Pos{0, 5}, []tea.KeyPressMsg{back}},
		{"delete an invalid byte", "a\xffb", "ab", Pos{0, 2}, []tea.KeyPressMsg{back}},
		{"backspace at the top", "a", "a", Pos{0, 0}, []tea.KeyPressMsg{back}},
		{"delete at the bottom", "a", "a", Pos{0, 1}, []tea.KeyPressMsg{del}},
		{"delete to the end of the line", "abc\nd", "a\nd", Pos{0, 1}, []tea.KeyPressMsg{ctrl('k')}},
		{"delete the line end", "a\nd", "ad", Pos{0, 1}, []tea.KeyPressMsg{ctrl('k')}},
		{"indent", "a", "  a", Pos{0, 0}, []tea.KeyPressMsg{keyCode(tea.KeyTab)}},
		{"indent to an even column", " a", "  a", Pos{0, 1}, []tea.KeyPressMsg{keyCode(tea.KeyTab)}},
		{"outdent", "    a", "  a", Pos{0, 5}, []tea.KeyPressMsg{{Code: tea.KeyTab, Mod: tea.ModShift}}},
		{"undo a word", "a ", "a ", Pos{0, 2}, append(typeText("word"), ctrl('z'))},
		{"undo removes one word", "", "one", Pos{0, 0}, append(typeText("one two"), ctrl('z'))},
		{"redo", "", "one two", Pos{0, 0}, append(typeText("one two"), ctrl('z'), ctrl('y'))},
		{
			"an edit clears the redo history", "", "x",
			Pos{0, 0},
			append(append(typeText("one"), ctrl('z')), append(typeText("x"), ctrl('y'))...),
		},
		{"undo with nothing to undo", "a", "a", Pos{0, 0}, []tea.KeyPressMsg{ctrl('z')}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var e Editor
			e.SetText(c.from)
			e.SetSize(30, 5)
			e.MoveTo(c.at)
			pressKeys(&e, c.keys...)
			if got := e.Text(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestEditorUpAndDownKeepTheColumn(t *testing.T) {
	t.Parallel()
	var e Editor
	e.SetText("abcdef\na\nabcdef")
	e.SetSize(30, 5)
	e.MoveTo(Pos{0, 4})
	pressKeys(&e, keyCode(tea.KeyDown))
	if got := e.Cursor(); got != (Pos{1, 1}) {
		t.Errorf("cursor on the short line: %v", got)
	}
	pressKeys(&e, keyCode(tea.KeyDown))
	if got := e.Cursor(); got != (Pos{2, 4}) {
		t.Errorf("cursor below the short line: %v", got)
	}
}

func TestEditorFillsItsSize(t *testing.T) {
	t.Parallel()
	th := NewTheme(true)
	var e Editor
	e.SetText("short\n" + strings.Repeat("wide 世界 ", 50) + "\n\t\x1b[31m\x00\xff\u202e\n")
	e.SetMarks(map[int]Role{1: Bad})
	for _, s := range [][2]int{{0, 0}, {1, 1}, {7, 3}, {40, 10}} {
		e.SetSize(s[0], s[1])
		for range 100 {
			pressKeys(&e, keyCode(tea.KeyRight))
		}
		got := e.Draw(th, true)
		if s[0] == 0 {
			continue
		}
		lines := strings.Split(got, "\n")
		if len(lines) != s[1] {
			t.Errorf("%v: %d lines", s, len(lines))
		}
		for _, l := range lines {
			if Width(l) != s[0] {
				t.Errorf("%v: a line is %d wide: %q", s, Width(l), l)
			}
		}
		if strings.Contains(got, "\x1b[31m\x00") || strings.ContainsAny(got, "\x00\u202e\t") {
			t.Errorf("%v: control characters reach the terminal: %q", s, got)
		}
	}
}

func TestEditorClickAndScroll(t *testing.T) {
	t.Parallel()
	var e Editor
	e.SetText(strings.Repeat("line\n", 100))
	e.SetSize(30, 10)
	e.Scroll(50)
	e.Click(e.gutterWidth()+2, 3)
	if got := e.Cursor(); got != (Pos{53, 2}) {
		t.Errorf("scrolled to line 50, a click in the fourth line moved the cursor to %v", got)
	}
	e.Scroll(-1000)
	if got := e.Cursor(); got.Line != 9 {
		t.Errorf("scrolled to the top, cursor %v", got)
	}
}

// Undoing all edits restores the text, and redoing them the edited text.
func FuzzEditorUndo(f *testing.F) {
	f.Add("a: 1\r\n\tb: \xff\n", []byte("\x00\x01xyz\x02\x03\x04\x05\x06\x07\x08\x09"))
	f.Add("", []byte("hello\x00world\x01\x01\x02"))
	f.Fuzz(func(t *testing.T, s string, ops []byte) {
		keys := []tea.KeyPressMsg{
			keyCode(tea.KeyEnter), keyCode(tea.KeyBackspace), keyCode(tea.KeyDelete),
			keyCode(tea.KeyLeft), keyCode(tea.KeyUp), keyCode(tea.KeyDown),
			ctrl('k'), keyCode(tea.KeyTab), keyCode(tea.KeyEnd), keyCode(tea.KeyHome), keyCode(tea.KeyPgDown),
			{Code: tea.KeyTab, Mod: tea.ModShift},
		}
		var e Editor
		e.SetText(s)
		e.SetSize(20, 4)
		for _, op := range ops[:min(len(ops), maxUndo)] {
			if int(op) < len(keys) {
				e.Key(keys[op])
			} else {
				e.Key(tea.KeyPressMsg{Code: rune(op), Text: string(rune(op))})
			}
			e.Draw(NewTheme(true), true)
		}
		edited := e.Text()
		for len(e.undoStack) > 0 {
			e.Key(ctrl('z'))
		}
		if got := e.Text(); got != s {
			t.Errorf("undo gave %q, want %q", got, s)
		}
		for len(e.redoStack) > 0 {
			e.Key(ctrl('y'))
		}
		if got := e.Text(); got != edited {
			t.Errorf("redo gave %q, want %q", got, edited)
		}
	})
}

func TestInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, from, want string
		keys             []tea.KeyPressMsg
	}{
		{"type at the end", "ab", "abc", typeText("c")},
		{"type in the middle", "ab", "aXb", append([]tea.KeyPressMsg{keyCode(tea.KeyLeft)}, typeText("X")...)},
		{"delete a character of several bytes", "aé\u0301", "a", []tea.KeyPressMsg{keyCode(tea.KeyBackspace)}},
		{
			"nothing to delete", "", "",
			[]tea.KeyPressMsg{keyCode(tea.KeyBackspace), keyCode(tea.KeyDelete), keyCode(tea.KeyLeft), keyCode(tea.KeyRight)},
		},
		{"delete the last part of a path", "/a/b/c", "/a/b/", []tea.KeyPressMsg{ctrl('w')}},
		{"delete the last directory of a path", "/a/b/", "/a/", []tea.KeyPressMsg{ctrl('w')}},
		{"delete to the start", "/a/b/", "", []tea.KeyPressMsg{ctrl('u')}},
		{"home and delete", "abc", "bc", []tea.KeyPressMsg{keyCode(tea.KeyHome), keyCode(tea.KeyDelete)}},
		{"delete to the end", "abc", "a", []tea.KeyPressMsg{keyCode(tea.KeyHome), keyCode(tea.KeyRight), ctrl('k')}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var i Input
			i.SetValue(c.from)
			for _, k := range c.keys {
				i.Key(k)
			}
			if i.Value() != c.want {
				t.Errorf("got %q, want %q", i.Value(), c.want)
			}
			for w := range 12 {
				if got := Width(i.Draw(NewTheme(true), w, true)); got != w {
					t.Errorf("%d cells wide, want %d", got, w)
				}
			}
		})
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{
		{"one two three", 7, "one two|three"},
		{"/a/long/path/without/spaces", 10, "/a/long/pa|th/without|/spaces"},
		{"a\tb\x1b[31m", 10, "a b"},
		{"世界世界", 3, "世|界|世|界"},
		{"", 5, ""},
		{"x", 0, ""},
	} {
		if got := strings.Join(Wrap(c.in, c.w), "|"); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	letters := map[kind]string{plain: ".", keyword: "k", literal: "n", quoted: "q", mark: "m", comment: "c"}
	for line, want := range map[string]string{
		"name: dsv4-5p1d # why":  "kkkkm...........ccccc",
		"  nodes: 5":             "..kkkkkm.n",
		`- "a:b": 1.5e3`:         "mmkkkkkm.nnnnn",
		"env: {A: '1', b: true}": "kkkm.mkm.qqqm.km.nnnnm",
		"x: &a *b !c":            "km.mm.mm.mm",
		"url: http://h:1/":       "kkkm............",
		"":                       "",
		"# all":                  "ccccc",
	} {
		got, at := "", 0
		for _, s := range spans(line) {
			got += strings.Repeat(letters[s.kind], s.to-at)
			at = s.to
		}
		if got != want || at != len(line) {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

func FuzzSpans(f *testing.F) {
	f.Add("- key: [\"a\", 'b', 1] # c")
	f.Fuzz(func(t *testing.T, line string) {
		at := 0
		for i, s := range spans(line) {
			if s.to < at || s.to == at && i > 0 {
				t.Fatalf("%q: %v", line, spans(line))
			}
			at = s.to
		}
		if at != len(line) {
			t.Fatalf("%q: spans end at %d of %d", line, at, len(line))
		}
	})
}
