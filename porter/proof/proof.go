// Package proof shows that a port loses nothing: for each launch line of the old run,
// how the environment and the flags differ that the plan of the new recipe gives the
// same process. It compares launch lines with a plan, token by token, and does not
// know what the port believes that it wrote.
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

// Line is one old launch line, or several of a role that compare alike.
type Line struct {
	Launches    []string `json:"launches"` // such as CTX 0
	Lines       []int    `json:"job_log_lines"`
	Step        string   `json:"step"` // of the plan; of the first launch
	Unchanged   int      `json:"kept"` // names whose value is the same
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
	Rule string `json:"rule"` // what explains it; empty: nothing does, a bug in the porter
}

const (
	renamed = "renamed"
	lost    = "dropped"
	added   = "added"
	changed = "changed"
)

// Unexplained lists the differences that no rule explains, each after the first
// launch that it was found in.
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

// Summary counts, over all launches, what is kept and what differs.
func (p *Proof) Summary() string {
	if p.Problem != "" {
		return "not proved: " + p.Problem
	}
	launches, kept, differ := 0, 0, 0
	for _, l := range p.Lines {
		launches += len(l.Launches)
		kept += l.Unchanged * len(l.Launches)
		differ += len(l.Differences) * len(l.Launches)
	}
	noun := "launch lines"
	if launches == 1 {
		noun = "launch line"
	}
	text := fmt.Sprintf("%d %s against the new plan: %d kept, %d differ, ", launches, noun, kept, differ)
	if n := len(p.Unexplained()); n > 0 {
		return text + fmt.Sprintf("%d WITHOUT A RULE: an error of the porter", n)
	}
	return text + "each by a rule: nothing is lost"
}

// String is the difference in a few words.
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

// Text is a summary, then the differences alone.
func (p *Proof) Text() string {
	var b strings.Builder
	b.WriteString(p.Summary() + "\n")
	for _, l := range p.Lines {
		who := l.Launches[0]
		if n := len(l.Launches); n > 1 {
			who = fmt.Sprintf("%s and %d alike", who, n-1)
		}
		fmt.Fprintf(&b, "  %s, now %s: %d kept, %d differ\n", who, l.Step, l.Unchanged, len(l.Differences))
		for _, d := range l.Grouped() {
			rule := d.Rule
			if rule == "" {
				rule = "NO RULE: an error of the porter"
			}
			fmt.Fprintf(&b, "    %s | %s\n", d, safetext.Clip(rule, 300))
		}
	}
	return b.String()
}

// Grouped are the differences with one row for those that differ in name alone, or
// are gone for one reason; these have no old values then.
func (l *Line) Grouped() []Row {
	var out []Row
	at := map[Row]int{}
	for _, d := range l.Differences {
		if d.New != "" || d.To != "" || d.Kind != lost && d.Old != "" {
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
