package figurefile

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// aiperfRecords returns the object that holds the metrics of an export of aiperf.
func aiperfRecords(root node) node {
	if records := root.get("records"); records.kind == mapping {
		return records
	}
	return root
}

// aiperfMetric maps the statistics of an aiperf metric to our metrics.
type aiperfMetric struct {
	key         string
	metrics     map[string]string // by statistic
	unit        results.Unit
	countsInput bool // its value depends on who counts input tokens
	countsOut   bool // its value depends on who counts output tokens
	note        string
}

var aiperfMetrics = []aiperfMetric{
	{
		key: "time_to_first_token", unit: results.Seconds,
		metrics: map[string]string{"p50": results.TTFT50, "p95": results.TTFT95, "p99": results.TTFT99},
	},
	{
		key: "inter_token_latency", unit: results.Seconds, countsOut: true,
		metrics: map[string]string{"p50": "itl_p50_s", "p95": "itl_p95_s", "p99": "itl_p99_s"},
	},
	{
		key: "request_latency", unit: results.Seconds,
		metrics: map[string]string{"p50": "e2e_p50_s", "p95": "e2e_p95_s", "p99": results.Latency99},
	},
	{
		key: "output_token_throughput_per_user", unit: results.TokensPerSecond, countsOut: true,
		metrics: map[string]string{
			"p5": "output_speed_local_p5_tok_s", "p25": results.LocalSpeed25, "p50": results.LocalSpeed50,
			"p95": "output_speed_local_p95_tok_s",
		},
	},
	{
		key: "output_sequence_length", unit: results.Tokens, countsOut: true,
		metrics: map[string]string{"avg": results.AvgOutput, "p50": "median_output_per_request"},
	},
	{
		key: "input_sequence_length", unit: results.Tokens, countsInput: true,
		metrics: map[string]string{"avg": "avg_input_per_request"},
	},
}

const outputCounted = "output tokens as counted by the benchmark, not by the server"

func readAiperf(r *exportReader) error {
	records := aiperfRecords(r.root)
	byServer := r.root.find("use_server_token_count").text == "true"
	// Without the server's counts the rate is an estimate of the client.
	rate := aiperfMetric{
		key: "output_token_throughput", unit: results.TokensPerSecond, note: wholeRun,
		metrics: map[string]string{"avg": "output_client_tok_s"},
	}
	if byServer {
		rate.metrics = map[string]string{"avg": results.Primary}
	} else if records.has(rate.key) {
		r.set.Notes = append(r.set.Notes, "output_token_throughput is client-estimated: aiperf counts tokens itself, "+
			"unless it is started with --use-server-token-count")
	}
	for _, m := range append(slices.Clone(aiperfMetrics), rate) {
		note := m.note
		switch {
		case byServer:
		case m.countsOut:
			note = outputCounted
		case m.countsInput:
			note = inputCounted
		}
		for statistic, metric := range m.metrics {
			v, ok, err := r.aiperf(records, m.key, statistic, m.unit)
			if err != nil {
				return err
			}
			if ok && (v > 0 || m.unit == results.Tokens) {
				r.setFigure(metric, v, note)
			}
		}
	}
	if seconds, ok, err := r.aiperf(records, "benchmark_duration", "avg", results.Seconds); err != nil {
		return err
	} else if ok && seconds > 0 {
		r.doc.set(durationPath, seconds)
	}
	if err := r.aiperfRequests(records); err != nil {
		return err
	}
	if users := r.root.find("concurrency"); users.kind == scalar {
		n, err := count(users.text)
		if err != nil {
			return r.file.fail(users.position, "concurrency: %v", err)
		}
		r.doc.set("concurrency", n)
	}
	if names := r.root.find("model_names").strings(); len(names) == 1 {
		r.set.About = map[string]string{"model": names[0]}
	}
	if r.root.get("was_cancelled").text == "true" {
		r.doc.set(stopReasonPath, "interrupted")
	}
	r.noteUnread(records, []unread{
		{"inter_chunk_latency", "gaps between events instead of a mean per request"},
		{"", "no counterpart"},
	})
	return nil
}

// aiperf returns a statistic of a metric, and false if it is unknown.
func (r *exportReader) aiperf(records node, key, statistic string, unit results.Unit) (float64, bool, error) {
	metric := records.get(key)
	n := metric.get(statistic)
	if metric.kind == mapping {
		r.used[key] = true
	}
	switch {
	case n.isNaN():
		r.set.Notes = append(r.set.Notes, fmt.Sprintf("%s is %s: unknown", key+"."+statistic, n.text))
		return 0, false, nil
	case n.kind == none || n.kind == null:
		return 0, false, nil
	case n.kind != scalar:
		return 0, false, r.file.fail(n.position, "%s.%s: must be a number", key, statistic)
	}
	if metric.get("unit").kind != quoted && divisors[unit.Name] != nil {
		return 0, false, r.file.fail(metric.position, "%s: the unit is missing; add it, such as \"unit\": %q", key, unit.Name)
	}
	v, err := number(n.text+" "+metric.get("unit").text, unit.Name)
	if err == nil && v < 0 {
		err = problem.Errorf(problem.FiguresInvalid, "%s is negative", n.text)
	}
	if err != nil {
		return 0, false, r.file.fail(n.position, "%s.%s: %v", key, statistic, err)
	}
	return v, true, nil
}

// aiperfRequests reads the numbers of successful and failed requests.
func (r *exportReader) aiperfRequests(records node) error {
	successful, failed := records.get("request_count", "avg"), records.get("error_request_count", "avg")
	for _, key := range []string{"request_count", "error_request_count", "error_summary"} {
		r.used[key] = true
	}
	if successful.kind != scalar {
		return nil
	}
	n, err := count(successful.text)
	if err != nil {
		return r.file.fail(successful.position, "request_count.avg: %v", err)
	}
	switch errorsByKind := r.root.get("error_summary"); {
	case failed.kind == scalar:
		m, err := count(failed.text)
		if err != nil {
			return r.file.fail(failed.position, "error_request_count.avg: %v", err)
		}
		r.setRequests(n, m)
	case errorsByKind.kind == list:
		var kinds []struct{ Count int }
		if err := json.Unmarshal([]byte(errorsByKind.text), &kinds); err != nil {
			return r.file.fail(errorsByKind.position, "error_summary: %v", err)
		}
		m := 0
		for _, k := range kinds {
			m += k.Count
		}
		r.setRequests(n, m)
	default:
		r.setSuccessful(n)
	}
	return nil
}

// find returns the first value with a key in an object of input_config.
func (n node) find(key string) node {
	at := n.get("input_config")
	if found := at.get(key); found.kind != none {
		return found
	}
	for _, f := range at.fields {
		if found := f.value.get(key); found.kind != none {
			return found
		}
	}
	return node{}
}
