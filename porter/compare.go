package porter

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// ProvenanceDiff is the comparison of two reports. Fields are matched by file and canonical path,
// questions and answers by ID.
type ProvenanceDiff struct {
	Identical   int             `json:"identical"`
	Total       int             `json:"total"` // rows of either report
	Differences []rowDifference `json:"differences"`
}

// rowDifference is a row that differs. A or B is nil if the report has no such row.
type rowDifference struct {
	Row  string   `json:"row"`  // recipe:path, workload:path, dropped …, question … or answer …
	What []string `json:"what"` // JSON keys that differ; empty if A or B is nil
	A    any      `json:"a"`
	B    any      `json:"b"`
}

// DiffProvenance compares two stored reports. Lines and columns of evidence are ignored.
func DiffProvenance(a, b *Provenance) ProvenanceDiff {
	d := ProvenanceDiff{Differences: []rowDifference{}}
	diffRows(&d, a.Fields, b.Fields, redactField, func(f Field) string { return fieldKey(f.File, f.Path) })
	diffRows(&d, a.droppedRows(), b.droppedRows(), redactDropped,
		func(x Dropped) string { return "dropped " + x.From + " " + x.Name })
	diffRows(&d, a.Todos, b.Todos, redactTodo, func(t Todo) string { return "question " + t.ID })
	diffRows(&d, a.Answers, b.Answers, redactAnswer, func(x Answer) string { return "answer " + x.ID })
	return d
}

// droppedRows returns the dropped inputs with canonical paths.
func (p *Provenance) droppedRows() []Dropped {
	out := nonNil(p.Dropped)
	for _, f := range newLayout(p.Schema).table.Fields() {
		for i := range out {
			if out[i].From == f.Path(p.Schema) {
				out[i].From = f.Name()
			}
		}
	}
	return out
}

// diffRows compares rows by name. show returns the copy of a row for display.
func diffRows[T any](d *ProvenanceDiff, a, b []T, show func(T) T, name func(T) string) {
	right := make(map[string]T, len(b))
	for _, r := range b {
		right[name(r)] = r
	}
	seen := make(map[string]bool, len(a))
	for _, l := range a {
		key := name(l)
		seen[key] = true
		d.Total++
		r, ok := right[key]
		what := differingKeys(l, r)
		switch {
		case ok && len(what) == 0:
			d.Identical++
		case ok:
			d.Differences = append(d.Differences, rowDifference{key, what, show(l), show(r)})
		default:
			d.Differences = append(d.Differences, rowDifference{Row: key, What: []string{}, A: show(l)})
		}
	}
	for _, r := range b {
		if key := name(r); !seen[key] {
			d.Total++
			d.Differences = append(d.Differences, rowDifference{Row: key, What: []string{}, B: show(r)})
		}
	}
}

// differingKeys returns the JSON keys of the values in which two rows differ. The written path is
// ignored, since it depends only on the layout.
func differingKeys[T any](a, b T) []string {
	var out []string
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		tag, _, _ := strings.Cut(x.Type().Field(i).Tag.Get("json"), ",")
		if tag != "" && tag != "path" &&
			!reflect.DeepEqual(withoutPosition(x.Field(i).Interface()), withoutPosition(y.Field(i).Interface())) {
			out = append(out, tag)
		}
	}
	return out
}

// withoutPosition removes lines and columns from evidence, so that a longer log makes no
// difference.
func withoutPosition(v any) any {
	switch v := v.(type) {
	case []Evidence:
		out := append([]Evidence(nil), v...)
		for i := range out {
			out[i].Line, out[i].Column = 0, 0
		}
		return out
	case Evidence:
		v.Line, v.Column = 0, 0
		return v
	}
	return v
}

// Text returns the comparison as text: a summary and the differences. a and b are the names of the
// two reports.
func (d ProvenanceDiff) Text(a, b string) string {
	a, b = safetext.Clip(a, 200), safetext.Clip(b, 200)
	var out strings.Builder
	fmt.Fprintf(&out, "%d/%d rows identical\n", d.Identical, d.Total)
	for _, x := range d.Differences {
		out.WriteString(safetext.Clip(x.Row, 300))
		if len(x.What) > 0 {
			out.WriteString(": " + strings.Join(x.What, ", "))
		}
		fmt.Fprintf(&out, "\n  - %s: %s\n  - %s: %s\n", a, rowText(x.A), b, rowText(x.B))
	}
	return out.String()
}

func rowText(row any) string {
	switch r := row.(type) {
	case Field:
		value := safetext.Clip(r.Value, 500)
		return fmt.Sprintf("%s %s%s%s", r.Class, value, evidenceText(r.Evidence, r.Value), ruleText(r.Rule, r.Why))
	case Dropped:
		return strings.TrimSpace(evidenceText([]Evidence{r.Evidence}, "") + ruleText(r.Rule, r.Why))
	case Todo:
		return fmt.Sprintf("%s %s%s", r.Kind, safetext.Clip(r.Message, 400), evidenceText(r.Evidence, ""))
	case Answer:
		return answerEvidence(r).Raw
	}
	return "absent"
}
