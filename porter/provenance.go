package porter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// provenanceVersion grows when a key changes its meaning.
const provenanceVersion = 1

// Provenance is the stored form of a port, beside the recipe. Keys and order are
// stable, so that two files can be compared line by line, and it holds nothing
// that depends on the machine or the day.
type Provenance struct {
	Version   int           `json:"version"`
	Source    string        `json:"source"`
	Schema    int           `json:"schema"`
	Summary   map[Class]int `json:"summary"`
	Artifacts []Artifact    `json:"artifacts"`
	Fields    []Field       `json:"fields"`
	Dropped   []Dropped     `json:"dropped"`
	Proof     Proof         `json:"proof"`
	Todos     []Todo        `json:"todos"`   // open; paths as the written file spells them
	Answers   []Answer      `json:"answers"` // given again when the recipe is ported anew
	// Texts are the files as they were written; empty in a report of an older program.
	Texts map[File]string `json:"texts,omitempty"`
}

// provenance is the result as it is stored.
func (r *Result) provenance() *Provenance {
	l := newLayout(r.Schema)
	p := &Provenance{
		Version: provenanceVersion, Source: r.Source, Schema: r.Schema, Summary: r.Summary(), Proof: r.Proof,
		Artifacts: list(r.Artifacts), Fields: list(r.Fields), Dropped: list(r.Dropped),
		Todos: list(r.Todos), Answers: list(r.Answers),
	}
	for i := range p.Fields {
		p.Fields[i].Evidence = list(p.Fields[i].Evidence)
	}
	for i := range p.Todos {
		p.Todos[i].Path = l.todoPath(p.Todos[i])
	}
	return p
}

// list copies a slice; an empty one is stored as [], not as null.
func list[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }

// ProvenanceJSON is the file beside the recipe: JSON with one row a line, so that
// line by line comparison shows rows.
func (r *Result) ProvenanceJSON() ([]byte, error) {
	p := r.provenance()
	recipe, err := r.RecipeYAML()
	if err != nil {
		return nil, err
	}
	workload, err := r.WorkloadYAML()
	if err != nil {
		return nil, err
	}
	w := jsonRows{}
	w.out.Grow(512 * (len(p.Fields) + 1))
	w.value("{", "version", p.Version)
	w.value(",", "source", p.Source)
	w.value(",", "schema", p.Schema)
	w.value(",", "summary", p.Summary)
	rows(&w, "artifacts", p.Artifacts)
	rows(&w, "fields", p.Fields)
	rows(&w, "dropped", p.Dropped)
	w.value(",", "proof", p.Proof)
	rows(&w, "todos", p.Todos)
	rows(&w, "answers", p.Answers)
	w.value(",", "texts", map[File]string{Recipe: string(recipe), Workload: string(workload)})
	w.out.WriteString("\n}\n")
	if w.err != nil {
		return nil, fmt.Errorf("write port report of %s: %w", r.Source, w.err)
	}
	return w.out.Bytes(), nil
}

// jsonRows writes an object whose lists have an element a line.
type jsonRows struct {
	out bytes.Buffer
	err error
}

func (w *jsonRows) json(v any) {
	enc := json.NewEncoder(&w.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && w.err == nil {
		w.err = err
	}
	w.out.Truncate(max(w.out.Len()-1, 0)) // the newline
}

func (w *jsonRows) value(before, key string, v any) {
	fmt.Fprintf(&w.out, "%s\n%q: ", before, key)
	w.json(v)
}

func rows[T any](w *jsonRows, key string, list []T) {
	fmt.Fprintf(&w.out, ",\n%q: [", key)
	for i := range list {
		before := ",\n  "
		if i == 0 {
			before = "\n  "
		}
		w.out.WriteString(before)
		w.json(&list[i])
	}
	w.out.WriteString("]")
}

// maxProvenance bounds a stored report, in MiB; one of a run of many workers has some
// hundred kilobytes.
const maxProvenance = 64

// LoadProvenance reads a stored report. A file that is not there is an [fs.ErrNotExist].
func LoadProvenance(path string) (*Provenance, error) {
	data, err := smallfile.Read(path, maxProvenance)
	if err != nil {
		return nil, fmt.Errorf("load port report: %w", err)
	}
	return parseProvenance(path, data)
}

func parseProvenance(path string, data []byte) (*Provenance, error) {
	var p Provenance
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, problem.Errorf(problem.ReportInvalid, "load port report: %s: is not a port report: %w", path, err)
	}
	if p.Version != provenanceVersion {
		return nil, problem.Errorf(problem.ReportInvalid,
			"load port report: %s: has version %d, but this program reads version %d; port again with this program",
			path, p.Version, provenanceVersion)
	}
	return &p, nil
}

func (l layout) todoPath(t Todo) string {
	if t.File == Recipe {
		if p, ok := l.table.Translate(t.Path, l.version); ok {
			return p
		}
	}
	return t.Path
}

// ProvenanceText is the report for people: one row a field, then what was dropped, then the open
// questions. Rows don't depend on one another, so that two reports can be compared line by line.
func (r *Result) ProvenanceText() string {
	l := newLayout(r.Schema)
	var b strings.Builder
	fmt.Fprintf(&b, "port of %s, schema %d: %s\n", oneLine(r.Source), r.Schema, r.SummaryLine())
	for _, a := range r.Artifacts {
		fmt.Fprintf(&b, "artifact  %s: %s\n", oneLine(a.Name), strings.Trim(rules.Join(a.Found, a.Problem), "; "))
	}
	var file File
	for _, f := range r.Fields {
		if f.File != file {
			file = f.File
			fmt.Fprintf(&b, "\n%s\n", file)
		}
		fmt.Fprintf(&b, "  %-10s %s: %s%s%s\n", f.Class, safetext.Clip(f.Written, 200), safetext.Clip(f.Value, 500),
			whence(f.Evidence, f.Value), because(f.Rule, f.Why))
	}
	if len(r.Dropped) > 0 {
		b.WriteString("\ndropped\n")
	}
	for _, d := range r.Dropped {
		from := whence([]Evidence{d.Evidence}, "")
		fmt.Fprintf(&b, "  %s %s%s%s\n", d.From, safetext.Clip(d.Name, 100), from, because(d.Rule, d.Why))
	}
	b.WriteString("\n")
	b.WriteString(r.Proof.Text())
	if len(r.Todos) > 0 {
		b.WriteString("\nopen\n")
	}
	for _, t := range r.Todos {
		where := ""
		if t.File != "" {
			where = strings.TrimSuffix(fmt.Sprintf("%s %s", t.File, safetext.Clip(l.todoPath(t), 200)), " ") + ": "
		}
		fmt.Fprintf(&b, "  %-8s %s%s%s [%s]\n", t.Kind, where, t.Message, whence(t.Evidence, ""), safetext.Clip(t.ID, 300))
		for _, c := range t.Candidates {
			fmt.Fprintf(&b, "    candidate %s%s\n", safetext.Clip(c.Value, 300), size(c.Size))
		}
	}
	if len(r.Answers) > 0 {
		b.WriteString("\nanswers\n")
	}
	for _, a := range r.Answers {
		fmt.Fprintf(&b, "  %s: %s\n", safetext.Clip(a.ID, 300), safetext.Clip(answerEvidence(a).Raw, 500))
	}
	return b.String()
}

func size(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d bytes)", n)
}

// whence spells evidence: artifact:line key=raw, raw only where it says more than the value.
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
			b.WriteString(" " + safetext.Clip(e.Key, 100))
		}
		raw := strings.TrimPrefix(e.Raw, e.Key+"=")
		if raw != "" && raw != value && `"`+raw+`"` != value {
			b.WriteString("=" + safetext.Clip(raw, 300))
		}
	}
	return b.String()
}

func because(rule, why string) string {
	switch {
	case rule == "" && why == "":
		return ""
	case why == "":
		return " | " + safetext.Clip(rule, 300)
	case rule == "":
		return " | " + why
	}
	return " | " + safetext.Clip(rule, 300) + ": " + why
}
