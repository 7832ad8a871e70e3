package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/identity"
)

// TestResultsWithoutFigures checks the exit code and the reason if nothing could be read,
// and that a part of the rows is enough.
func TestResultsWithoutFigures(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	const manifest = `{"phase_idx": 0, "settling_end": 1000, "actual_phase_end": 1010}` + "\n"
	const row = `{"user_id": 0, "start_time": 1001, "end_time": 1002, "server_output_tokens": 200, "ttft": 0.5, ` +
		`"success": true}` +
		"\n"
	for _, tt := range []struct {
		name, rows string
		code       int
		head, err  string
	}{
		{"all rows", row, 0, "phase 0, concurrency unknown\n", ""},
		{
			"half of the rows", row + row[1:], 0,
			"phase 0, concurrency unknown: 50% of the rows could not be read (1 of 2)\n", "",
		},
		{
			"no row", row[1:] + row[2:], 1, "phase 0, concurrency unknown: 100% of the rows could not be read (2 of 2)\n",
			"no figures: none of the 2 request rows could be read; the notes name the first one [rows-unreadable]\n",
		},
		{
			"no rows yet", "", 1, "phase 0, concurrency unknown\n",
			"no figures: phase 0: no request rows for this phase [results-not-found]\n",
		},
	} {
		dir := tt.name + "/agentperf/"
		if err := os.MkdirAll(s.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		s.write(dir+"requests.jsonl", tt.rows)
		s.write(dir+"phase_manifest.jsonl", manifest)
		out := s.want(tt.code, "results", s.path(tt.name))
		silent := tt.err == ""
		if !strings.HasPrefix(out.stdout, tt.head) || !strings.HasSuffix(out.stderr, tt.err) ||
			(out.stderr == "") != silent {
			t.Errorf("%s:\n%s\n%s", tt.name, out.stdout, out.stderr)
		}
		for _, format := range []string{"csv", "json", "markdown", "html"} {
			out := s.want(tt.code, "export", s.path(tt.name), "--format", format)
			if out.stdout == "" || !strings.HasSuffix(out.stderr, tt.err) || (out.stderr == "") != silent {
				t.Errorf("%s as %s:\n%s\n%s", tt.name, format, out.stdout, out.stderr)
			}
		}
		json := s.want(tt.code, "results", s.path(tt.name), "--json")
		if !strings.HasPrefix(json.stdout, "{") || (json.stderr == "") != silent {
			t.Errorf("%s:\n%s\n%s", tt.name, json.stdout, json.stderr)
		}
	}
}

// TestRollupOfNothing checks that a roll-up that is not written is an error.
func TestRollupOfNothing(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	if err := os.MkdirAll(s.path("run/agentperf"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.write("run/agentperf/requests.jsonl", `{"user_id": 0, "start_time": 1001, "end_time": 1002, "success": true}`+"\n")
	for _, args := range [][]string{{"rollup", s.path("run")}, {"rollup", s.path("run"), "--json"}} {
		out := s.want(1, args...)
		if out.stdout != "" || !strings.Contains(out.stderr, "found no statistics file of the client") ||
			!strings.Contains(out.stderr, "results-not-found") {
			t.Errorf("%v: %q, %q", args, out.stdout, out.stderr)
		}
	}
}

// A hash is abbreviated, and an edited one is not cut within a character.
func TestIdentityAbbreviatesHashes(t *testing.T) {
	t.Parallel()
	for hash, want := range map[string]string{
		strings.Repeat("ab", 32): "abababababab…", strings.Repeat("é", 13): strings.Repeat("é", 12) + "…", "é": "é",
	} {
		var out bytes.Buffer
		newApp(&out, io.Discard).identity(identity.Identity{Recipe: hash})
		if got := strings.Fields(out.String()); len(got) != 3 || got[2] != want {
			t.Errorf("%q: %q, want %q", hash, got, want)
		}
	}
}
