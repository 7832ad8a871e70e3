package runs

import (
	"strconv"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// columns returns the columns of the table. In a narrow terminal DETAILS is dropped first,
// then the job id, the TTFT and the age.
func columns() []ui.Column {
	out := []ui.Column{
		{Title: "STATE", Min: 11},
		{Title: "RUN", Min: 16, Max: 40},
		{Title: "JOB", Drop: 3},
		{Title: "CONC", Right: true},
	}
	for _, m := range results.RunsColumnMetrics {
		out = append(out, ui.Column{Title: m.Runs.Title, Right: true, Drop: m.Runs.Drop})
	}
	return append(out, ui.Column{Title: "AGE", Right: true, Drop: 1},
		ui.Column{Title: "DETAILS", Min: 8, Drop: 4, Flex: true})
}

func row(r engine.Summary, now time.Time, marked bool) []ui.Cell {
	mark, role := ui.StateMark(string(r.State))
	name := r.Name
	if marked {
		name = "◆ " + name
	}
	details := ui.Cell{Text: r.Source, Role: ui.Muted}
	if r.Message != "" && r.State != event.Done {
		details = ui.Cell{Text: r.Message, Role: role}
	}
	since := "-"
	if !r.Since.IsZero() {
		since = ui.Age(now.Sub(r.Since))
	}
	out := []ui.Cell{
		{Text: mark + " " + ui.StateText(string(r.State)), Role: role},
		{Text: name},
		{Text: r.ID, Role: ui.Muted},
		{Text: levels(r.Levels)},
	}
	for _, m := range results.RunsColumnMetrics {
		f := r.Figures.Get(m.Key)
		cell := ui.Cell{Text: f.Marked(m.RunsText(f.Value, m.Runs.Decimals))}
		if f.IsInvalid() {
			cell.Role = ui.Warn
		}
		out = append(out, cell)
	}
	return append(out, ui.Cell{Text: since, Role: ui.Muted}, details)
}

func levels(ls []int) string {
	parts := make([]string, 0, len(ls))
	for _, l := range ls {
		parts = append(parts, strconv.Itoa(l))
	}
	return strings.Join(parts, ",")
}

func countCancellable(rs []engine.Summary) int {
	n := 0
	for _, r := range rs {
		if cancellable(r) {
			n++
		}
	}
	return n
}

// cancellable reports whether a run was submitted by this program and is known not to have
// ended: it may be running, starting or pending.
func cancellable(r engine.Summary) bool {
	return r.ID != "" && !r.State.Final() && r.State != event.Unknown && r.State != ""
}

func matchesFilter(r engine.Summary, filter string) bool {
	state := ui.StateText(string(r.State))
	text := strings.Join([]string{r.Name, r.ID, state, r.Source, r.Message, levels(r.Levels)}, " ")
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(strings.ToLower(text), word) {
			return false
		}
	}
	return true
}

func lastMessage(r engine.Summary, now time.Time) string {
	if r.Message != "" {
		return r.Message
	}
	if r.Status.Last.IsZero() {
		return "external run"
	}
	what := "last activity: "
	if r.State.Final() {
		what = "ended: "
	}
	return what + ago(now.Sub(r.Status.Last)) + r.Status.Last.Local().Format(", 2006-01-02 15:04")
}

// ago formats a duration as "5 m ago" or "just now".
func ago(d time.Duration) string {
	if text := ui.Ago(d); text != "now" {
		return text
	}
	return "just now"
}

// progress returns the elapsed and planned seconds of the current part of a phase.
func progress(r engine.Summary, now time.Time) (done, total float64, what string) {
	if len(r.Status.Phases) == 0 || r.State.Final() {
		return 0, 0, ""
	}
	mark := r.Status.Phases[len(r.Status.Phases)-1]
	for _, p := range r.Plan {
		if p.Index != mark.Phase || !p.Known() {
			continue
		}
		for _, part := range []struct {
			since   time.Time
			seconds float64
			what    string
		}{
			{mark.Measuring, p.TimeoutSeconds - p.RampSeconds - p.SettlingSeconds, "measuring"},
			{mark.Settling, p.SettlingSeconds, "settling"},
			{mark.Ramp, p.RampSeconds, "ramp-up"},
		} {
			if !part.since.IsZero() {
				return max(now.Sub(part.since).Seconds(), 0), part.seconds, part.what
			}
		}
	}
	return 0, 0, ""
}
