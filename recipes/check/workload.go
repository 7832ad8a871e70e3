package check

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

func (c *checker) workload() {
	if u, err := url.Parse(c.w.BaseURL); c.w.BaseURL != "" &&
		(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		c.reportWorkload("placeholder-url", "base_url", "http://placeholder:8000/v1",
			"%q is not a URL: the client validates it although it is overridden", c.w.BaseURL)
	}
	c.assignments()
	if c.hasInvalidLevels() {
		return // the run would not use the levels of the workload
	}
	levels := c.w.Levels
	if c.r != nil && len(c.r.Benchmark.Levels) > 0 {
		levels = c.r.Benchmark.Levels
	}
	c.out.Timeouts = recipes.CheckTimeouts(c.w, levels)
	for _, t := range c.out.Timeouts {
		c.timeout(t)
	}
	if len(c.out.Timeouts) > 0 && len(c.out.Timeouts[0].Assumed) > 0 {
		c.reportWorkload("phase-timeout", "phase_timeout_seconds", "set them in the workload file",
			"the phase timeout is checked with default values: %s", c.quantities(c.out.Timeouts[0].Assumed)).
			Severity = recipes.Note
	}
}

// quantities formats keys of the workload with their values.
func (c *checker) quantities(keys []string) string {
	var parts []string
	for _, k := range keys {
		parts = append(parts, k+" "+c.w.Quantity(k).Text)
	}
	return strings.Join(parts, ", ")
}

func (c *checker) timeout(t recipes.TimeoutCheck) {
	switch {
	case !t.Known:
		c.reportWorkload("phase-timeout", "phase_timeout_seconds", "", "%s", t.Summary())
	case !t.OK:
		fixes := make([]string, 0, len(t.Fixes))
		for _, k := range t.Fixes {
			fixes = append(fixes, k.String())
		}
		d := c.reportWorkload("phase-timeout", "phase_timeout_seconds", "any one of: "+strings.Join(fixes, "; "),
			"%s", t.Summary())
		d.Set(t.Fixes[0].Value, false)
	}
}

// assignments checks that the assignments file has entries for all users of the
// highest concurrency level. It skips a file that this machine can't read.
func (c *checker) assignments() {
	p := c.w.AssignmentsPath
	if c.r == nil || p == "" || c.host.Open == nil || strings.HasPrefix(p, "/TODO/") {
		return
	}
	f, err := c.host.Open(p)
	name := p
	if host, ok := c.hostPath(p); err != nil && ok {
		name = host
		f, err = c.host.Open(host)
	}
	if err != nil {
		return
	}
	defer f.Close()
	n, counted := c.host.Users[name]
	if !counted {
		if n, err = countUsers(f); err == nil && c.host.Users != nil {
			c.host.Users[name] = n
		}
	}
	level := c.r.Benchmark.MaxLevel()
	switch {
	case err != nil:
		c.reportWorkload("assignments", "user_assignments_path", "give the path of an assignments file",
			"%s is not an assignments file: %v", p, err)
	case n < level:
		c.reportWorkload("assignments", "user_assignments_path", "use a larger file, or lower levels",
			"%s has assignments for %d users, but the highest concurrency level is %d", p, n, level)
	}
}

const (
	maxAssignmentBytes = 256 << 20
	maxUsers           = 1_000_000
)

// countUsers counts the users in an assignments file, from user 0 to the first one that is
// missing. It reads the file as a stream and ignores its metadata.
func countUsers(r io.Reader) (int, error) {
	limited := &io.LimitedReader{R: r, N: maxAssignmentBytes}
	dec := json.NewDecoder(smallfile.SkipBOM(limited))
	n, err := countAssignments(dec)
	switch {
	case limited.N <= 0:
		return 0, problem.Errorf(problem.FileTooLarge, "larger than %d MiB", maxAssignmentBytes>>20)
	case errors.Is(err, io.EOF): // also the error of Token within a document
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func countAssignments(dec *json.Decoder) (int, error) {
	if t, err := dec.Token(); errors.Is(err, io.EOF) {
		return 0, problem.New(problem.DatasetInvalid, "file is empty")
	} else if err != nil {
		return 0, err
	} else if t != json.Delim('{') {
		return 0, problem.New(problem.DatasetInvalid, "not a JSON object")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return 0, err
		}
		if key != "assignments" {
			if err := skipValue(dec); err != nil {
				return 0, err
			}
			continue
		}
		open, err := dec.Token()
		if err != nil {
			return 0, err
		}
		switch open {
		case json.Delim('['):
			n := 0
			for ; dec.More(); n++ {
				if err := skipValue(dec); err != nil {
					return 0, err
				}
			}
			return n, nil
		case json.Delim('{'):
			return countKeys(dec)
		}
		return 0, problem.New(problem.DatasetInvalid, `the value of "assignments" is neither a list nor an object`)
	}
	return 0, problem.New(problem.DatasetInvalid, `the key "assignments" is missing`)
}

// countKeys counts the keys 0, 1, 2 … of an object, up to the first one that is missing.
func countKeys(dec *json.Decoder) (int, error) {
	seen := map[int]bool{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return 0, err
		}
		name, _ := key.(string) // a key of an object is always a string
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i > maxUsers {
			return 0, problem.Errorf(problem.DatasetInvalid, "assignments: %.40q is not a user number", name)
		}
		seen[i] = true
		if err := skipValue(dec); err != nil {
			return 0, err
		}
	}
	n := 0
	for seen[n] {
		n++
	}
	return n, nil
}

// skipValue reads one value and discards it.
func skipValue(dec *json.Decoder) error { return dec.Decode(new(json.RawMessage)) }
