package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Theme holds the styles of roles, text and charts. Plain text has the terminal's own
// colors.
type Theme struct {
	styles [6]lipgloss.Style
	// Selected is the style of the row or field under the cursor, Title of headings, Rule of
	// lines and disabled keys.
	Selected, Title, Rule lipgloss.Style
	// syntax holds the styles of YAML syntax, match the style of search matches.
	syntax      [numKinds]lipgloss.Style
	match       lipgloss.Style
	syntaxCodes map[syntaxStyle][2]string
	roleCodes   [6][2]string // escape codes before and after a text
	// CurveStyles are the styles of the curves of a chart, in order.
	CurveStyles []lipgloss.Style
}

// NewTheme returns the theme for a dark or a light terminal.
func NewTheme(dark bool) Theme {
	pick := lipgloss.LightDark(dark)
	color := func(light, dark string) lipgloss.Style {
		return lipgloss.NewStyle().Foreground(pick(lipgloss.Color(light), lipgloss.Color(dark)))
	}
	t := Theme{}
	t.styles = [6]lipgloss.Style{
		Plain: lipgloss.NewStyle(), Muted: color("#6b7280", "#7d8590"), Accent: color("#0550ae", "#6cb6ff"),
		OK: color("#1a7f37", "#57ab5a"), Warn: color("#9a6700", "#d4a72c"), Bad: color("#cf222e", "#f47067"),
	}
	t.Selected = lipgloss.NewStyle().Bold(true).Background(pick(lipgloss.Color("#dbe9f9"), lipgloss.Color("#243447")))
	for r := range t.styles {
		t.roleCodes[r] = escapeCodes(t.styles[r])
	}
	t.Title = t.styles[Accent].Bold(true)
	t.Rule = color("#c8ccd1", "#3b424a")
	t.CurveStyles = []lipgloss.Style{t.styles[Accent], t.styles[Warn], t.styles[OK]}
	t.syntax = [numKinds]lipgloss.Style{
		keyword: color("#116b75", "#7cb7bb"), literal: color("#7a3e9d", "#b9a0d4"), quoted: color("#4d6b3c", "#a5b598"),
		mark: t.styles[Muted], comment: t.styles[Muted],
	}
	t.match = lipgloss.NewStyle().Background(pick(lipgloss.Color("#f2e3a8"), lipgloss.Color("#5a4a1c")))
	t.syntaxCodes = make(map[syntaxStyle][2]string)
	for k := range numKinds {
		for _, highlighted := range []bool{false, true} {
			s := t.syntax[k]
			if highlighted {
				s = s.Background(t.match.GetBackground())
			}
			t.syntaxCodes[syntaxStyle{k, highlighted}] = escapeCodes(s)
		}
	}
	return t
}

// syntaxStyle is the style of a part of a line of YAML.
type syntaxStyle struct {
	kind        kind
	highlighted bool // matches the search
}

// escapeCodes returns the escape codes of a style, before and after a text. Calling Render
// for each part would take most of the time needed to handle a key.
func escapeCodes(s lipgloss.Style) [2]string {
	before, after, _ := strings.Cut(s.Render("x"), "x")
	return [2]string{before, after}
}

// paintSyntax draws a clean text in a style.
func (t Theme) paintSyntax(l syntaxStyle, s string) string {
	e := t.syntaxCodes[l]
	return e[0] + s + e[1]
}

// Style returns the style of a role.
func (t Theme) Style(r Role) lipgloss.Style { return t.styles[r] }

// Paint draws a text in a role.
func (t Theme) Paint(r Role, s string) string {
	if r == Plain || s == "" {
		return s
	}
	if strings.Contains(s, "\n") {
		return t.styles[r].Render(s)
	}
	return t.roleCodes[r][0] + s + t.roleCodes[r][1]
}

// StateText returns a run's state as screens show it.
func StateText(state string) string {
	switch state {
	case "post":
		return "finishing"
	case "":
		return "unknown"
	}
	return state
}

// StateMark returns the mark, one cell wide, and the role of a run's state. Screens always
// show the mark, so that a state is not shown by color alone.
func StateMark(state string) (mark string, role Role) {
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
