// Package proof accounts for each part of the old launch lines and of the client's command. It compares
// them with the steps that the plan of the new recipe starts in their place: environment, flags, mounts,
// arguments and engine config. It uses only the old lines and the plan, not the fields of the port.
package proof

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// Proof is the account of all launch lines and of the client's command. Counts are those of all lines,
// also of equal ones that share a [Line].
type Proof struct {
	Problem string `json:"problem,omitempty"` // why nothing could be compared
	Seen    int    `json:"launch_lines_seen"`
	Read    int    `json:"launch_lines_read"`
	Clients int    `json:"client_commands_read"` // 0 or 1
	// Tokens are the parts of the lines that were read. Each is in exactly one row, or unaccounted for.
	Tokens      int    `json:"tokens_read"`
	Same        int    `json:"tokens_same"`
	ByRule      int    `json:"tokens_by_rule"` // changed or dropped for a known reason
	Asked       int    `json:"tokens_asked"`   // what becomes of them is an open question
	Unaccounted int    `json:"tokens_unaccounted"`
	Lines       []Line `json:"lines"`
}

// Line is the account of one old line, or of several of a role with equal results.
type Line struct {
	Launches []string `json:"launches"`      // such as CTX 0
	Lines    []int    `json:"job_log_lines"` // empty for the client
	Place    string   `json:"place,omitempty"`
	Step     string   `json:"step"`              // step of the plan for the first launch; empty if there is none
	Problem  string   `json:"problem,omitempty"` // why the line could not be read
	// Same are the tokens that the new job has unchanged.
	Same        []string `json:"same,omitempty"`
	Unchanged   int      `json:"kept"` // number of unchanged values: of Same, and of the engine config
	Differences []Row    `json:"differences"`
}

// Row is one difference.
type Row struct {
	Kind string `json:"kind"` // renamed, dropped, added or changed
	What string `json:"what"` // part of the line, or config
	Name string `json:"name"`
	To   string `json:"to,omitempty"` // new name, where renamed
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
	Rule string `json:"rule"` // why it differs; empty for a bug in the porter
	// Asked is set if the difference is an open question.
	Asked bool `json:"asked,omitempty"`
	// Tokens is the number of tokens that the row accounts for, if that is not one. An added value and one of
	// an engine config is no token of a line.
	Tokens int `json:"tokens,omitempty"`
}

const (
	renamed = "renamed"
	dropped = "dropped"
	added   = "added"
	changed = "changed"

	config = "config"
)

// count returns the number of tokens that a row accounts for.
func (d Row) count() int {
	switch {
	case d.Kind == added || d.What == config:
		return 0
	case d.Tokens > 0:
		return d.Tokens
	}
	return 1
}

// tokens returns the numbers of tokens of a line by outcome.
func (l *Line) tokens() (same, byRule, asked, unaccounted int) {
	same = len(l.Same)
	for _, d := range l.Differences {
		switch n := d.count(); {
		case d.Rule == "":
			unaccounted += n
		case d.Asked:
			asked += n
		default:
			byRule += n
		}
	}
	return same, byRule, asked, unaccounted
}

// sum sets the counts of tokens.
func (p *Proof) sum() {
	p.Tokens, p.Same, p.ByRule, p.Asked, p.Unaccounted = 0, 0, 0, 0, 0
	for _, l := range p.Lines {
		n := len(l.Launches)
		same, byRule, asked, unaccounted := l.tokens()
		p.Same, p.ByRule = p.Same+n*same, p.ByRule+n*byRule
		p.Asked, p.Unaccounted = p.Asked+n*asked, p.Unaccounted+n*unaccounted
	}
	p.Tokens = p.Same + p.ByRule + p.Asked + p.Unaccounted
}

// Complete reports whether each part of every line was read and carried over, or dropped for a known
// reason, and each difference is explained.
func (p *Proof) Complete() bool {
	return p.Problem == "" && p.Read == p.Seen && p.Unaccounted == 0 && p.Asked == 0 && len(p.Unexplained()) == 0
}

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

// Summary tells what was read and what became of it, in one line. It says "0 lost" only if
// that was shown.
func (p *Proof) Summary() string {
	text := fmt.Sprintf("%s read of %d seen", plural(p.Read, "launch line"), p.Seen)
	lines := plural(p.Read, "launch line")
	if p.Clients > 0 {
		text, lines = text+", and the client's command", lines+" and the client's command"
	} else {
		text += ", no client's command"
	}
	text += fmt.Sprintf("; %s read, %d unaccounted", plural(p.Tokens, "token"), p.Unaccounted)
	if p.Problem != "" {
		return text + "; not compared: " + p.Problem
	}
	text += fmt.Sprintf(": %d same, %d changed or dropped by a known rule, %d asked", p.Same, p.ByRule, p.Asked)
	config := 0
	for _, l := range p.Lines {
		config += (l.Unchanged - len(l.Same)) * len(l.Launches)
	}
	if config > 0 {
		text += fmt.Sprintf("; %s of engine configs unchanged", plural(config, "value"))
	}
	if n := len(p.Unexplained()); n > 0 {
		return text + fmt.Sprintf("; %d UNEXPLAINED: a bug in the porter", n)
	}
	if p.Complete() && p.Read+p.Clients > 0 {
		text += "; 0 lost over " + lines
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
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
		switch {
		case l.Problem != "":
			fmt.Fprintf(&b, "  %s NOT READ: %s\n", who, safetext.Clip(l.Problem, 300))
			continue
		case l.Step != "":
			who += ", now step " + l.Step
		}
		fmt.Fprintf(&b, "  %s: %d unchanged, %d changed\n", who, l.Unchanged, len(l.Differences))
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
// value. Such a row has no old value. Those that are unexplained or an open question come first.
func (l *Line) Grouped() []Row {
	var out []Row
	at := map[Row]int{}
	for _, first := range []bool{true, false} {
		for _, d := range l.Differences {
			if (d.Asked || d.Rule == "") != first {
				continue
			}
			if d.New != "" || d.To != "" || d.Kind != dropped && d.Old != "" {
				out = append(out, d)
				continue
			}
			key := Row{Kind: d.Kind, What: d.What, Rule: d.Rule, Asked: d.Asked}
			if i, ok := at[key]; ok {
				out[i].Name += ", " + d.Name
				out[i].Tokens += d.count()
				continue
			}
			at[key] = len(out)
			d.Old, d.Tokens = "", d.count()
			out = append(out, d)
		}
	}
	return out
}
