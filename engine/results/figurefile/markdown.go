package figurefile

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// table is a table of a Markdown text, its header first. All rows have the same length.
type table [][]cell

type cell struct {
	position
	text string // without escapes and emphasis
}

var delimiterRow = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`)

// findTables returns the tables of a Markdown text.
func findTables(text string) []table {
	var out []table
	lines := strings.Split(text, "\n")
	for i := 1; i < len(lines); i++ {
		if !strings.Contains(lines[i-1], "|") || !strings.Contains(lines[i], "|") || !delimiterRow.MatchString(lines[i]) {
			continue
		}
		t := table{cells(lines[i-1], i)}
		if len(t[0]) < 2 || len(cells(lines[i], i+1)) != len(t[0]) {
			continue
		}
		for i++; i < len(lines) && strings.Contains(lines[i], "|"); i++ {
			row := cells(lines[i], i+1)
			for len(row) < len(t[0]) {
				row = append(row, cell{position: position{i + 1, utf8.RuneCountInString(lines[i]) + 1}})
			}
			t = append(t, row[:len(t[0])])
		}
		out = append(out, t)
	}
	return out
}

// cells splits a row at its pipes, unless they are escaped.
func cells(line string, number int) []cell {
	var out []cell
	start := 0
	add := func(end int) {
		raw := line[start:end]
		trimmed := strings.TrimLeft(raw, " \t\r")
		column := utf8.RuneCountInString(line[:start+len(raw)-len(trimmed)]) + 1
		out = append(out, cell{position{number, column}, plainText(strings.TrimSpace(raw))})
		start = end + 1
	}
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '|':
			add(i)
		}
	}
	if strings.TrimSpace(line[min(start, len(line)):]) != "" {
		add(len(line))
	}
	if strings.HasPrefix(strings.TrimSpace(line), "|") {
		out = out[1:]
	}
	return out
}

var escapes = regexp.MustCompile("\\\\[!-/:-@\\[-`{-~]|\\*\\*|`")

// plainText removes escapes, emphasis and code marks of Markdown.
func plainText(text string) string {
	return html.UnescapeString(escapes.ReplaceAllStringFunc(text, func(s string) string {
		if s[0] == '\\' {
			return s[1:]
		}
		return ""
	}))
}

// normalize returns the letters and digits of a label in lower case.
func normalize(label string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, label)
}

// transpose exchanges rows and columns.
func (t table) transpose() table {
	out := make(table, len(t[0]))
	for i := range out {
		for _, row := range t {
			out[i] = append(out[i], row[i])
		}
	}
	return out
}

// requestsLabel is the row of measured requests in our tables.
const requestsLabel = "Measured requests (errors)"

// rows returns the metrics of the rows of tables by their normalized labels.
func rowMetrics() map[string][]*results.Metric {
	out := map[string][]*results.Metric{normalize(requestsLabel): nil}
	for _, m := range results.Metrics {
		for _, label := range []string{m.Label, m.Short, m.Key, pathOf(m)} {
			if label != "" {
				out[normalize(label)] = []*results.Metric{m}
			}
		}
	}
	for _, m := range results.Metrics {
		if m.Parity != nil && m.Parity.RowLabel != "" {
			label := normalize(m.Parity.RowLabel)
			out[label] = append(out[label], m)
		}
	}
	return out
}

// parseMarkdown reads a column of the table with the most known rows, and the identity of the run
// from the others.
func (f File) parseMarkdown(tables []table) (Set, error) {
	metrics := rowMetrics()
	known := func(t table) int {
		n := 0
		for _, row := range t {
			if _, ok := metrics[normalize(row[0].text)]; ok {
				n++
			}
		}
		return n
	}
	var best table
	for _, t := range tables {
		for _, t := range []table{t, t.transpose()} {
			if known(t) > 0 && (best == nil || known(t) > known(best)) {
				best = t
			}
		}
	}
	if best == nil {
		return Set{}, f.fail(tables[0][0][0].position, "the table has no known row (rows such as %s, %s, TTFT p50)",
			results.Metrics[0].Label, requestsLabel)
	}
	columns, err := f.valueColumns(best, metrics)
	if err != nil {
		return Set{}, err
	}
	var names []string
	for _, c := range columns {
		names = append(names, best[0][c].text)
	}
	i, err := f.choose(names, "columns of figures")
	if err != nil {
		return Set{}, err
	}
	set := Set{Name: names[i], StatedBy: "the table", Stated: map[string]Stated{}, Notes: []string{
		"the figures are as printed, rounded",
	}}
	doc := document{}
	if err := f.readColumn(&set, doc, best, columns[i], metrics); err != nil {
		return Set{}, err
	}
	for _, t := range tables {
		if err := f.readIdentity(&set, doc, t, names[i], i); err != nil {
			return Set{}, err
		}
	}
	set.Statistics, err = doc.json()
	return set, err
}

// otherColumns are the normalized titles of columns that hold no figures, besides those of
// intervals.
var otherColumns = []string{
	"δ", "delta", "difference", "change", "tolerance", "flags", "n", "class", "unit", "method", "reasons", "bounds",
	"clientreports", "requests", "",
}

// valueColumns returns the columns that hold figures in at least half of the known rows with a
// value.
func (f File) valueColumns(t table, metrics map[string][]*results.Metric) ([]int, error) {
	var out []int
	for c := 1; c < len(t[0]); c++ {
		title := normalize(t[0][c].text)
		if slices.Contains(otherColumns, title) || strings.HasPrefix(title, "95") {
			continue
		}
		read, failed := 0, 0
		for _, row := range t[1:] {
			ms, known := metrics[normalize(row[0].text)]
			if !known || isUnknown(row[c].text) {
				continue
			}
			err := error(nil)
			if ms == nil {
				_, _, err = requests(row[c].text)
			} else {
				_, err = readCell(row[c].text, ms)
			}
			if err != nil {
				failed++
			} else {
				read++
			}
		}
		if read > 0 && read >= failed {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, f.fail(t[0][0].position, "the table has no column of figures")
	}
	return out, nil
}

// readColumn reads the figures of a column.
func (f File) readColumn(set *Set, doc document, t table, column int, metrics map[string][]*results.Metric) error {
	seen := map[string]int{}
	var unread []string
	for _, row := range t[1:] {
		label, in := normalize(row[0].text), row[column]
		ms, known := metrics[label]
		switch {
		case !known && identityKey(label, f.About) == "" && label != "" && !isUnknown(in.text):
			unread = append(unread, fmt.Sprintf("%q%s", row[0].text, didYouMean(nearestLabel(row[0].text))))
			continue
		case !known || isUnknown(in.text):
			continue
		case seen[label] > 0:
			return f.fail(row[0].position, "%s: the row occurs twice, first in line %d", row[0].text, seen[label])
		}
		seen[label] = row[0].line
		if ms == nil {
			successful, failed, err := requests(in.text)
			if err != nil {
				return f.fail(in.position, "%s: %v", row[0].text, err)
			}
			doc.set("requests.successful", successful)
			doc.set("requests.failed", failed)
			doc.set("requests.measured", successful+failed)
			continue
		}
		read, err := readCell(in.text, ms)
		if err != nil {
			return f.fail(in.position, "%s: %v", row[0].text, err)
		}
		for i, m := range ms {
			if !math.IsNaN(read[i].value) {
				doc.set(pathOf(m), read[i].value)
				set.Stated[m.Key] = read[i].Stated
			}
		}
	}
	if len(unread) > 0 {
		set.Notes = append(set.Notes, "rows of the table not read: "+strings.Join(unread, ", "))
	}
	return nil
}

// nearestLabel returns the label of the metric that a label resembles, or "".
func nearestLabel(label string) string {
	var labels []string
	for _, m := range results.Metrics {
		labels = append(labels, m.Label)
	}
	return schema.Nearest(label, append(labels, requestsLabel))
}

func isUnknown(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return slices.Contains([]string{"", "-", "–", "—", "n/a", "unknown", results.Minus}, text)
}

// cellFigure is a figure of a cell; its value is NaN if it is unknown.
type cellFigure struct {
	value float64
	Stated
}

// readCell reads the figures of a cell, such as "77.5 / 138.3 tok/s", "≥ 12 tok/s !" and "12.0 ±0.4 s".
func readCell(text string, metrics []*results.Metric) ([]cellFigure, error) {
	text, invalid := strings.CutSuffix(strings.TrimSpace(text), "!")
	text, unit := splitUnit(strings.TrimSpace(text))
	parts := strings.Split(text, " / ")
	if len(parts) != len(metrics) {
		return nil, fmt.Errorf("%d values, must be %d", len(parts), len(metrics))
	}
	var out []cellFigure
	for i, m := range metrics {
		read, err := readPart(strings.TrimSpace(parts[i]), unit, m)
		if err != nil {
			return nil, err
		}
		if invalid {
			read.Reasons = append(read.Reasons, results.Reason{
				ID: results.StatedInvalid, Text: "marked as invalid in the table", Class: results.Invalid,
			})
		}
		out = append(out, read)
	}
	return out, nil
}

// splitUnit splits the unit off a text with numbers.
func splitUnit(text string) (numbers, unit string) {
	end := strings.LastIndexFunc(text, func(r rune) bool { return isDigit(r) || strings.ContainsRune("-–—", r) })
	if end < 0 {
		return text, ""
	}
	_, size := utf8.DecodeRuneInString(text[end:])
	return text[:end+size], strings.TrimSpace(text[end+size:])
}

func readPart(text, unit string, m *results.Metric) (cellFigure, error) {
	out := cellFigure{value: math.NaN()}
	if isUnknown(text) {
		return out, nil
	}
	if rest, ok := strings.CutPrefix(text, "~"); ok {
		text, out.Provisional = strings.TrimSpace(rest), true
	}
	for _, sign := range []string{"≥", ">="} {
		if rest, ok := strings.CutPrefix(text, sign); ok {
			out.AtLeast, text = true, strings.TrimSpace(rest)
		}
	}
	text, width, interval := strings.Cut(text, "±")
	var err error
	if out.value, err = figure(strings.TrimSpace(text)+unit, m); err == nil && interval {
		out.Width, err = number(strings.TrimSpace(width)+unit, m.Unit.Name)
	}
	return out, err
}

// requests reads a number of successful requests with that of failed ones in parentheses.
func requests(text string) (successful, failed int, err error) {
	text, inner, _ := strings.Cut(text, "(")
	inner, closed := strings.CutSuffix(strings.TrimSpace(inner), ")")
	if !closed {
		return 0, 0, fmt.Errorf("%q: must be the number of successful requests with that of failed ones, such as 230,509 (0)",
			text)
	}
	if successful, err = count(text); err == nil {
		failed, err = count(inner)
	}
	return successful, failed, err
}

// identityKey returns the key under about of a row with identity, or "".
func identityKey(label string, about []string) string {
	for _, key := range about {
		if key != "name" && normalize(key) == label {
			return key
		}
	}
	if label == "concurrency" || label == "phase" {
		return label
	}
	if label == "measuringwindow" {
		return durationPath
	}
	return ""
}

// readIdentity reads rows such as "Model" of a table that has a column of the same name as the
// chosen one or, in a table of a single column, that one.
func (f File) readIdentity(set *Set, doc document, t table, name string, index int) error {
	isNamed := func(c cell) bool { return normalize(c.text) == normalize(name) }
	column := slices.IndexFunc(t[0][1:], isNamed) + 1
	switch {
	case index+1 < len(t[0]) && isNamed(t[0][index+1]): // both sides may have the same name
		column = index + 1
	case len(t[0]) == 2 && index == 0:
		column = 1
	}
	if column == 0 {
		return nil
	}
	for _, row := range t[1:] {
		key, in := identityKey(normalize(row[0].text), f.About), row[column]
		if key == "" || isUnknown(in.text) {
			continue
		}
		switch key {
		case "concurrency", "phase":
			n, err := count(in.text)
			if err != nil {
				return f.fail(in.position, "%s: %v", row[0].text, err)
			}
			doc.set(key, n)
		case durationPath:
			text, _, _ := strings.Cut(in.text, " (")
			seconds, err := number(text, results.Seconds.Name)
			if err != nil {
				return f.fail(in.position, "%s: %v", row[0].text, err)
			}
			doc.set(key, seconds)
		default:
			if set.About == nil {
				set.About = map[string]string{}
			}
			set.About[key] = in.text
		}
	}
	return nil
}
