package main

import (
	"encoding/csv"
	"encoding/json"
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/testdata/runstest"
)

// lineOf returns the first line of text that starts with label, after spaces and "|", or "".
func lineOf(text, label string) string {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(strings.TrimLeft(line, " |"), label)
		if ok && (rest[0] == ' ' || rest[0] == '\n') {
			return line
		}
	}
	return ""
}

// decode decodes JSON.
func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	return v
}

// columnOf returns the cells of a column of a CSV table, or nil if it has no such column.
func columnOf(t *testing.T, text, column string) []string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.Index(rows[0], column)
	if i < 0 {
		return nil
	}
	var out []string
	for _, row := range rows[1:] {
		out = append(out, row[i])
	}
	return out
}

// Each metric of the registry must be in every output that it is declared for, with its
// value. Screens have their own tests.
func TestOutputsContainEveryMetric(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	run := s.path("run")
	if err := os.CopyFS(run, os.DirFS(sampleRun)); err != nil {
		t.Fatal(err)
	}
	type figure struct{ Value *float64 }
	type phases struct {
		Phases []struct{ Figures map[string]figure }
		Series []struct{ Buckets []map[string]any }
	}
	text := s.want(0, "results", run).stdout
	exported := s.want(0, "export", run, "--format", "json").stdout
	figures := map[string]map[string]figure{
		"results --json":       decode[phases](t, s.want(0, "results", run, "--json").stdout).Phases[0].Figures,
		"export --format json": decode[phases](t, exported).Phases[0].Figures,
	}
	s.want(0, "rollup", run)
	figures["roll-up"] = decode[struct {
		Ours phases `json:"agentperf_tui"`
	}](t, s.read("run/"+results.RollupFile)).Ours.Phases[0].Figures
	table := s.want(0, "export", run).stdout
	page := regexp.MustCompile(`>\s+<`).ReplaceAllString(s.want(0, "export", run, "--format", "html").stdout, "><")
	page = html.UnescapeString(page)
	for _, m := range results.Metrics {
		f := results.Figure{Key: m.Key}
		for what, all := range figures {
			v := all[m.Key].Value
			if v == nil {
				t.Errorf("%s is not in %s", m.Key, what)
				continue
			}
			f.Value = *v
		}
		if line := lineOf(text, m.Label); !strings.Contains(strings.Join(strings.Fields(line), " "), " "+f.Text()) {
			t.Errorf("results: %s is not %s: %q", m.Label, f.Text(), line)
		}
		if !slices.Contains(columnOf(t, table, "metric"), m.Key) {
			t.Errorf("%s is not in the CSV", m.Key)
		}
		row := "<td>" + m.Label + "</td><td>" + f.Text()
		if !strings.Contains(strings.ReplaceAll(page, "\u00a0", " "), row) {
			t.Errorf("%s is not in the HTML page: no %s", m.Label, row)
		}
	}

	series := s.want(0, "export", run, "--table", "series").stdout
	bucket := decode[phases](t, exported).Series[0].Buckets[0]
	for _, m := range results.TrendMetrics {
		if _, ok := bucket[m.Trend.Key]; !ok || columnOf(t, series, m.Trend.Key) == nil {
			t.Errorf("%s is not in the series", m.Trend.Key)
		}
		if m.Trend.Page != "" && !strings.Contains(page, ">"+m.Trend.Page+"</text>") {
			t.Errorf("%s has no chart on the HTML page", m.Key)
		}
	}

	listed := decode[[]map[string]any](t, s.want(0, "runs", run, "--json").stdout)[0]
	runs := s.want(0, "runs", run).stdout
	watched := s.want(0, "watch", run, "--playback", "100").stdout
	for _, m := range results.Metrics {
		if m.Runs != nil && listed[m.Runs.Key] == nil {
			t.Errorf("%s is not in the JSON of runs", m.Runs.Key)
		}
		if m.Runs != nil && !strings.Contains(runs, m.Runs.Title) {
			t.Errorf("%s is not in the table of runs", m.Runs.Title)
		}
		if m.Watch != "" && !strings.Contains(watched, " · "+m.Watch+" ") {
			t.Errorf("%s is not in the output of watch: %s", m.Watch, watched)
		}
	}
}

// The same for comparisons, including confidence intervals and paired requests.
func TestComparisonsContainEveryMetric(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	run := runstest.Sample(t)
	type part struct {
		Key      string
		Delta    *float64
		Interval *struct{ Method string } `json:"interval_95"`
		Figures  []struct{ Class results.Class }
	}
	c := decode[struct {
		Rows []struct {
			Metric string
			Parts  []part
		}
		Paired map[string]any
	}](t, s.want(0, "parity", run, run, "--paired", "--json").stdout)
	parts, rows := map[string]part{}, map[string]string{}
	for _, r := range c.Rows {
		for _, p := range r.Parts {
			parts[p.Key], rows[p.Key] = p, r.Metric
		}
	}
	text := s.want(0, "parity", run, run).stdout
	markdown := s.want(0, "parity", run, run, "--format", "markdown").stdout
	table := s.want(0, "export", "--parity", run, run).stdout
	page := html.UnescapeString(s.want(0, "export", "--parity", run, run, "--format", "html").stdout)
	for _, m := range results.FilterMetrics(func(m *results.Metric) bool { return m.Parity != nil }) {
		p, ok := parts[m.Key]
		row := rows[m.Key]
		switch {
		case !ok || p.Delta == nil:
			t.Errorf("%s is not in the JSON", m.Key)
		case m.Parity.RowLabel == "" && row != m.Label || m.Parity.RowLabel != "" && row != m.Parity.RowLabel:
			t.Errorf("%s is in the row %q", m.Key, row)
		case (p.Interval != nil) != (m.Formula.Kind != results.ClientReported && p.Figures[0].Class != results.Invalid):
			t.Errorf("%s: interval %v of figures %v", m.Key, p.Interval, p.Figures)
		}
		if !slices.Contains(columnOf(t, table, "key"), m.Key) {
			t.Errorf("%s is not in the CSV", m.Key)
		}
		for what, in := range map[string]string{
			"text": text, "Markdown": markdown,
			"page": strings.ReplaceAll(page, "<td>", "\n"),
		} {
			if lineOf(strings.ReplaceAll(in, "</td>", " "), row) == "" {
				t.Errorf("%s is not in the %s", row, what)
			}
		}
	}
	paired := s.want(0, "parity", run, run, "--paired").stdout
	for _, q := range results.PairedQuantities() {
		if c.Paired[q.Paired().Key] == nil || lineOf(paired, q.Paired().Label) == "" {
			t.Errorf("%s is not among the paired quantities", q.Paired().Label)
		}
	}
}
