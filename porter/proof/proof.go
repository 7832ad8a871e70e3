// Package proof compares each launch line of the old run with the step that the plan of the new
// recipe starts in its place: environment, flags, mounts and engine config. It shows that a port
// loses nothing. It uses only the launch lines and the plan, not the fields of the port.
package proof

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// Proof is the comparison of all launch lines.
type Proof struct {
	Problem string `json:"problem,omitempty"` // why nothing could be compared
	Lines   []Line `json:"lines"`
}

// Line is the comparison of one old launch line, or of several of a role with equal results.
type Line struct {
	Launches    []string `json:"launches"` // such as CTX 0
	Lines       []int    `json:"job_log_lines"`
	Step        string   `json:"step"` // step of the plan for the first launch
	Unchanged   int      `json:"kept"` // number of unchanged values
	Differences []Row    `json:"differences"`
}

// Row is one difference.
type Row struct {
	Kind string `json:"kind"` // renamed, dropped, added or changed
	What string `json:"what"` // env, flag, mount or config
	Name string `json:"name"`
	To   string `json:"to,omitempty"` // new name, where renamed
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
	Rule string `json:"rule"` // why it differs; empty for a bug in the porter
}

const (
	renamed = "renamed"
	dropped = "dropped"
	added   = "added"
	changed = "changed"
)

// Unexplained returns the differences without a rule, each prefixed with its first launch.
func (p *Proof) Unexplained() []string {
	var out []string
	for _, l := range p.Lines {
		for _, d := range l.Differences {
			if d.Rule == "" {
				out = append(out, l.Launches[0]+": "+d.String())
			}
		}
	}
	return out
}

// unexplained returns the number of differences without a rule.
func (l *Line) unexplained() int {
	n := 0
	for _, d := range l.Differences {
		if d.Rule == "" {
			n++
		}
	}
	return n
}

// Summary returns the numbers of unchanged, changed and lost values over all launches.
func (p *Proof) Summary() string {
	if p.Problem != "" {
		return "not compared: " + p.Problem
	}
	launches, unchanged, changed, unexplained := 0, 0, 0, 0
	for _, l := range p.Lines {
		n := len(l.Launches)
		launches += n
		unchanged += l.Unchanged * n
		changed += (len(l.Differences) - l.unexplained()) * n
		unexplained += l.unexplained() * n
	}
	noun := "launch lines"
	if launches == 1 {
		noun = "launch line"
	}
	text := fmt.Sprintf("%d %s compared with the new plan: %d unchanged, %d changed by a known rule, ",
		launches, noun, unchanged, changed)
	if unexplained > 0 {
		return text + fmt.Sprintf("%d UNEXPLAINED: a bug in the porter", unexplained)
	}
	return text + "0 lost"
}

// String returns the difference as one line.
func (d Row) String() string {
	text := fmt.Sprintf("%s %s %s", d.Kind, d.What, safetext.Clip(d.Name, 1000))
	if d.To != "" {
		text += " → " + d.To
	}
	if d.Old != "" {
		text += " old " + safetext.Clip(d.Old, 200)
	}
	if d.New != "" {
		text += " new " + safetext.Clip(d.New, 200)
	}
	return text
}

// Text returns the summary and the differences.
func (p *Proof) Text() string {
	var b strings.Builder
	b.WriteString(p.Summary() + "\n")
	for _, l := range p.Lines {
		who := l.Launches[0]
		if n := len(l.Launches); n > 1 {
			who = fmt.Sprintf("%s and %d more like it", who, n-1)
		}
		fmt.Fprintf(&b, "  %s, now step %s: %d unchanged, %d changed\n", who, l.Step, l.Unchanged, len(l.Differences))
		for _, d := range l.Grouped() {
			rule := d.Rule
			if rule == "" {
				rule = "UNEXPLAINED: a bug in the porter"
			}
			fmt.Fprintf(&b, "    %s | %s\n", d, safetext.Clip(rule, 300))
		}
	}
	return b.String()
}

// Grouped returns the differences with one row for all that have the same kind and rule and no new
// value. Such a row has no old value.
func (l *Line) Grouped() []Row {
	var out []Row
	at := map[Row]int{}
	for _, d := range l.Differences {
		if d.New != "" || d.To != "" || d.Kind != dropped && d.Old != "" {
			out = append(out, d)
			continue
		}
		key := Row{Kind: d.Kind, What: d.What, Rule: d.Rule}
		if i, ok := at[key]; ok {
			out[i].Name += ", " + d.Name
			continue
		}
		at[key] = len(out)
		d.Old = ""
		out = append(out, d)
	}
	return out
}
