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

// line is a line of a file with its field.
type line struct {
	text  string
	field int  // index in the fields of the result; -1: none
	first bool // is the first line of its field
}

// document is a file as lines.
type document struct {
	file  porter.File
	lines []line
}

// resultView is the result of a port, with its files as lines.
type resultView struct {
	res   *porter.Result
	docs  [2]document
	facts []string // summary of the run, the most important first
}

// fieldAt returns the field of a line; the zero value if it has none.
func (v *resultView) fieldAt(l line) porter.Field {
	if l.field < 0 || v.res == nil {
		return porter.Field{}
	}
	return v.res.Fields[l.field]
}

// fieldFor returns the field that a question is about.
func (v *resultView) fieldFor(t porter.Todo) (porter.Field, bool) {
	for _, f := range v.res.Fields {
		if f.File == t.File && f.Path == t.Path {
			return f, true
		}
	}
	return porter.Field{}, false
}

// newResultView renders both files and finds the field of each line.
func newResultView(res *porter.Result) (*resultView, error) {
	v := &resultView{res: res}
	data, err := res.RecipeYAML()
	if err != nil {
		return v, err
	}
	var leaves []recipes.Leaf
	if r, _ := recipes.ParseRecipe("recipe", data); r != nil {
		leaves = append(r.Leaves(), recipes.Leaf{Canonical: "schema", Position: r.Position("schema")})
		v.facts = recipeFacts(r)
	}
	v.docs[0] = newDocument(res, porter.Recipe, string(data), leaves)
	if data, err = res.WorkloadYAML(); err != nil {
		return v, err
	}
	leaves = nil
	if wl, _ := recipes.ParseWorkload("workload", data); wl != nil {
		leaves = wl.Leaves()
	}
	v.docs[1] = newDocument(res, porter.Workload, string(data), leaves)
	return v, nil
}

// newDocument finds the field of each line. The lines of a list belong to the field
// above them.
func newDocument(res *porter.Result, file porter.File, text string, leaves []recipes.Leaf) document {
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

// recipeFacts summarizes the run: nodes, workers, users, engine.
func recipeFacts(r *recipes.Recipe) []string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	for _, role := range r.Roles() {
		add(role.Workers, role.Name.Layout1Name())
	}
	nodes := ui.Plural(r.WorkerNodes(), "node")
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

// openCounts returns the numbers of launch lines that were not read and of parts that are unaccounted for,
// and of questions that must be fixed or confirmed.
func (v *resultView) openCounts(th ui.Theme) (out []string) {
	p := &v.res.Proof
	if n := p.Seen - p.Read; n > 0 {
		out = append(out, th.Paint(ui.Bad, ui.Plural(n, "line")+" not read"))
	}
	if n := p.Unaccounted; n > 0 {
		out = append(out, th.Paint(ui.Bad, ui.Plural(n, "token")+" unaccounted"))
	}
	if n := v.res.CountOpen(porter.MustFix); n > 0 {
		out = append(out, th.Paint(ui.Bad, fmt.Sprintf("%d must fix", n)))
	}
	if n := v.res.CountOpen(porter.Confirm); n > 0 {
		out = append(out, th.Paint(ui.Warn, fmt.Sprintf("%d to confirm", n)))
	}
	return out
}

// factLine draws the summary of the run and the number of open questions.
func (v *resultView) factLine(th ui.Theme, width int) string {
	res, open := v.res, v.openCounts(th)
	if width < 80 {
		open = open[:min(len(open), 1)]
	}
	right := strings.Join(open, "  ") + " "
	if len(open) == 0 {
		right = th.Paint(ui.OK, "✓ no open questions ")
	}
	fits := func(parts []string) bool { return ui.Width(strings.Join(parts, " · "))+ui.Width(right)+2 <= width }
	facts := append([]string{res.Source}, v.facts...)
	if !fits(facts) { // drop the engine first, then the name of the run
		facts = facts[:len(facts)-1]
	}
	if !fits(facts) {
		facts = v.facts
	}
	for len(facts) > 1 && !fits(facts) {
		facts = facts[:len(facts)-1]
	}
	return ui.LeftRight(" "+ui.Clean(strings.Join(facts, " · ")), right, width)
}

// classes are the classes of fields, in the order of the summary, with their marks in
// the gutter.
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

// classMark returns the mark of a class.
func classMark(c porter.Class) (string, ui.Role) {
	for _, k := range classes {
		if k.class == c {
			return k.mark, k.role
		}
	}
	return "?", ui.Warn
}

// summary counts the fields by class, or the open questions if w is too small.
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
	return fmt.Sprintf("%d fields, %s", len(res.Fields), ui.Plural(open, "open question")), role
}

// comesFrom reports whether a field comes from an artifact, or from a file below it.
func comesFrom(f porter.Field, name string) bool {
	return slices.ContainsFunc(f.Evidence, func(e porter.Evidence) bool {
		return e.Artifact == name || strings.HasPrefix(e.Artifact, name+"/")
	})
}

// sortedQuestions returns the questions: those about unaccounted parts of launch lines, then the other
// must-fix ones.
func sortedQuestions(res *porter.Result) []porter.Todo {
	kinds := []porter.TodoKind{porter.MustFix, porter.Confirm, porter.Note}
	rank := func(t porter.Todo) int {
		if t.IsUnaccounted() {
			return -1
		}
		return slices.Index(kinds, t.Kind)
	}
	return slices.SortedStableFunc(slices.Values(res.Todos), func(a, b porter.Todo) int {
		return cmp.Compare(rank(a), rank(b))
	})
}

// kindRole returns the role of a kind of question.
func kindRole(k porter.TodoKind) ui.Role {
	return cmp.Or(map[porter.TodoKind]ui.Role{porter.MustFix: ui.Bad, porter.Confirm: ui.Warn}[k], ui.Muted)
}
