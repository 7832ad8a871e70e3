package edit

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// knobs are the fields that runs differ in, by their canonical names.
var knobs = [2][]string{
	recipe: {
		"benchmark.concurrency", "benchmark.concurrencies", "name", "model.path", "model.container", "model.precision",
		"resources.gpu_type", "resources.gpus_per_node",
		"resources.prefill_nodes", "resources.prefill_workers", "resources.gpus_per_prefill",
		"resources.decode_nodes", "resources.decode_workers", "resources.gpus_per_decode",
		"resources.agg_nodes", "resources.agg_workers", "resources.gpus_per_agg",
		"slurm.time_limit", "slurm.account", "slurm.partition", "health_check.max_attempts",
		"benchmark.agentperf_client_dir", "benchmark.agentperf_config",
	},
	workload: {
		"phase_timeout_seconds", "user_spawn_rate", "settling_time_seconds", "min_measurement_seconds", "min_total_trajectories", "min_trajectories_per_user",
		"trajectory_path", "user_assignments_path", "timeout_seconds", "max_workers", "max_tokens", "reasoning_effort", "seed",
	},
}

// entry is a field of the form.
type entry struct {
	side  int
	path  string // as the file spells it
	line  int    // in the file, from 0; -1: it is not there
	value string // as the file has it; empty: it is not there
	field schema.Field
}

// entries are the fields of the form, with their values. Of two spellings of one
// thing the given one is shown, and only the roles that the recipe has.
func entries(r *recipes.Recipe, w *recipes.Workload) []entry {
	var out []entry
	add := func(side int, t *schema.Table, leaves []recipes.Leaf, spell func(name string) string) {
		have := map[string]recipes.Leaf{}
		for _, l := range leaves {
			have[l.Canonical] = l
		}
		for _, name := range knobs[side] {
			f, ok := t.Field(name)
			l, given := have[name]
			if !ok || !given && (hidden(name, have) || spell(name) == "") {
				continue
			}
			e := entry{side: side, path: spell(name), line: -1, field: f}
			if given {
				e.path, e.line, e.value = l.Place.Path, l.Place.Line-1, l.Value
			}
			out = append(out, e)
		}
	}
	if r != nil {
		add(recipe, schema.Recipe(r.Schema), r.Leaves(), func(name string) string { return r.Place(name).Path })
	}
	if w != nil {
		add(workload, schema.Workload(), w.Leaves(), func(name string) string { return name })
	}
	return out
}

// hidden says whether a field that is not given is left out.
func hidden(name string, have map[string]recipes.Leaf) bool {
	switch name {
	case "benchmark.concurrency":
		return true
	case "benchmark.concurrencies":
		_, one := have["benchmark.concurrency"]
		return one
	}
	for _, role := range schema.WorkerRoles() {
		if strings.Contains(name, "."+string(role)+"_") || strings.HasSuffix(name, "_per_"+string(role)) {
			_, given := have[role.WorkersPath()]
			return !given
		}
	}
	return false
}

// form is the view of the fields that matter.
type form struct {
	on     bool
	rows   []entry
	at     int
	typing bool // the value of the field under the cursor
	input  ui.Input
	keys   int // grows with each, for what is asked about them
}

// pending is a value that is being typed in the form.
type pending struct {
	side        int
	table       *schema.Table
	path, value string
}

// pending is the change that would be made now.
func (s *Screen) pending() *pending {
	if !s.form.typing || s.form.at >= len(s.form.rows) {
		return nil
	}
	e := s.form.rows[s.form.at]
	return &pending{e.side, s.table(e.side), e.path, s.form.input.Value()}
}

// in is a draft with the value in it; one that can't be set changes nothing.
func (p *pending) in(d engine.Draft) engine.Draft {
	if p == nil {
		return d
	}
	text := &d.Recipe
	if p.side == workload {
		text = &d.Workload
	}
	if out, err := p.set(*text); err == nil {
		*text = out
	}
	return d
}

// set gives the field its value, in quotes where it would not be read as text else;
// an empty one takes it out of the file.
func (p *pending) set(text []byte) ([]byte, error) {
	if strings.TrimSpace(p.value) == "" {
		return edit.Unset(text, p.path)
	}
	return edit.Set(text, p.path, recipes.Literal(p.table, p.path, p.value))
}

func (s *Screen) toggleForm() {
	s.comp = nil
	if s.form.on = !s.form.on; !s.form.on {
		s.focus, s.form.typing = onText, false
		return
	}
	s.focus = onForm
	line := s.sides[s.active].text.Cursor().Line
	for i, e := range s.form.rows { // begin where the text's cursor is
		if e.side == s.active && e.line == line {
			s.form.at = i
		}
	}
	s.form.at = min(s.form.at, max(len(s.form.rows)-1, 0))
	s.follow()
}

func (s *Screen) formKey(msg tea.KeyPressMsg) tea.Cmd {
	f := &s.form
	if f.typing {
		return s.fieldKey(msg)
	}
	n := max(len(f.rows), 1)
	defer s.follow()
	switch msg.String() {
	case "left", "right":
		for i, e := range f.rows { // the first field of the other text
			if e.side != s.active {
				f.at = i
				break
			}
		}
	case "up", "k":
		f.at = (f.at + n - 1) % n
	case "down", "j", "tab":
		f.at = (f.at + 1) % n
	case "home", "g":
		f.at = 0
	case "end", "G":
		f.at = n - 1
	case "enter", "e":
		if f.at < len(f.rows) {
			f.typing = true
			f.input.SetValue(f.rows[f.at].value)
		}
	case "esc", "q":
		s.visitField()
		s.toggleForm()
	default:
		if msg.Text >= "0" && msg.Text <= "9" && f.at < len(f.rows) { // a new number
			f.typing = true
			f.input.SetValue(msg.Text)
			return s.typedField()
		}
	}
	return nil
}

// follow makes the text of the form's field the active one.
func (s *Screen) follow() {
	if s.form.on && s.form.at < len(s.form.rows) {
		s.active = s.form.rows[s.form.at].side
	}
}

// visitField puts the text's cursor on the field under the form's.
func (s *Screen) visitField() {
	if s.form.at >= len(s.form.rows) {
		return
	}
	e := s.form.rows[s.form.at]
	if s.active = e.side; e.line >= 0 {
		s.sides[e.side].text.Go(ui.Pos{Line: e.line})
		s.sides[e.side].text.Centre()
	}
}

// fieldKey handles a key while a value is typed: the rule and the findings follow.
func (s *Screen) fieldKey(msg tea.KeyPressMsg) tea.Cmd {
	f := &s.form
	switch msg.String() {
	case "enter":
		p := s.pending()
		f.typing = false
		if p.value == f.rows[f.at].value {
			return s.typedField()
		}
		return tea.Batch(s.typedField(), s.edited(p.side, func(text []byte) ([]byte, error) {
			out, err := p.set(text)
			if err != nil {
				return nil, fmt.Errorf("give %s the value %q: %w", p.path, p.value, err)
			}
			return out, nil
		}))
	case "esc":
		f.typing = false
	case "tab":
		words := append([]string{}, f.rows[f.at].field.Enum...)
		for i, w := range words {
			if w == f.input.Value() || i == len(words)-1 {
				f.input.SetValue(words[(i+1)%len(words)])
				break
			}
		}
	default:
		if !f.input.Key(msg) {
			return nil
		}
	}
	return s.typedField()
}

func (s *Screen) typedField() tea.Cmd {
	s.form.keys++
	return s.changed()
}

// formText draws the form in a box; where both texts have room their fields stand
// side by side too.
func (s *Screen) formText(w, h int) string {
	if len(s.form.rows) == 0 {
		return ui.Box("\n  "+s.th.Paint(ui.Muted, "no fields: the text can't be read, see the problems below"), w, h)
	}
	if s.boxes.both {
		l, r := s.boxes.text[recipe].w, s.boxes.text[workload].w
		return ui.Beside(s.th.Rule.Render(" │ "), s.formPart(l, h, recipe), s.formPart(r, h, workload))
	}
	return s.formPart(w, h, recipe, workload)
}

// formPart draws the fields of some of the texts.
func (s *Screen) formPart(w, h int, sides ...int) string {
	f := &s.form
	wide := 0
	for _, e := range f.rows {
		wide = max(wide, ui.Width(e.path))
	}
	wide = min(wide, max(w/2, 10))
	room := max(min(w-wide-24, 60), 8)
	var lines []string
	at, last := 0, -1
	for i, e := range f.rows {
		if !slices.Contains(sides, e.side) {
			continue
		}
		if e.side != last && len(sides) > 1 {
			if last >= 0 {
				lines = append(lines, "")
			}
			lines = append(lines, " "+s.th.Paint(ui.Muted, textOf(problem{side: e.side})))
		}
		if last = e.side; i == f.at {
			at = len(lines)
		}
		lines = append(lines, s.formRow(e, i == f.at, wide, room))
	}
	top := max(min(at-h/2, len(lines)-h), 0)
	return ui.Box(strings.Join(lines[top:], "\n"), w, h)
}

func (s *Screen) formRow(e entry, here bool, wide, room int) string {
	mark, name, value := "  ", ui.Fit(ui.Clean(e.path), wide), ui.Fit(ui.Clean(e.value), room)
	if e.value == "" {
		value = s.th.Paint(ui.Muted, ui.Fit("–", room))
	}
	if here {
		mark, name = s.th.Paint(ui.Accent, "▸ "), s.th.Selected.Render(ui.Fit(ui.Clean(e.path), wide))
		if s.form.typing {
			value = s.form.input.Draw(s.th, room, true)
		}
	}
	sign := " "
	for _, p := range s.problems { // errors come first
		if p.side == e.side && (e.line >= 0 && p.Line == e.line+1 || p.Path == e.path) {
			sign = s.th.Paint(p.role(), ui.Sign(p.role()))
			break
		}
	}
	note := e.field.Unit
	if e.value == "" && e.field.Default != "" {
		note += " default " + e.field.Default
	}
	return mark + sign + " " + name + "  " + value + "  " + s.th.Paint(ui.Muted, strings.TrimSpace(note))
}
