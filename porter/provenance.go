package porter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// provenanceVersion grows when a key changes its meaning.
const provenanceVersion = 1

// The stored form of a result. Keys and order are stable, so that two files can
// be compared line by line.
type (
	provenanceFile struct {
		Version   int             `json:"version"`
		Source    string          `json:"source"`
		Schema    int             `json:"schema"`
		Summary   map[Class]int   `json:"summary"`
		Artifacts []artifactRow   `json:"artifacts"`
		Fields    []provenanceRow `json:"fields"`
		Dropped   []droppedRow    `json:"dropped"`
		Todos     []todoRow       `json:"todos"`
	}
	artifactRow struct {
		Name    string `json:"name"`
		Present bool   `json:"present"`
		Found   string `json:"found,omitempty"`
		Problem string `json:"problem,omitempty"`
	}
	provenanceRow struct {
		File      File       `json:"file"`
		Path      string     `json:"path"`      // as the written file spells it
		Canonical string     `json:"canonical"` // as schema 1 spells it
		Value     string     `json:"value"`     // YAML text
		Class     Class      `json:"class"`
		Rule      string     `json:"rule,omitempty"`
		Why       string     `json:"why,omitempty"`
		Evidence  []Evidence `json:"evidence"`
	}
	droppedRow struct {
		From     string   `json:"from"`
		Name     string   `json:"name"`
		Rule     string   `json:"rule"`
		Why      string   `json:"why"`
		Evidence Evidence `json:"evidence"`
	}
	todoRow struct {
		Kind       TodoKind       `json:"kind"`
		File       File           `json:"file,omitempty"`
		Path       string         `json:"path,omitempty"` // as the written file spells it
		Message    string         `json:"message"`
		Evidence   []Evidence     `json:"evidence,omitempty"`
		Candidates []candidateRow `json:"candidates,omitempty"`
	}
	candidateRow struct {
		Value string `json:"value"`
		Size  int64  `json:"size,omitempty"`
	}
)

// ProvenanceJSON is the report as it is stored beside the recipe. It holds
// nothing that depends on the machine or the day.
func (r *Result) ProvenanceJSON() ([]byte, error) {
	l := newLayout(r.Schema)
	p := provenanceFile{Version: provenanceVersion, Source: r.Source, Schema: r.Schema, Summary: r.Summary(), Artifacts: []artifactRow{}, Fields: []provenanceRow{}, Dropped: []droppedRow{}, Todos: []todoRow{}}
	for _, a := range r.Artifacts {
		p.Artifacts = append(p.Artifacts, artifactRow{a.Name, a.Present, a.Found, a.Problem})
	}
	for _, f := range r.Fields {
		ev := f.Evidence
		if ev == nil {
			ev = []Evidence{}
		}
		p.Fields = append(p.Fields, provenanceRow{f.File, l.path(f), f.Path, f.Value, f.Class, f.Rule, f.Why, ev})
	}
	for _, d := range r.Dropped {
		p.Dropped = append(p.Dropped, droppedRow(d))
	}
	for _, t := range r.Todos {
		row := todoRow{Kind: t.Kind, File: t.File, Path: l.todoPath(t), Message: t.Message, Evidence: t.Evidence}
		for _, c := range t.Candidates {
			row.Candidates = append(row.Candidates, candidateRow{c.Value, c.Size})
		}
		p.Todos = append(p.Todos, row)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("write the provenance of %s: %w", r.Source, err)
	}
	return out.Bytes(), nil
}

func (l layout) todoPath(t Todo) string {
	if t.File == Recipe {
		if p, ok := l.table.Translate(t.Path, l.version); ok {
			return p
		}
	}
	return t.Path
}

// ProvenanceText is the report for people: one row a field, then what was
// dropped, then the open questions. Rows don't depend on one another, so that two
// reports can be compared line by line.
func (r *Result) ProvenanceText() string {
	l := newLayout(r.Schema)
	var b strings.Builder
	fmt.Fprintf(&b, "port of %s, schema %d: %s\n", oneLine(r.Source), r.Schema, r.SummaryLine())
	for _, a := range r.Artifacts {
		fmt.Fprintf(&b, "artifact  %s: %s\n", oneLine(a.Name), strings.Trim(join(a.Found, a.Problem), "; "))
	}
	var file File
	for _, f := range r.Fields {
		if f.File != file {
			file = f.File
			fmt.Fprintf(&b, "\n%s\n", file)
		}
		fmt.Fprintf(&b, "  %-10s %s: %s%s%s\n", f.Class, clip(l.path(f), 200), clip(f.Value, 500), whence(f.Evidence, f.Value), because(f.Rule, f.Why))
	}
	if len(r.Dropped) > 0 {
		b.WriteString("\ndropped\n")
	}
	for _, d := range r.Dropped {
		fmt.Fprintf(&b, "  %s %s%s%s\n", d.From, clip(d.Name, 100), whence([]Evidence{d.Evidence}, ""), because(d.Rule, d.Why))
	}
	if len(r.Todos) > 0 {
		b.WriteString("\nopen\n")
	}
	for _, t := range r.Todos {
		where := ""
		if t.File != "" {
			where = strings.TrimSuffix(fmt.Sprintf("%s %s", t.File, clip(l.todoPath(t), 200)), " ") + ": "
		}
		fmt.Fprintf(&b, "  %-8s %s%s%s\n", t.Kind, where, t.Message, whence(t.Evidence, ""))
		for _, c := range t.Candidates {
			fmt.Fprintf(&b, "    candidate %s%s\n", clip(c.Value, 300), size(c.Size))
		}
	}
	return b.String()
}

func size(n int64) string {
	if n == 0 {
		return ""
	}
	return " (" + strconv.FormatInt(n, 10) + " bytes)"
}

// whence spells evidence: artifact:line key=raw, raw only where it says more
// than the value.
func whence(evs []Evidence, value string) string {
	var b strings.Builder
	for i, e := range evs {
		sep := ", "
		if i == 0 {
			sep = " <- "
		}
		if i == 3 && len(evs) > 4 {
			fmt.Fprintf(&b, ", %d more", len(evs)-i)
			break
		}
		b.WriteString(sep + oneLine(e.Artifact))
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		if e.Key != "" {
			b.WriteString(" " + clip(e.Key, 100))
		}
		raw := strings.TrimPrefix(e.Raw, e.Key+"=")
		if raw != "" && raw != value && `"`+raw+`"` != value {
			b.WriteString("=" + clip(raw, 300))
		}
	}
	return b.String()
}

func because(rule, why string) string {
	switch {
	case rule == "" && why == "":
		return ""
	case why == "":
		return " | " + clip(rule, 300)
	case rule == "":
		return " | " + why
	}
	return " | " + clip(rule, 300) + ": " + why
}
