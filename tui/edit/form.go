package edit

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/edit"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// formFields are the canonical names of the fields that usually differ between runs.
var formFields = [2][]string{
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
		"phase_timeout_seconds", "user_spawn_rate", "settling_time_seconds", "min_measurement_seconds",
		"min_total_trajectories", "min_trajectories_per_user", "trajectory_path",
		"user_assignments_path", "timeout_seconds", "max_workers", "max_tokens", "reasoning_effort", "seed",
	},
}

// formField is a field of the form.
type formField struct {
	side  side
	path  string // in the spelling of the file
	line  int    // in the file, from 0; -1 if not set
	value string // in the file; empty if not set
	field schema.Field
	table *schema.Table // of the file's fields
}

// formFieldsOf returns the fields of the form with their values. A field with two spellings
// is returned in the one that the file uses. Fields of roles without workers are left out.
func formFieldsOf(r *recipes.Recipe, w *recipes.Workload) []formField {
	var out []formField
	add := func(which side, t *schema.Table, leaves []recipes.Leaf, spell func(name string) string) {
		have := map[string]recipes.Leaf{}
		for _, l := range leaves {
			have[l.Canonical] = l
		}
		for _, name := range formFields[which] {
			f, ok := t.Field(name)
			l, given := have[name]
			if !ok || !given && (hidden(name, have) || spell(name) == "") {
				continue
			}
			e := formField{side: which, path: spell(name), line: -1, field: f, table: t}
			if given {
				e.path, e.line, e.value = l.Position.Path, l.Position.Line-1, l.Value
			}
			out = append(out, e)
		}
	}
	if r != nil {
		add(recipe, schema.Recipe(r.Schema), r.Leaves(), func(name string) string { return r.Position(name).Path })
	}
	if w != nil {
		add(workload, schema.Workload(), w.Leaves(), func(name string) string { return name })
	}
	return out
}

// hidden reports whether a field that is not set is left out.
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

// form shows the most important fields.
type form struct {
	active  bool
	rows    []formField
	cursor  int
	typing  bool // the value of the field under the cursor is being typed
	input   ui.Input
	version int // increases with each key that changes the typed value
}

// pendingValue is a value that is being typed in the form.
type pendingValue struct {
	formField
	value string
}

// pending returns the value being typed, or nil.
func (f *form) pending() *pendingValue {
	if e, ok := f.current(); ok && f.typing {
		return &pendingValue{e, f.input.Value()}
	}
	return nil
}

// applyTo returns a draft with the value set, if it can be set.
func (p *pendingValue) applyTo(d engine.Draft) engine.Draft {
	if p == nil {
		return d
	}
	text := [...]*[]byte{recipe: &d.Recipe, workload: &d.Workload}[p.side]
	if out, err := p.apply(*text); err == nil {
		*text = out
	}
	return d
}

// apply sets the field in a text, with quotes if YAML needs them. An empty value removes
// the field.
func (p *pendingValue) apply(text []byte) (out []byte, err error) {
	if strings.TrimSpace(p.value) == "" {
		out, err = edit.Unset(text, p.path)
	} else {
		out, err = edit.Set(text, p.path, recipes.YAMLValue(p.table, p.path, p.value))
	}
	if err != nil {
		return nil, fmt.Errorf("set %s to %q: %w", p.path, p.value, err)
	}
	return out, nil
}

// setRows replaces the fields, unless a value is being typed.
func (f *form) setRows(rows []formField) {
	if !f.typing && (len(rows) > 0 || f.active) {
		f.rows = rows
		f.cursor = max(min(f.cursor, len(rows)-1), 0)
	}
}

// open opens the form with the cursor on the field at a line of a text. It returns the side
// of the field under the cursor.
func (f *form) open(which side, line int) side {
	f.active = true
	for i, e := range f.rows {
		if e.side == which && e.line == line {
			f.cursor = i
		}
	}
	if e, ok := f.current(); ok {
		return e.side
	}
	return which
}

// current returns the field under the cursor.
func (f *form) current() (formField, bool) {
	if f.active && f.cursor < len(f.rows) {
		return f.rows[f.cursor], true
	}
	return formField{}, false
}

// Key handles a key. It may return a message that changes a text or goes to a field in it.
func (f *form) Key(msg tea.KeyPressMsg) (request tea.Msg) {
	if f.typing {
		return f.handleTypingKey(msg)
	}
	n := max(len(f.rows), 1)
	e, ok := f.current()
	switch msg.String() {
	case "left", "right":
		for i := range f.rows { // the first field of the other text
			if f.rows[i].side != e.side {
				f.cursor = i
				break
			}
		}
	case "up", "k":
		f.cursor = (f.cursor + n - 1) % n
	case "down", "j", "tab":
		f.cursor = (f.cursor + 1) % n
	case "home", "g":
		f.cursor = 0
	case "end", "G":
		f.cursor = n - 1
	case "enter", "e":
		if f.typing = ok; ok {
			f.input.SetValue(e.value)
		}
	case "esc", "q":
		f.active = false
		if ok && e.line >= 0 {
			return goToMsg{e.side, ui.Pos{Line: e.line}}
		}
	default:
		if ok && msg.Text >= "0" && msg.Text <= "9" { // starts a new value
			f.typing = true
			f.input.SetValue(msg.Text)
			f.version++
		}
	}
	return nil
}

// handleTypingKey handles a key while a value is typed.
func (f *form) handleTypingKey(msg tea.KeyPressMsg) (request tea.Msg) {
	e := f.rows[f.cursor]
	switch msg.String() {
	case "enter":
		if p := f.pending(); p.value != e.value {
			request = editMsg{p.side, p.apply}
		}
		f.typing = false
	case "esc":
		f.typing = false
	case "tab":
		words := e.field.Enum
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
	f.version++
	return request
}

// Paste inserts a text into the value.
func (f *form) Paste(s string) {
	f.input.Insert(s)
	f.version++
}

// View draws the form with the marks of problems. If both texts are side by side, so are
// their fields.
func (f *form) View(th ui.Theme, w, h int, b boxes, problems *problemList) string {
	switch {
	case len(f.rows) == 0:
		return ui.Box("\n  "+th.Paint(ui.Muted, "no fields: the text is not valid, see the problems below"), w, h)
	case b.sideBySide:
		return th.Beside(f.drawFields(th, b.text[recipe].w, h, problems, recipe, recipe),
			f.drawFields(th, b.text[workload].w, h, problems, workload, workload))
	}
	return f.drawFields(th, w, h, problems, recipe, workload)
}

// drawFields draws the fields of the sides from and to.
func (f *form) drawFields(th ui.Theme, w, h int, problems *problemList, from, to side) string {
	nameWidth := 0
	for _, e := range f.rows {
		nameWidth = max(nameWidth, ui.Width(e.path))
	}
	nameWidth = min(nameWidth, max(w/2, 10))
	valueWidth := max(min(w-nameWidth-24, 60), 8)
	var lines []string
	at, last := 0, otherFile
	for i, e := range f.rows {
		if e.side < from || e.side > to {
			continue
		}
		if e.side != last && from != to {
			if last != otherFile {
				lines = append(lines, "")
			}
			lines = append(lines, " "+th.Paint(ui.Muted, e.side.String()))
		}
		if last = e.side; i == f.cursor {
			at = len(lines)
		}
		lines = append(lines, f.drawRow(th, i, nameWidth, valueWidth, problems))
	}
	top := max(min(at-h/2, len(lines)-h), 0)
	return ui.Box(strings.Join(lines[top:], "\n"), w, h)
}

func (f *form) drawRow(th ui.Theme, i, nameWidth, valueWidth int, problems *problemList) string {
	e := f.rows[i]
	mark, name, value := "  ", ui.Fit(ui.Clean(e.path), nameWidth), ui.Fit(ui.Clean(e.value), valueWidth)
	if e.value == "" {
		value = th.Paint(ui.Muted, ui.Fit("–", valueWidth))
	}
	if i == f.cursor {
		mark, name = th.Paint(ui.Accent, "▸ "), th.Selected.Render(name)
		if f.typing {
			value = f.input.Draw(th, valueWidth, true)
		}
	}
	sign := " "
	for _, p := range problems.items { // errors come first
		if p.side == e.side && (e.line >= 0 && p.Line == e.line+1 || p.Path == e.path) {
			sign = p.sign(th)
			break
		}
	}
	note := e.field.Unit
	if e.value == "" && e.field.Default != "" {
		note += " default " + e.field.Default
	}
	return mark + sign + " " + name + "  " + value + "  " + th.Paint(ui.Muted, strings.TrimSpace(note))
}
