package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// maxStatistics is the size limit in bytes, more than 10,000 times that of a typical file.
const maxStatistics = 16 << 20

// statistics is a statistics file, which the client writes when a phase ends.
type statistics struct {
	stem   harness.Stem
	raw    json.RawMessage // as written by the client, including unknown keys
	values map[string]any
}

func parseStatistics(stem harness.Stem, data []byte) (statistics, error) {
	if len(data) > maxStatistics {
		return statistics{}, problem.Errorf(problem.FileTooLarge,
			"statistics: %d bytes, must be at most %d", len(data), maxStatistics)
	}
	text := smallfile.TrimBOM(data)
	s := statistics{stem: stem, raw: WithoutNaN(text)}
	err := json.Unmarshal(s.raw, new(json.RawMessage)) // also rejects data after the object
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		line, column := positionIn(s.raw, int(syntax.Offset)-1)
		err = fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	if err == nil && !bytes.HasPrefix(bytes.TrimSpace(s.raw), []byte("{")) {
		err = problem.New(problem.RowsUnreadable, "is not a JSON object")
	}
	if err == nil {
		err = checkKeys(s.raw)
	}
	if err == nil {
		in := json.NewDecoder(bytes.NewReader(replaceNaN(text, strconv.Quote)))
		in.UseNumber() // a number that overflows float64 is unknown, not an error
		err = in.Decode(&s.values)
	}
	if err != nil {
		return statistics{}, fmt.Errorf("statistics: %w", err)
	}
	return s, nil
}

// positionIn returns the line and the column of an offset, both from 1.
func positionIn(data []byte, offset int) (line, column int) {
	before := data[:max(0, min(offset, len(data)))]
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[1+bytes.LastIndexByte(before, '\n'):])
}

// checkKeys returns an error if an object of a valid JSON text has a key twice: which of the values is
// true is unknown.
func checkKeys(data []byte) error {
	in := json.NewDecoder(bytes.NewReader(data))
	var check func() error
	check = func() error {
		token, err := in.Token()
		if err != nil || token != json.Delim('{') && token != json.Delim('[') {
			return err
		}
		keys := map[json.Token]bool{}
		for in.More() {
			if token == json.Delim('{') {
				key, err := in.Token()
				if err != nil {
					return err
				}
				if keys[key] {
					line, column := positionIn(data, int(in.InputOffset())-len(fmt.Sprint(key))-2)
					return problem.Errorf(problem.RowsUnreadable, "line %d, column %d: the key %.40q occurs twice", line, column, key)
				}
				keys[key] = true
			}
			if err := check(); err != nil {
				return err
			}
		}
		_, err = in.Token()
		return err
	}
	in.UseNumber()
	return check()
}

// at returns the value at a path of keys, or nil if there is none.
func (s *statistics) at(path ...string) any {
	var at any = s.values
	for _, key := range path {
		inner, _ := at.(map[string]any)
		at = inner[key]
	}
	return at
}

// unusable returns the keys whose value is used but is not a number, or not one in the range of
// numbers, each with the value.
func (s *statistics) unusable() (wrongType, outOfRange []string) {
	paths := [][]string{{"phase"}, {"concurrency"}, {"measurement_duration_s"}}
	for _, name := range []string{"total", "measured", "successful", "failed"} {
		paths = append(paths, []string{"requests", name})
	}
	for _, m := range Metrics {
		paths = append(paths, []string{m.Statistics.Section, m.Statistics.Name})
	}
	for _, path := range paths {
		key := strings.Join(path, ".")
		switch v := s.at(path...).(type) {
		case nil:
		case json.Number:
			if _, err := v.Float64(); err != nil {
				outOfRange = append(outOfRange, fmt.Sprintf("%s %.40s", key, v))
			}
		default:
			wrongType = append(wrongType, fmt.Sprintf("%s %.40q", key, fmt.Sprint(v)))
		}
	}
	return wrongType, outOfRange
}

// number returns the number at a path of keys, or NaN if there is none.
func (s *statistics) number(path ...string) float64 {
	if text, ok := s.at(path...).(json.Number); ok {
		if f, err := text.Float64(); err == nil {
			return f
		}
	}
	return math.NaN()
}

// metric returns the value that the client reports for a metric, or NaN if there is none.
func (s *statistics) metric(m *Metric) float64 {
	return s.number(m.Statistics.Section, m.Statistics.Name)
}

// count returns the whole number at a path of keys, or -1 if there is none.
func (s *statistics) count(path ...string) int {
	f := s.number(path...)
	if f != math.Trunc(f) || f < 0 || f > 1<<53 {
		return -1
	}
	return int(f)
}

// contradiction returns the phase or the concurrency in the file if it differs from that in its name.
func (s *statistics) contradiction() string {
	if s.stem.Model == "" { // not a file of the client
		return ""
	}
	var texts []string
	for _, v := range []struct {
		key   string
		named int
	}{{"phase", s.stem.Phase}, {"concurrency", s.stem.Concurrency}} {
		if n := s.count(v.key); n >= 0 && n != v.named {
			texts = append(texts, fmt.Sprintf("%s %d", v.key, n))
		}
	}
	return strings.Join(texts, ", ")
}

// WithoutNaN replaces NaN, Infinity and -Infinity, which Python writes to JSON, by null.
// Strings are not changed.
func WithoutNaN(data []byte) []byte {
	return replaceNaN(data, func(string) string { return "null" })
}

// QuoteNaN replaces NaN, Infinity and -Infinity by texts of the same length, so that offsets are kept.
// Strings are not changed.
func QuoteNaN(data []byte) []byte {
	return replaceNaN(data, func(word string) string { return strconv.Quote(word[:len(word)-2]) })
}

func replaceNaN(data []byte, by func(word string) string) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return bytes.Clone(data)
	}
	return wordsAndTexts.ReplaceAllFunc(data, func(token []byte) []byte {
		if token[0] == '"' {
			return token
		}
		return []byte(by(string(token)))
	})
}

var wordsAndTexts = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|NaN|-?Infinity`)

// Statistics returns the figures under the keys of the client's statistics file, by
// section. Unknown values are omitted.
func (fs Figures) Statistics() map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for _, m := range Metrics {
		v, at := fs.Get(m.Key).Value, m.Statistics
		if math.IsNaN(v) {
			continue
		}
		if out[at.Section] == nil {
			out[at.Section] = map[string]float64{}
		}
		out[at.Section][at.Name] = v
	}
	return out
}
