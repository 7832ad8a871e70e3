package figurefile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// tool is a benchmark tool whose exports are read.
type tool struct {
	name string
	has  func(root node) bool
	read func(*exportReader) error
}

var tools = []*tool{
	{"aiperf", func(n node) bool {
		return slices.ContainsFunc(aiperfRecords(n).fields, func(f field) bool {
			return f.value.get("unit").kind == quoted && f.value.get("avg").kind != none
		})
	}, readAiperf},
	{"SGLang bench_serving", func(n node) bool {
		return n.has("completed", "duration") && (n.has("output_throughput") || n.has("total_output_tokens")) &&
			(n.has("input_throughput") || n.has("median_e2e_latency_ms") || n.has("total_output_tokens_retokenized"))
	}, readServing},
	{"vLLM bench serve", func(n node) bool {
		return n.has("completed", "duration") &&
			(n.has("output_throughput", "total_token_throughput") || n.has("total_output_tokens"))
	}, readServing},
}

func (n node) has(keys ...string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return n.get(key).kind == none })
}

// toolOf returns the tool that wrote an object, or nil if it is not an export.
func toolOf(root node) *tool {
	if i := slices.IndexFunc(tools, func(t *tool) bool { return t.has(root) }); i >= 0 {
		return tools[i]
	}
	return nil
}

// parseExport reads the chosen run of an export, which has one object for each run.
func (f File) parseExport(t *tool, roots []node) (Set, error) {
	var names []string
	for _, root := range roots {
		name := fmt.Sprintf("line %d", root.line)
		for _, key := range []string{"tag", "label", "max_concurrency", "request_rate"} {
			if v := root.get(key); v.kind == scalar || v.kind == quoted && v.text != "" {
				name += ", " + key + " " + v.text
			}
		}
		names = append(names, name)
	}
	i, err := f.choose(names, "runs")
	if err != nil {
		return Set{}, err
	}
	if other := toolOf(roots[i]); other != t {
		return Set{}, f.fail(roots[i].position, "is not a run of %s as the first one is", t.name)
	}
	r := exportReader{
		file: f, root: roots[i], doc: document{}, set: Set{StatedBy: t.name, Stated: map[string]Stated{}},
		used: map[string]bool{},
	}
	if err := t.read(&r); err != nil {
		return Set{}, err
	}
	r.set.Statistics, err = r.doc.json()
	return r.set, err
}

// exportReader reads a run of an export.
type exportReader struct {
	file File
	root node
	doc  document
	set  Set
	used map[string]bool // keys of root that were read
}

// mappedKey maps a key of an export to a metric.
type mappedKey struct {
	key     string
	metric  string
	divisor float64
	note    string // how its definition differs
}

// number returns the number under a key, and false if it is unknown.
func (r *exportReader) number(key string) (float64, bool, error) {
	n := r.root.get(key)
	r.used[key] = true
	switch {
	case n.isNaN():
		r.set.Notes = append(r.set.Notes, fmt.Sprintf("%s is %s: unknown", key, n.text))
		return 0, false, nil
	case n.kind == none || n.kind == null:
		return 0, false, nil
	case n.kind != scalar:
		return 0, false, r.file.fail(n.position, "%s: must be a number", key)
	}
	v, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		return 0, false, r.file.fail(n.position, "%s: %q is not a number", key, n.text)
	}
	if v < 0 {
		return 0, false, r.file.fail(n.position, "%s: %s is negative", key, n.text)
	}
	return v, true, nil
}

// setFigure sets a figure. If a metric is set more than once, the first value counts.
func (r *exportReader) setFigure(metric string, value float64, note string) {
	if _, has := r.set.Stated[metric]; has {
		return
	}
	stated := Stated{}
	if note != "" {
		stated.Reasons = []results.Reason{{ID: results.OtherDefinition, Text: note, Class: results.Exact}}
	}
	r.set.Stated[metric] = stated
	r.doc.set(pathOf(results.FindMetric(metric)), value)
}

func (r *exportReader) readMapped(keys []mappedKey) error {
	for _, k := range keys {
		v, ok, err := r.number(k.key)
		if err != nil {
			return err
		}
		// The tools write 0 for latencies that they do not have.
		if !ok || v == 0 && k.divisor != 1 {
			continue
		}
		r.setFigure(k.metric, v/k.divisor, k.note)
	}
	return nil
}

// wholeRun says how the rates of other tools differ from ours.
const wholeRun = "over the whole benchmark, with ramp-up and drain, not over a measuring window"

const inputCounted = "input tokens as counted by the benchmark, not by the server"

// servingKeys are keys of vLLM bench serve and SGLang bench_serving.
func servingKeys() []mappedKey {
	keys := []mappedKey{
		{"output_throughput", results.Primary, 1, wholeRun},
		{"total_token_throughput", results.TotalRate, 1, inputCounted + "; " + wholeRun},
		{"total_throughput", results.TotalRate, 1, inputCounted + "; " + wholeRun},
		{"total_input_tokens", "input_tokens", 1, inputCounted},
		{"total_output_tokens", results.OutputSum, 1, ""},
	}
	for _, family := range []struct{ in, out string }{
		{"ttft_ms", "ttft_%s_s"},
		{"tpot_ms", "itl_%s_s"}, // per request, as ours; their ITL is of gaps between events
		{"e2el_ms", "e2e_%s_s"},
		{"e2e_latency_ms", "e2e_%s_s"},
	} {
		for _, p := range [][2]string{{"median", "p50"}, {"p50", "p50"}, {"p95", "p95"}, {"p99", "p99"}} {
			keys = append(keys, mappedKey{p[0] + "_" + family.in, fmt.Sprintf(family.out, p[1]), 1000, ""})
		}
	}
	return keys
}

func readServing(r *exportReader) error {
	completed, known, err := r.count("completed")
	if err != nil {
		return err
	}
	if known && completed == 0 {
		return r.file.fail(
			r.root.get("completed").position,
			"completed: 0; a run without a completed request has no figures",
		)
	}
	if err := r.readRequests(completed); err != nil {
		return err
	}
	if err := r.readMapped(servingKeys()); err != nil {
		return err
	}
	if seconds, ok, err := r.number("duration"); err != nil {
		return err
	} else if ok && seconds > 0 {
		r.doc.set(durationPath, seconds)
	}
	in, hasIn, err := r.number("input_throughput")
	if err != nil {
		return err
	}
	if out, ok, _ := r.number("output_throughput"); ok && hasIn {
		r.setFigure(results.TotalRate, in+out, inputCounted+"; "+wholeRun)
	}
	for _, avg := range []mappedKey{
		{"total_input_tokens", "avg_input_per_request", float64(completed), inputCounted},
		{"total_output_tokens", results.AvgOutput, float64(completed), ""},
	} {
		if sum, ok, _ := r.number(avg.key); ok && completed > 0 {
			r.setFigure(avg.metric, sum/avg.divisor, avg.note)
		}
	}
	for _, key := range []string{"model_id", "model"} {
		r.setModel(r.root.get(key))
	}
	r.noteUnread(r.root, []unread{
		{"_itl_ms", "gaps between events instead of a mean per request"},
		{"_retokenized", "tokens counted by the benchmark"},
		{"", "no counterpart"},
	})
	return nil
}

func (r *exportReader) setModel(n node) {
	if n.kind == quoted && n.text != "" && r.set.About["model"] == "" {
		r.set.About = map[string]string{"model": n.text}
	}
}

// count returns the whole number under a key, and false if it is unknown.
func (r *exportReader) count(key string) (int, bool, error) {
	v, ok, err := r.number(key)
	if err == nil && v != float64(int(v)) {
		err = r.file.fail(r.root.get(key).position, "%s: must be a whole number", key)
	}
	return int(v), ok, err
}

// readRequests reads the number of failed requests and of users.
func (r *exportReader) readRequests(completed int) error {
	failed, known, err := r.count("failed")
	if err != nil {
		return err
	}
	if sent, ok, err := r.count("num_prompts"); err != nil {
		return err
	} else if !known && ok && sent >= completed {
		failed, known = sent-completed, true
	}
	if known {
		r.setRequests(completed, failed)
	} else {
		r.setSuccessful(completed)
	}
	users, ok, err := r.count("max_concurrency")
	if ok && users > 0 {
		r.doc.set("concurrency", users)
	}
	if rate := r.root.get("request_rate"); rate.kind == scalar && rate.text != "0" {
		r.set.Notes = append(r.set.Notes, fmt.Sprintf(
			"requests were sent at a rate of %s per second, not by users that wait for their answers", rate.text))
	}
	r.used["request_rate"] = true
	return err
}

func (r *exportReader) setRequests(successful, failed int) {
	r.doc.set("requests.successful", successful)
	r.doc.set("requests.failed", failed)
	r.doc.set("requests.measured", successful+failed)
}

// setSuccessful sets the number of successful requests if that of failed ones is unknown.
func (r *exportReader) setSuccessful(n int) {
	r.doc.set("requests.successful", n)
	r.set.Notes = append(r.set.Notes, results.Count(n)+" requests completed; the number of failed ones is not stated")
}

// unread says why keys with a suffix are not read.
type unread struct{ suffix, why string }

// noteUnread adds a note that lists the numbers and lists of an object that were not read.
func (r *exportReader) noteUnread(in node, reasons []unread) {
	keys := map[string][]string{}
	for _, f := range in.fields {
		if r.used[f.key] || f.value.kind != scalar && f.value.kind != list && f.value.get("unit").kind == none ||
			f.value.text == "true" || f.value.text == "false" {
			continue
		}
		for _, u := range reasons {
			if strings.HasSuffix(f.key, u.suffix) {
				keys[u.why] = append(keys[u.why], f.key)
				break
			}
		}
	}
	for _, u := range reasons {
		if names := keys[u.why]; len(names) > 0 {
			slices.Sort(names)
			r.set.Notes = append(r.set.Notes, fmt.Sprintf("not read, %s: %s", u.why, strings.Join(names, ", ")))
			keys[u.why] = nil
		}
	}
}

// strings returns the texts of a list.
func (n node) strings() []string {
	var out []string
	if n.kind != list || json.Unmarshal([]byte(n.text), &out) != nil {
		return nil
	}
	return out
}
