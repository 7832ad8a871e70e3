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
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// table is a table of a Markdown text.
type table struct {
	heading string   // the last one above it
	rows    [][]cell // the header first; all have the same length
}

type cell struct {
	position
	text string // without escapes and emphasis
}

var delimiterRow = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`)

// findTables returns the tables of a Markdown text.
func findTables(text string) []table {
	var out []table
	lines := strings.Split(text, "\n")
	heading := ""
	for i := 1; i < len(lines); i++ {
		if title := strings.TrimLeft(lines[i-1], "#"); title != lines[i-1] {
			heading = plainText(strings.TrimSpace(title))
		}
		if !strings.Contains(lines[i-1], "|") || !strings.Contains(lines[i], "|") || !delimiterRow.MatchString(lines[i]) {
			continue
		}
		header := cells(lines[i-1], i)
		if len(header) < 2 || len(cells(lines[i], i+1)) != len(header) {
			continue
		}
		t := table{heading, [][]cell{header}}
		for i++; i < len(lines) && strings.Contains(lines[i], "|"); i++ {
			row := cells(lines[i], i+1)
			for len(row) < len(header) {
				row = append(row, cell{position: position{i + 1, utf8.RuneCountInString(lines[i]) + 1}})
			}
			t.rows = append(t.rows, row[:len(header)])
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
	out := table{t.heading, make([][]cell, len(t.rows[0]))}
	for i := range out.rows {
		for _, row := range t.rows {
			out.rows[i] = append(out.rows[i], row[i])
		}
	}
	return out
}

// requestsLabel is the row of measured requests in our tables.
const requestsLabel = "Measured requests (errors)"

// rowMetrics returns the metrics of the rows of tables by their normalized labels.
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

// figureColumn is a column of figures.
type figureColumn struct {
	table table
	index int
	name  string
}

// parseMarkdown reads the chosen column of figures, and the identity of the run from other tables.
func (f File) parseMarkdown(tables []table) (Set, error) {
	metrics := rowMetrics()
	var columns []figureColumn
	var others []table
	withFigures := 0
	for _, t := range tables {
		if n := t.countKnown(metrics); n == 0 || t.transpose().countKnown(metrics) > n {
			t = t.transpose()
		}
		if t.countKnown(metrics) == 0 {
			others = append(others, t.transpose())
			continue
		}
		withFigures++
		for _, c := range t.valueColumns(metrics) {
			columns = append(columns, figureColumn{t, c, t.rows[0][c].text})
		}
	}
	first := tables[0].rows[0][0].position
	switch {
	case withFigures == 0:
		return Set{}, f.fail(first, "the table has no known row (rows such as %s, %s, TTFT p50)", results.Metrics[0].Label,
			requestsLabel)
	case len(columns) == 0:
		return Set{}, f.fail(first, "the table has no column of figures")
	}
	var names []string
	for i, c := range columns {
		if withFigures > 1 && c.table.heading != "" {
			columns[i].name = c.table.heading + ": " + c.name
		}
		names = append(names, columns[i].name)
	}
	i, err := f.choose(names, "columns of figures")
	if err != nil {
		return Set{}, err
	}
	chosen := columns[i]
	if normalize(chosen.name) == "value" { // of a report of a single run
		chosen.name = ""
	}
	set := Set{Name: chosen.name, StatedBy: "the table", Stated: map[string]Stated{}, Notes: []string{
		"the figures are as printed, rounded",
	}}
	doc := document{}
	if err := f.readColumn(&set, doc, chosen, metrics); err != nil {
		return Set{}, err
	}
	if err := f.readIdentity(&set, doc, chosen.table, chosen.index); err != nil {
		return Set{}, err
	}
	for _, t := range others {
		if c := chosen.in(t); c > 0 {
			if err := f.readIdentity(&set, doc, t, c); err != nil {
				return Set{}, err
			}
		}
	}
	set.Statistics, err = doc.json()
	return set, err
}

// countKnown returns the number of rows with figures.
func (t table) countKnown(metrics map[string][]*results.Metric) int {
	n := 0
	for _, row := range t.rows[1:] {
		if _, ok := metrics[normalize(row[0].text)]; ok {
			n++
		}
	}
	return n
}

// in returns the column of another table that is about the same run, or 0. If that table has a
// single column of values, it is that one.
func (c figureColumn) in(t table) int {
	header, title := t.rows[0], c.table.rows[0][c.index].text
	isNamed := func(c cell) bool { return normalize(c.text) == normalize(title) }
	switch {
	case len(header) == 2:
		return 1
	case c.index < len(header) && isNamed(header[c.index]): // both sides may have the same name
		return c.index
	}
	return slices.IndexFunc(header[1:], isNamed) + 1
}

// otherColumns are the normalized titles of columns that hold no figures. Those of columns of
// intervals are recognized separately.
var otherColumns = []string{
	"δ", "delta", "difference", "change", "tolerance", "flags", "n", "class", "unit", "method", "reasons", "bounds",
	"clientreports", "requests", "",
}

// valueColumns returns the columns of figures: at least half of the nonempty cells of known rows are
// figures or, in a column that has none, numbers in another notation, which is an error if the column
// is chosen.
func (t table) valueColumns(metrics map[string][]*results.Metric) []int {
	var out []int
	for c := 1; c < len(t.rows[0]); c++ {
		title := normalize(t.rows[0][c].text)
		if slices.Contains(otherColumns, title) || strings.HasPrefix(title, "95") || strings.HasPrefix(title, "δ") {
			continue
		}
		read, failed, numbers := 0, 0, 0
		for _, row := range t.rows[1:] {
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
			switch {
			case err == nil:
				read++
			case looksNumeric(row[c].text):
				failed, numbers = failed+1, numbers+1
			default:
				failed++
			}
		}
		if read > 0 && read >= failed || read == 0 && numbers > 0 && numbers == failed {
			out = append(out, c)
		}
	}
	return out
}

// looksNumeric reports whether a text is meant as a number that can't be read.
func looksNumeric(text string) bool {
	text = strings.ToLower(strings.Trim(text, "~≥<>=()+-"+results.Minus+" "))
	return text != "" && (isDigit(rune(text[0])) || slices.Contains([]string{"nan", "inf", "infinity"}, text))
}

// readColumn reads the figures of a column.
func (f File) readColumn(set *Set, doc document, from figureColumn, metrics map[string][]*results.Metric) error {
	seen := map[string]int{}
	var unread []string
	for _, row := range from.table.rows[1:] {
		label, in := normalize(row[0].text), row[from.index]
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
		return nil, problem.Errorf(problem.FiguresInvalid, "%d values, must be %d", len(parts), len(metrics))
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
		return 0, 0, problem.Errorf(
			problem.FiguresInvalid,
			"%q: must be the number of successful requests with that of failed ones, such as 230,509 (0)",
			text,
		)
	}
	if successful, err = count(text); err == nil {
		failed, err = count(inner)
	}
	return successful, failed, err
}

// identityKey returns the key under "about" of a row that identifies the run, or "".
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

// readIdentity reads rows such as "Model" in a column of a table.
func (f File) readIdentity(set *Set, doc document, t table, column int) error {
	for _, row := range t.rows[1:] {
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
