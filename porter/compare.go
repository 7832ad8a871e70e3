package porter

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// ProvenanceDiff is two reports compared row by row. Fields are matched by file
// and path of schema 1, questions and answers by ID.
type ProvenanceDiff struct {
	Identical   int              `json:"identical"`
	Total       int              `json:"total"` // rows of either report
	Differences []rowsDifference `json:"differences"`
}

// rowsDifference is a row that differs; an absent side is nil.
type rowsDifference struct {
	Row  string   `json:"row"`  // what is compared: recipe:path, dropped …, question …, answer …
	What []string `json:"what"` // which parts differ; empty where a side is absent
	A    any      `json:"a"`
	B    any      `json:"b"`
}

// DiffProvenance compares two stored reports. Evidence is the same if artifact,
// key and raw value are, wherever in the artifact it stands.
func DiffProvenance(a, b *Provenance) ProvenanceDiff {
	d := ProvenanceDiff{Differences: []rowsDifference{}}
	diffRows(&d, a.Fields, b.Fields, func(f Field) string { return fieldKey(f.File, f.Path) })
	diffRows(&d, a.droppedRows(), b.droppedRows(), func(x Dropped) string { return "dropped " + x.From + " " + x.Name })
	diffRows(&d, a.Todos, b.Todos, func(t Todo) string { return "question " + t.ID })
	diffRows(&d, a.Answers, b.Answers, func(x Answer) string { return "answer " + x.ID })
	return d
}

// droppedRows are the dropped inputs with paths as schema 1 spells them.
func (p *Provenance) droppedRows() []Dropped {
	out := list(p.Dropped)
	for _, f := range newLayout(p.Schema).table.Fields() {
		for i := range out {
			if out[i].From == f.Path(p.Schema) {
				out[i].From = f.Name()
			}
		}
	}
	return out
}

func diffRows[T any](d *ProvenanceDiff, a, b []T, name func(T) string) {
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
		what := differing(l, r)
		switch {
		case ok && len(what) == 0:
			d.Identical++
		case ok:
			d.Differences = append(d.Differences, rowsDifference{key, what, l, r})
		default:
			d.Differences = append(d.Differences, rowsDifference{Row: key, What: []string{}, A: l})
		}
	}
	for _, r := range b {
		if key := name(r); !seen[key] {
			d.Total++
			d.Differences = append(d.Differences, rowsDifference{Row: key, What: []string{}, B: r})
		}
	}
}

// differing names the parts of two rows that differ, as JSON spells them. How a
// path is spelled depends on the layout alone and is no difference.
func differing[T any](a, b T) []string {
	var out []string
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range x.NumField() {
		tag, _, _ := strings.Cut(x.Type().Field(i).Tag.Get("json"), ",")
		if tag != "" && tag != "path" &&
			!reflect.DeepEqual(placeless(x.Field(i).Interface()), placeless(y.Field(i).Interface())) {
			out = append(out, tag)
		}
	}
	return out
}

// placeless drops lines and columns: a longer log alone makes no difference.
func placeless(v any) any {
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

// Text is the comparison for people: a summary, then two lines a difference. The
// names stand for the two reports.
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
		return fmt.Sprintf("%s %s%s%s", r.Class, value, whence(r.Evidence, r.Value), because(r.Rule, r.Why))
	case Dropped:
		return strings.TrimSpace(whence([]Evidence{r.Evidence}, "") + because(r.Rule, r.Why))
	case Todo:
		return fmt.Sprintf("%s %s%s", r.Kind, safetext.Clip(r.Message, 400), whence(r.Evidence, ""))
	case Answer:
		return answerEvidence(r).Raw
	}
	return "not there"
}
