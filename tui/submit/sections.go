package submit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/texttable"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// section is one section of the plan.
type section struct {
	title string
	lines []line
}

// name returns the title without its explanation.
func (s section) name() string {
	name, _, _ := strings.Cut(s.title, ":")
	return ui.Clean(name)
}

// line is one line of a section, before it is wrapped.
type line struct {
	mark string // before the text, in the role's color; may be empty
	text string
	role ui.Role // of the mark, or of the text without a mark
}

// buildSections returns the sections: findings, the cluster's answer, nodes, and the rest of
// the plan as dry-run prints it.
func buildSections(p proposal) []section {
	var out []section
	if p.pair != nil {
		out = append(out, section{"CHECK: findings", findingLines(p.pair.Report.Diagnostics)})
		if e := p.pair.Report.Estimate; e != nil && p.plan != nil {
			out[0].lines = append(out[0].lines, line{mark: "·", role: ui.Muted, text: "run time " + e.Summary()})
		}
	}
	if p.plan == nil {
		return out
	}
	if notes := p.cluster.lines(); len(notes) > 0 {
		out = append(out, section{"CLUSTER: current state", notes})
	}
	shown := p.plan.Redacted()
	if !shown.Target.OnSlurm() {
		shown = shown.Bind(plan.Values{plan.NodeName(0): "this machine"})
	}
	for _, s := range shown.Sections() {
		sec := section{title: s.Title}
		if s.Title == "NODES" && p.plan.Target.OnSlurm() {
			sec = section{"NODES: one cell per GPU", nodeMap(p.plan)}
			s.Lines = nil
		}
		for _, l := range s.Lines {
			sec.lines = append(sec.lines, line{text: l})
		}
		out = append(out, sec)
	}
	return out
}

// severityMarks are the marks of findings by severity.
var severityMarks = map[recipes.Severity]line{
	recipes.Error: {mark: "✗", role: ui.Bad}, recipes.Warning: {mark: "⚠", role: ui.Warn},
	recipes.Note: {mark: "·", role: ui.Muted},
}

// findingLines returns the diagnostics, the most severe first.
func findingLines(ds recipes.Diagnostics) []line {
	var out []line
	for _, d := range ds.BySeverity() {
		l := severityMarks[d.Severity]
		l.text = fmt.Sprintf("%s:%d  %s: %s", d.File, d.Line, d.Path, d.Message)
		out = append(out, l)
		if d.Fix != "" {
			out = append(out, line{mark: " ", text: "fix: " + d.Fix})
		}
	}
	if len(out) == 0 {
		out = append(out, line{mark: "✓", role: ui.OK, text: "no errors, no warnings"})
	}
	return out
}

// nodeMap draws each node with the roles of its GPUs.
func nodeMap(p *plan.Plan) []line {
	rows := make([][]string, 0, len(p.Nodes))
	used := map[schema.Role]bool{}
	for _, n := range p.Nodes {
		cells := slices.Repeat([]string{"·"}, p.GPUsPerNode)
		for _, st := range p.Steps {
			letter, ok := roleLetters[st.Role]
			if !ok || !slices.Contains(st.Nodes, n.Index) {
				continue
			}
			used[st.Role] = true
			for g := range cells {
				if len(st.GPUs) == 0 || slices.Contains(st.GPUs, g) {
					cells[g] = letter
				}
			}
		}
		rows = append(rows, []string{nodeName(n), strings.Join(cells, " "), strings.Join(n.Roles, ", ")})
	}
	out := make([]line, 0, len(rows)+1)
	for _, l := range texttable.Lines(rows) {
		out = append(out, line{text: l})
	}
	var legend []string
	for _, role := range schema.WorkerRoles() {
		if used[role] {
			legend = append(legend, roleLetters[role]+" "+string(role))
		}
	}
	if len(legend) > 0 {
		out = append(out, line{role: ui.Muted, text: strings.Join(append(legend, "· idle"), "   ")})
	}
	return out
}

// nodeName returns a node's name, or its number if Slurm has yet to choose the node.
func nodeName(n plan.Node) string {
	if strings.HasPrefix(n.Name, "{") {
		return fmt.Sprintf("node %d", n.Index)
	}
	return n.Name
}

// roleLetters are the letters of GPUs in the node map, by role.
var roleLetters = map[schema.Role]string{schema.Prefill: "P", schema.Decode: "D", schema.Agg: "A"}

// lines returns the cluster's answer: the error, then the notes.
func (c clusterMsg) lines() []line {
	var out []line
	if c.err != nil {
		out = append(out, line{mark: "✗", role: ui.Bad, text: c.err.Error()})
	}
	for _, n := range c.notes {
		out = append(out, line{mark: "·", role: ui.Muted, text: n})
	}
	return out
}

// wrap breaks a line into lines of at most w cells, so that it is never cut.
func (l line) wrap(th ui.Theme, w int) []string {
	if l.mark == "" {
		rows := wrapPlain(ui.Clean(l.text), w, "    ")
		for i, r := range rows {
			rows[i] = paintSource(th, r, l.role)
		}
		return rows
	}
	rows := wrapPlain(ui.Clean(l.text), w-2, "")
	for i, r := range rows {
		lead := "  "
		if i == 0 {
			lead = th.Paint(l.role, l.mark) + " "
		}
		if l.mark == " " {
			r = th.Paint(ui.Muted, r)
		}
		rows[i] = lead + r
	}
	return rows
}

// paintSource draws the source of a value, in parentheses at the end, in a muted color.
func paintSource(th ui.Theme, row string, role ui.Role) string {
	if i := strings.LastIndex(row, "  ("); role == ui.Plain && i >= 0 && strings.HasSuffix(row, ")") {
		return row[:i] + th.Paint(ui.Muted, row[i:])
	}
	return th.Paint(role, row)
}

// wrapPlain wraps an unstyled line at spaces and keeps the other spaces. It breaks a word that
// is longer than a line after one of "/,=:" if possible. Lines after the first start with
// indent.
func wrapPlain(s string, w int, indent string) []string {
	w = max(w, 10)
	var out []string
	lead := ""
	for ui.Width(lead+s) > w {
		head := ansi.Truncate(s, w-len(lead), "")
		at := len(head)
		switch space, part := strings.LastIndexByte(head, ' '), strings.LastIndexAny(head, "/,=:"); {
		case strings.HasPrefix(s[at:], " "):
		case space > 0 && strings.TrimSpace(head[:space]) != "":
			at = space
		case part > 0:
			at = part + 1
		}
		out = append(out, lead+strings.TrimRight(s[:at], " "))
		s, lead = strings.TrimLeft(s[at:], " "), indent
	}
	return append(out, lead+s)
}
