package port

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// line is a line of a written file with the field that it shows.
type line struct {
	text  string
	field int  // in the result's fields; -1: none
	first bool // of the field's lines
}

// document is a written file, line by line.
type document struct {
	file  porter.File
	lines []line
}

// written is a result as it is shown.
type written struct {
	res   *porter.Result
	docs  [2]document
	facts []string // what the run is, the most telling first
}

// field of a line; the zero value where it has none.
func (w *written) field(l line) porter.Field {
	if l.field < 0 || w.res == nil {
		return porter.Field{}
	}
	return w.res.Fields[l.field]
}

// fieldOf is the field that a question is about.
func (w *written) fieldOf(t porter.Todo) (porter.Field, bool) {
	for _, f := range w.res.Fields {
		if f.File == t.File && f.Path == t.Path {
			return f, true
		}
	}
	return porter.Field{}, false
}

// show renders both files and finds the field of each line.
func show(res *porter.Result) (*written, error) {
	w := &written{res: res}
	data, err := res.RecipeYAML()
	if err != nil {
		return w, err
	}
	var leaves []recipes.Leaf
	if r, _ := recipes.ParseRecipe("recipe", data); r != nil {
		leaves = append(r.Leaves(), recipes.Leaf{Canonical: "schema", Position: r.Position("schema")})
		w.facts = facts(r)
	}
	w.docs[0] = numbered(res, porter.Recipe, string(data), leaves)
	if data, err = res.WorkloadYAML(); err != nil {
		return w, err
	}
	leaves = nil
	if wl, _ := recipes.ParseWorkload("workload", data); wl != nil {
		leaves = wl.Leaves()
	}
	w.docs[1] = numbered(res, porter.Workload, string(data), leaves)
	return w, nil
}

// numbered gives each line its field. The lines of a list belong to the field
// that begins above them.
func numbered(res *porter.Result, file porter.File, text string, leaves []recipes.Leaf) document {
	byPath := map[string]int{}
	for i, f := range res.Fields {
		if f.File == file {
			byPath[f.Path] = i
		}
	}
	byLine := map[int]int{}
	for _, l := range leaves {
		i, ok := byPath[l.Canonical]
		if _, taken := byLine[l.Position.Line]; ok && !taken {
			byLine[l.Position.Line] = i
		}
	}
	d := document{file: file}
	last, indent := -1, 0
	for i, t := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		lead := len(t) - len(strings.TrimLeft(t, " "))
		field, first := byLine[i+1]
		switch {
		case first:
			last, indent = field, lead
		case last >= 0 && lead >= indent && strings.HasPrefix(t[lead:], "-"), last >= 0 && lead > indent:
			field = last
		default:
			field, last = -1, -1
		}
		d.lines = append(d.lines, line{t, field, first})
	}
	return d
}

// facts says what the run is: what a person would recognise it by.
func facts(r *recipes.Recipe) []string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	for _, role := range r.Roles() {
		add(role.Workers, role.Name.Layout1Name())
	}
	nodes := fmt.Sprintf("%d nodes", r.WorkerNodes())
	if r.GPUType != "" {
		nodes += fmt.Sprintf(" × %d %s", r.GPUsPerNode, r.GPUType)
	}
	out := []string{nodes}
	if len(parts) > 0 {
		out = append(out, strings.Join(parts, " + "))
	}
	if levels := recipes.JoinInts(r.Benchmark.Levels); levels != "" {
		out = append(out, levels+" users")
	}
	return append(out, r.Engine.Type)
}

// factLine says what the run is, and what stands against running it.
func (w *written) factLine(th ui.Theme, width int) string {
	res := w.res
	var open []string
	if n := res.CountOpen(porter.MustFix); n > 0 {
		open = append(open, th.Paint(ui.Bad, fmt.Sprintf("%d must-fix", n)))
	}
	if n := res.CountOpen(porter.Confirm); n > 0 {
		open = append(open, th.Paint(ui.Warn, fmt.Sprintf("%d to confirm", n)))
	}
	if len(open) == 2 && width < 80 {
		open = open[:1]
	}
	right := strings.Join(open, "  ") + " "
	if len(open) == 0 {
		right = th.Paint(ui.OK, "✓ nothing open ")
	}
	fits := func(parts []string) bool { return ui.Width(strings.Join(parts, " · "))+ui.Width(right)+2 <= width }
	facts := append([]string{res.Source}, w.facts...)
	if !fits(facts) { // the engine's name is the first to go, then the run's
		facts = facts[:len(facts)-1]
	}
	if !fits(facts) {
		facts = w.facts
	}
	for len(facts) > 1 && !fits(facts) {
		facts = facts[:len(facts)-1]
	}
	return ui.LeftRight(" "+ui.Clean(strings.Join(facts, " · ")), right, width)
}

// classes are where a field can come from, in the order in which they are counted, with
// the mark in the gutter.
var classes = []struct {
	class porter.Class
	mark  string
	role  ui.Role
}{
	{porter.Copied, "c", ui.Muted},
	{porter.Translated, "t", ui.Accent},
	{porter.Inferred, "i", ui.Accent},
	{porter.Default, "d", ui.Muted},
	{porter.Guessed, "g", ui.Warn},
	{porter.Missing, "T", ui.Bad},
}

// letter is the mark of a class.
func letter(c porter.Class) (string, ui.Role) {
	for _, k := range classes {
		if k.class == c {
			return k.mark, k.role
		}
	}
	return "?", ui.Warn
}

// summary counts the fields by class, as much as fits into w cells.
func summary(res *porter.Result, w int) (string, ui.Role) {
	counts := res.Summary()
	role := ui.OK
	switch {
	case res.CountOpen(porter.MustFix) > 0:
		role = ui.Bad
	case res.CountOpen(porter.Confirm) > 0:
		role = ui.Warn
	}
	long := fmt.Sprintf("%d fields:", len(res.Fields))
	for _, c := range classes {
		if n := counts[c.class]; n > 0 {
			name := string(c.class)
			if c.class == porter.Missing {
				name = "TODO"
			}
			long += fmt.Sprintf(" %d %s", n, name)
		}
	}
	if len(long)+30 <= w {
		return long, role
	}
	open := res.CountOpen(porter.MustFix) + res.CountOpen(porter.Confirm)
	return fmt.Sprintf("%d fields, %s open", len(res.Fields), ui.Plural(open, "question")), role
}

// restsOn says whether a field rests on an artifact, or a file below it.
func restsOn(f porter.Field, name string) bool {
	return slices.ContainsFunc(f.Evidence, func(e porter.Evidence) bool {
		return e.Artifact == name || strings.HasPrefix(e.Artifact, name+"/")
	})
}

// ranked are the questions, those that block first.
func ranked(res *porter.Result) []porter.Todo {
	rank := map[porter.TodoKind]int{porter.MustFix: 0, porter.Confirm: 1, porter.Note: 2}
	return slices.SortedStableFunc(slices.Values(res.Todos), func(a, b porter.Todo) int {
		return cmp.Compare(rank[a.Kind], rank[b.Kind])
	})
}

// kindRole is how much a question matters; others than these are remarks.
func kindRole(k porter.TodoKind) ui.Role {
	return cmp.Or(map[porter.TodoKind]ui.Role{porter.MustFix: ui.Bad, porter.Confirm: ui.Warn}[k], ui.Muted)
}
