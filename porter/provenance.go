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

// provenanceVersion is incremented when the meaning of a key changes.
const provenanceVersion = 1

// Provenance is the report of a port as it is stored next to the recipe. The order of keys is
// stable, so that two reports can be compared line by line. It does not depend on the machine or
// the time.
type Provenance struct {
	Version   int           `json:"version"`
	Source    string        `json:"source"`
	Schema    int           `json:"schema"`
	Summary   map[Class]int `json:"summary"`
	Artifacts []Artifact    `json:"artifacts"`
	Fields    []Field       `json:"fields"`
	Dropped   []Dropped     `json:"dropped"`
	Proof     Proof         `json:"proof"`
	Todos     []Todo        `json:"todos"`   // open; paths of the written layout
	Answers   []Answer      `json:"answers"` // applied again when the recipe is ported again
	// Texts are the files as written; empty in a report of an older program.
	Texts map[File]string `json:"texts,omitempty"`
}

// provenance returns the stored form of the result.
func (r *Result) provenance() *Provenance {
	l := newLayout(r.Schema)
	p := &Provenance{
		Version: provenanceVersion, Source: r.Source, Schema: r.Schema, Summary: r.Summary(), Proof: r.Proof,
		Artifacts: nonNil(r.Artifacts), Fields: nonNil(r.Fields), Dropped: nonNil(r.Dropped),
		Todos: nonNil(r.Todos), Answers: nonNil(r.Answers),
	}
	for i := range p.Fields {
		p.Fields[i].Evidence = nonNil(p.Fields[i].Evidence)
	}
	for i := range p.Todos {
		p.Todos[i].Path = l.todoPath(p.Todos[i])
	}
	return p
}

// nonNil copies a slice. A nil slice becomes an empty one, which is stored as [] instead of null.
func nonNil[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }

// ProvenanceJSON returns the report as JSON with one row per line, so that reports can be compared
// line by line.
func (r *Result) ProvenanceJSON() ([]byte, error) {
	p, err := r.provenanceWithTexts()
	if err != nil {
		return nil, err
	}
	return p.json()
}

// ShownJSON returns the report as JSON for display: like [Result.ProvenanceJSON], but without secrets.
func (r *Result) ShownJSON() ([]byte, error) {
	p, err := r.provenanceWithTexts()
	if err != nil {
		return nil, err
	}
	return p.redacted().json()
}

func (r *Result) provenanceWithTexts() (*Provenance, error) {
	p := r.provenance()
	recipe, err := r.RecipeYAML()
	if err != nil {
		return nil, err
	}
	workload, err := r.WorkloadYAML()
	if err != nil {
		return nil, err
	}
	p.Texts = map[File]string{Recipe: string(recipe), Workload: string(workload)}
	return p, nil
}

func (p *Provenance) json() ([]byte, error) {
	w := jsonRows{}
	w.out.Grow(1024 * (len(p.Fields) + 1))
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
	w.value(",", "texts", p.Texts)
	w.out.WriteString("\n}\n")
	if w.err != nil {
		return nil, fmt.Errorf("write port report of %s: %w", p.Source, w.err)
	}
	return w.out.Bytes(), nil
}

// jsonRows writes a JSON object whose lists have one element per line.
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

// maxProvenance bounds a stored report, in MiB. The report of a large run has several hundred kilobytes.
const maxProvenance = 64

// LoadProvenance reads a stored report. The error is an [fs.ErrNotExist] if there is none.
func LoadProvenance(path string) (*Provenance, error) {
	var p Provenance
	if err := loadReport(path, &p, &p.Version); err != nil {
		return nil, err
	}
	return &p, nil
}

// loadReport reads a stored report, or a part of it, and checks its version.
func loadReport(path string, p any, version *int) error {
	data, err := smallfile.Read(path, maxProvenance)
	if err != nil {
		return fmt.Errorf("load port report: %w", err)
	}
	return unmarshalReport(path, data, p, version)
}

// loadAnswers reads only the answers of a stored report, which is faster.
func loadAnswers(path string) ([]Answer, error) {
	var p struct {
		Version int
		Answers []Answer
	}
	err := loadReport(path, &p, &p.Version)
	return p.Answers, err
}

// unmarshalReport decodes a stored report, or a part of it, and checks its version.
func unmarshalReport(path string, data []byte, p any, version *int) error {
	if err := json.Unmarshal(smallfile.TrimBOM(data), p); err != nil {
		return problem.Errorf(problem.ReportInvalid, "load port report: %s: is not a port report: %w", path, err)
	}
	if *version != provenanceVersion {
		return problem.Errorf(problem.ReportInvalid,
			"load port report: %s: has version %d, but this program reads version %d; port again with this program",
			path, *version, provenanceVersion)
	}
	return nil
}

func (l recipeLayout) todoPath(t Todo) string {
	if t.File == Recipe {
		if p, ok := l.table.Translate(t.Path, l.version); ok {
			return p
		}
	}
	return t.Path
}

// ProvenanceText returns the report as text: fields, dropped inputs, proof, questions and answers.
// Two reports can be compared line by line. Unlike the stored report, it shows the times of files.
func (r *Result) ProvenanceText() string {
	l := newLayout(r.Schema)
	var b strings.Builder
	fmt.Fprintf(&b, "port of %s, schema %d: %s\n", oneLine(r.Source), r.Schema, r.SummaryLine())
	for _, a := range r.Artifacts {
		fmt.Fprintf(&b, "artifact  %s: %s\n", oneLine(a.Name), strings.Trim(rules.Join(a.Found, a.Problem), "; "))
	}
	var file File
	for _, f := range r.Fields {
		f = redactField(f)
		if f.File != file {
			file = f.File
			fmt.Fprintf(&b, "\n%s\n", file)
		}
		fmt.Fprintf(&b, "  %-10s %s: %s%s%s\n", f.Class, safetext.Clip(f.Written, 200), safetext.Clip(f.Value, 500),
			evidenceText(f.Evidence, f.Value), ruleText(f.Rule, f.Why))
	}
	if len(r.Dropped) > 0 {
		b.WriteString("\ndropped\n")
	}
	for _, d := range r.Dropped {
		from := evidenceText(evidence(redactEvidence(d.Evidence)), "")
		fmt.Fprintf(&b, "  %s %s%s%s\n", d.From, safetext.Clip(d.Name, 100), from, ruleText(d.Rule, d.Why))
	}
	b.WriteString("\n")
	b.WriteString(r.Proof.Text())
	if len(r.Todos) > 0 {
		fmt.Fprintf(&b, "\nquestions (%d must fix, %d to confirm)\n", r.CountOpen(MustFix), r.CountOpen(Confirm))
	}
	for _, t := range r.Todos {
		where := ""
		if t.File != "" {
			where = strings.TrimSuffix(fmt.Sprintf("%s %s", t.File, safetext.Clip(l.todoPath(t), 200)), " ") + ": "
		}
		fmt.Fprintf(&b, "  %-8s %s%s%s [%s]\n", t.Kind, where, t.Message,
			evidenceText(redactAll(t.Evidence), ""), safetext.Clip(t.ID, 300))
		for _, line := range t.Details {
			fmt.Fprintf(&b, "    %s\n", safetext.Clip(line, 300))
		}
		for _, c := range t.Candidates {
			fmt.Fprintf(&b, "    candidate %s%s\n", safetext.Clip(c.Value, 300), fileText(c))
		}
	}
	if len(r.Answers) > 0 {
		b.WriteString("\nanswers\n")
	}
	for _, a := range r.Answers {
		fmt.Fprintf(&b, "  %s: %s\n", safetext.Clip(a.ID, 300), safetext.Clip(answerEvidence(redactAnswer(a)).Raw, 500))
	}
	return b.String()
}

// fileText describes the file of a candidate.
func fileText(c Candidate) string {
	if c.Size == 0 {
		return ""
	}
	text := fmt.Sprintf("%d bytes", c.Size)
	if !c.Modified.IsZero() {
		text += ", " + c.Modified.UTC().Format("2006-01-02 15:04 UTC")
	}
	if c.SHA256 != "" {
		text += ", sha256 " + c.SHA256[:12]
	}
	return " (" + text + ")"
}

// evidenceText formats evidence as artifact:line key=raw. It omits raw if it equals the value.
func evidenceText(evs []Evidence, value string) string {
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
		raw := e.Raw
		if rest, ok := strings.CutPrefix(raw, e.Key); ok && e.Key != "" {
			raw = strings.TrimLeft(rest, "=: ")
		}
		if raw != "" && raw != value && `"`+raw+`"` != value {
			b.WriteString("=" + safetext.Clip(raw, 300))
		}
	}
	return b.String()
}

func ruleText(rule, why string) string {
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
