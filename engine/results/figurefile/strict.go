package figurefile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// document holds figures under the keys of the client's statistics file.
type document map[string]any

func (d document) set(path string, value any) {
	section, key, nested := strings.Cut(path, ".")
	if !nested {
		d[path] = value
		return
	}
	inner, _ := d[section].(map[string]any)
	if inner == nil {
		inner = map[string]any{}
		d[section] = inner
	}
	inner[key] = value
}

func (d document) json() (json.RawMessage, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("read figures: %w", err)
	}
	return data, nil
}

// pathOf returns the path of a metric in the client's statistics file.
func pathOf(m *results.Metric) string { return m.Statistics.Section + "." + m.Statistics.Name }

// counts are the paths of numbers of requests and users.
var counts = []string{
	"phase", "concurrency", "requests.total", "requests.measured", "requests.successful", "requests.failed",
}

const (
	durationPath   = "measurement_duration_s"
	stopReasonPath = "stop_reason"
)

// clientTokens are figures of the client's statistics file that are not metrics.
var clientTokens = []string{"tokens_client.output", "tokens_client.avg_output_per_request"}

// knownPaths returns all keys of a file of figures except those under "about".
func knownPaths() []string {
	out := slices.Concat(counts, []string{durationPath, stopReasonPath}, clientTokens)
	for _, m := range results.Metrics {
		out = append(out, pathOf(m))
	}
	return out
}

// parseFigures reads a file of figures. Unknown keys and impossible values are errors.
func (f File) parseFigures(root node) (Set, error) {
	set := Set{StatedBy: "the file"}
	doc := document{}
	for _, top := range root.fields {
		fields := []field{top}
		prefix := ""
		switch {
		case top.key == "about" && top.value.kind == mapping:
			for _, field := range top.value.fields {
				if err := f.readAbout(&set, field); err != nil {
					return Set{}, err
				}
			}
			continue
		case top.value.kind == mapping && slices.ContainsFunc(knownPaths(), func(p string) bool {
			return strings.HasPrefix(p, top.key+".")
		}):
			fields, prefix = top.value.fields, top.key+"."
		}
		for _, field := range fields {
			if err := f.readValue(doc, prefix+field.key, field); err != nil {
				return Set{}, err
			}
		}
	}
	if err := f.checkDocument(doc, root); err != nil {
		return Set{}, err
	}
	var err error
	set.Statistics, err = doc.json()
	return set, err
}

// readAbout reads a value of the section "about". Numbers such as a seed or job id are kept as written.
func (f File) readAbout(set *Set, in field) error {
	if !slices.Contains(f.About, in.key) {
		return f.fail(in.at, "no such key: about.%s%s (available: %s)", in.key, didYouMean(schema.Nearest(in.key, f.About)),
			strings.Join(slices.Sorted(slices.Values(f.About)), ", "))
	}
	switch in.value.kind {
	case null:
		return nil
	case scalar, quoted:
	default:
		return f.fail(in.value.position, "about.%s: must be text or a number", in.key)
	}
	if set.About == nil {
		set.About = map[string]string{}
	}
	set.About[in.key] = in.value.text
	return nil
}

func didYouMean(key string) string {
	if key == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", key)
}

// readValue reads a value of a file of figures. A null is unknown.
func (f File) readValue(doc document, path string, in field) error {
	known := knownPaths()
	metric := slices.IndexFunc(results.Metrics, func(m *results.Metric) bool { return pathOf(m) == path })
	switch {
	case !slices.Contains(known, path):
		return f.unknownKey(path, in, known)
	case in.value.isNaN():
		return f.fail(in.value.position, "%s: %q is not a number", path, in.value.text)
	case in.value.kind == null:
		return nil
	case in.value.kind != scalar && in.value.kind != quoted:
		return f.fail(in.at, "%s: must be a number", path)
	}
	var value any
	var err error
	switch {
	case metric >= 0:
		value, err = figure(in.value.text, results.Metrics[metric])
	case slices.Contains(counts, path):
		value, err = count(in.value.text)
	case path == stopReasonPath:
		value = in.value.text
	case path == durationPath:
		var seconds float64
		if seconds, err = number(in.value.text, results.Seconds.Name); err == nil && !(seconds > 0) {
			err = problem.Errorf(problem.FiguresInvalid, "%s must be above 0", in.value.text)
		}
		value = seconds
	default:
		value, err = figure(in.value.text, results.FindMetric(results.OutputSum)) // any number of tokens
	}
	if err != nil {
		return f.fail(in.value.position, "%s: %v", path, err)
	}
	doc.set(path, value)
	return nil
}

// unknownKey returns an error with the key that was probably meant.
func (f File) unknownKey(path string, in field, known []string) error {
	if digits := strings.TrimLeft(in.key, "0123456789."); digits == "" && in.value.kind == null {
		return f.fail(
			in.at,
			"%s: not a key but the rest of a number; in braces, quote a number with thousands separators: "+
				`"60,822.2"`,
			in.key,
		)
	}
	section, name, nested := strings.Cut(path, ".")
	near := ""
	var siblings, sections []string
	for _, k := range known {
		s, n, has := strings.Cut(k, ".")
		if nested && s == section {
			siblings = append(siblings, n)
		}
		sections = append(sections, s)
		if has && (n == name || !nested && n == path) {
			near = k
		}
	}
	sections = append(slices.Compact(sections), "about")
	if !nested && slices.Contains(sections, path) {
		return f.fail(in.at, "%s: must be a mapping", path)
	}
	switch m := results.FindMetric(path); {
	case near != "":
	case m != nil:
		near = pathOf(m)
	case nested:
		if near = schema.Nearest(name, siblings); near != "" {
			near = section + "." + near
		}
	default:
		near = schema.Nearest(path, sections)
	}
	available := siblings
	if !nested {
		available = sections
	}
	return f.fail(in.at, "no such key: %s%s (available: %s)", path, didYouMean(near),
		strings.Join(slices.Compact(slices.Sorted(slices.Values(available))), ", "))
}

// checkDocument completes the counts of requests, and returns an error if values contradict each other.
func (f File) checkDocument(doc document, root node) error {
	for _, section := range slices.Sorted(maps.Keys(doc)) {
		inner, ok := doc[section].(map[string]any)
		if !ok {
			continue
		}
		at := root.get(section).position
		if section == "requests" {
			if problem := completeCounts(inner); problem != "" {
				return f.fail(at, "requests: %s", problem)
			}
		}
		last, lastName := 0.0, ""
		for _, name := range []string{"p5", "p25", "p50", "p95", "p99"} {
			v, ok := inner[name].(float64)
			if !ok {
				continue
			}
			if v < last {
				return f.fail(root.get(section, name).position, "%s: %s (%g) is below %s (%g)", section, name, v, lastName, last)
			}
			last, lastName = v, name
		}
	}
	return nil
}

// completeCounts derives the third of measured, successful and failed requests from the other two.
// It returns a description of a contradiction, or "".
func completeCounts(requests map[string]any) string {
	get := func(key string) (int, bool) {
		n, ok := requests[key].(int)
		return n, ok
	}
	measured, hasMeasured := get("measured")
	successful, hasSuccessful := get("successful")
	failed, hasFailed := get("failed")
	switch {
	case hasMeasured && hasFailed && !hasSuccessful:
		successful = measured - failed
		requests["successful"] = successful
	case hasMeasured && hasSuccessful && !hasFailed:
		failed = measured - successful
		requests["failed"] = failed
	case hasSuccessful && hasFailed && !hasMeasured:
		measured = successful + failed
		requests["measured"] = measured
	case !hasMeasured || !hasSuccessful || !hasFailed:
		return ""
	}
	total, hasTotal := get("total")
	switch {
	case successful < 0 || failed < 0 || successful+failed != measured:
		return fmt.Sprintf("measured (%d) is not the sum of successful and failed requests", measured)
	case hasTotal && total < measured:
		return fmt.Sprintf("total (%d) is below measured (%d)", total, measured)
	}
	return ""
}
