package check

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Host is what this machine can be asked. A nil function is never asked: what
// rests on it is not known then, and not reported.
type Host struct {
	// Real is a path with its variables and symlinks resolved; fs.ErrNotExist where there is nothing.
	Real func(path string) (string, error)
	Open func(path string) (io.ReadCloser, error)
}

// missing says whether a path is absent here although its neighbourhood is here:
// a machine without /scratch can tell nothing of /scratch/model.
func (c *checker) missing(p string) bool {
	if c.host.Real == nil || !path.IsAbs(p) || strings.HasPrefix(p, "/TODO/") {
		return false
	}
	top, _, _ := strings.Cut(p[1:], "/")
	if _, err := c.host.Real("/" + top); err != nil || top == "" {
		return false
	}
	_, err := c.host.Real(p)
	return errors.Is(err, fs.ErrNotExist)
}

// onHost looks for what the recipe names on this machine.
func (c *checker) onHost() {
	r := c.r
	for _, f := range []struct{ path, value string }{{"model.path", r.ModelPath}, {"model.container", r.Container}} {
		if (c.cluster == nil || c.cluster.Preflight) && c.missing(f.value) {
			c.report("not-here", f.path, "correct it, or set preflight: false in the cluster file if only compute nodes see it",
				"%s is not on this machine, where srtctl looks for it", f.value)
		}
	}
	if r.Engine.ServedModelName == "" && c.host.Real != nil && path.IsAbs(r.ModelPath) {
		if real, err := c.host.Real(r.ModelPath); err == nil && path.Base(real) != path.Base(r.ModelPath) {
			d := c.report("model-symlink", "model.path", "set served_model_name, or give the target",
				"a link to %s: srtctl's workers serve as %s, its client asks for %s", real, path.Base(real), path.Base(r.ModelPath))
			d.Set(strconv.Quote(real), false)
		}
	}
	for _, f := range []struct{ path, value string }{
		{"benchmark.agentperf_client_dir", r.Benchmark.ClientDir}, {"benchmark.agentperf_config", r.Benchmark.ConfigPath},
	} {
		if host, ok := c.outside(f.value); ok && c.missing(host) {
			c.report("container-path", f.path, "correct it, or put it there",
				"%s is %s on the host, and there is nothing there", f.value, host)
		}
	}
	if c.cluster != nil && c.cluster.SrtctlRoot != "" && r.SetupScript != "" &&
		c.missing(path.Join(c.cluster.SrtctlRoot, "configs", r.SetupScript)) {
		c.report("setup-script", "setup_script", "correct it: srtctl would only warn",
			"%s/configs has no %s", c.cluster.SrtctlRoot, r.SetupScript)
	}
}

// outside is the host path of a container path.
func (c *checker) outside(p string) (host string, ok bool) {
	m, ok := c.covering(p)
	if !ok || m.host == "" || strings.ContainsAny(m.host, "{}") || p == "" {
		return "", false
	}
	return path.Join(m.host, strings.TrimPrefix(p, strings.TrimRight(m.container, "/"))), true
}

// assignments compares the highest level with the entries of the assignments
// file, where this machine sees it.
func (c *checker) assignments() {
	p := c.w.AssignmentsPath
	if c.r == nil || p == "" || c.host.Open == nil || strings.HasPrefix(p, "/TODO/") {
		return
	}
	f, err := c.host.Open(p)
	if host, ok := c.outside(p); err != nil && ok {
		f, err = c.host.Open(host)
	}
	if err != nil {
		return // not seen from here
	}
	defer f.Close()
	n, err := countUsers(f)
	level := c.r.Benchmark.MaxLevel()
	switch {
	case err != nil:
		c.reportWorkload("assignments", "user_assignments_path", "give the right file",
			"%s can't be read as an assignments file: %v", p, err)
	case n < level:
		c.reportWorkload("assignments", "user_assignments_path", "a larger file, or a lower level",
			"%s assigns %d users, and the highest level is %d", p, n, level)
	}
}

const (
	maxAssignmentBytes = 256 << 20
	maxUsers           = 1_000_000
)

// countUsers counts the users that an assignments file covers, from user 0 on,
// reading it as a stream: what its metadata says is not asked.
func countUsers(r io.Reader) (int, error) {
	limited := &io.LimitedReader{R: r, N: maxAssignmentBytes}
	dec := json.NewDecoder(limited)
	n, err := countIn(dec)
	if limited.N <= 0 {
		return 0, problem.Errorf(problem.FileTooLarge, "larger than %d MiB", maxAssignmentBytes>>20)
	}
	return n, err
}

func countIn(dec *json.Decoder) (int, error) {
	if t, err := dec.Token(); err != nil {
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
			if err := skip(dec); err != nil {
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
				if err := skip(dec); err != nil {
					return 0, err
				}
			}
			return n, nil
		case json.Delim('{'):
			return countKeys(dec)
		}
		return 0, problem.New(problem.DatasetInvalid, "the key assignments is neither a list nor an object")
	}
	return 0, problem.New(problem.DatasetInvalid, "the key assignments is missing")
}

// countKeys counts users in an object keyed by their index: those from 0 to the first gap.
func countKeys(dec *json.Decoder) (int, error) {
	have := map[int]bool{}
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
		have[i] = true
		if err := skip(dec); err != nil {
			return 0, err
		}
	}
	n := 0
	for have[n] {
		n++
	}
	return n, nil
}

// skip passes one value.
func skip(dec *json.Decoder) error { return dec.Decode(new(json.RawMessage)) }
