package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/porter/session"
)

// filesOf01 contains files written by version 0.1: a configuration, a state directory, a
// local run and a run of the Slurm test cluster. In them, /v0.1 stands for their directory.
const filesOf01 = "../../testdata/v0.1"

// shellOf01 returns a shell with a copy of the files of version 0.1.
func shellOf01(t *testing.T) *shell {
	t.Helper()
	s := newShell(t)
	if err := os.CopyFS(s.dir, os.DirFS(filesOf01)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, bytes.ReplaceAll(data, []byte("/v0.1"), []byte(s.dir)), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRunsOfVersion01(t *testing.T) {
	t.Parallel()
	const localRun, slurmRun = "L20261130T160658-dfa4", "2"
	s := shellOf01(t)
	for _, tt := range []struct {
		output string // file in "said" with the output of version 0.1
		code   int
		args   []string
	}{
		{"runs", 0, []string{"runs"}},
		{"show-slurm", 0, []string{"runs", "show", slurmRun}},
		{"show-local", 0, []string{"runs", "show", localRun}},
		{"results-slurm", 0, []string{"results", slurmRun}},
		{"results-local", 0, []string{"results", localRun}},
		{"parity", 3, []string{"parity", localRun, slurmRun}},
		{"logs", 0, []string{"logs", slurmRun, "--list"}},
	} {
		t.Run(tt.output, func(t *testing.T) {
			var got, want any
			out := strings.ReplaceAll(s.want(tt.code, append(tt.args, "--json")...).stdout, s.dir, "/v0.1")
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(filesOf01, "said", tt.output+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(reworded.Replace(string(data))), &want); err != nil {
				t.Fatal(err)
			}
			withoutClaims(want)
			requireKept(t, "", want, got)
		})
	}
	s.want(0, "watch", slurmRun, "--playback", "100")
	if o := s.want(0, "dry-run", "r.yaml", "--workload", "w.yaml"); !strings.Contains(o.stdout, "prefill_0") {
		t.Errorf("dry-run of the recipe: %s", o.stdout)
	}
}

// reworded replaces messages of version 0.1 by their present wording. Keys and values must
// not change.
var reworded = strings.NewReplacer(
	" samples, p5 wants ", " samples, p5 needs ",
	" samples, p95 wants ", " samples, p95 needs ",
	" samples, p99 wants ", " samples, p99 needs ",
	"one run a side: a difference inside the run-to-run band can be chance",
	"one run per side: a difference within the run-to-run band can be random",
	"the windows differ: ", "measuring windows differ: ",
	" against ", " vs. ",
	"not checked, since unknown on a side: ", "not checked because unknown for at least one side: ",
)

// withoutClaims removes from a comparison what version 0.1 concluded from invalid figures: it
// called differences of them better or worse.
func withoutClaims(doc any) {
	object, _ := doc.(map[string]any)
	rows, _ := object["rows"].([]any)
	for _, r := range rows {
		row, _ := r.(map[string]any)
		flags, _ := row["flags"].([]any)
		if !slices.ContainsFunc(flags, func(f any) bool { return strings.Contains(fmt.Sprint(f), " invalid: ") }) {
			continue
		}
		row["flags"] = slices.DeleteFunc(flags, func(f any) bool {
			return f == "better" || f == "worse" || f == "widest" || strings.HasPrefix(fmt.Sprint(f), "beyond ")
		})
		parts, _ := row["parts"].([]any)
		for _, p := range parts {
			if part, ok := p.(map[string]any); ok {
				delete(part, "position")
				delete(part, "interval_95")
			}
		}
	}
}

// requireKept fails the test for each value of want that is missing from got or differs.
// got may have more values. Rows of a list are matched by "key", else by position.
func requireKept(t *testing.T, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		have, _ := got.(map[string]any)
		for key, v := range want {
			if h, ok := have[key]; ok {
				requireKept(t, at+"."+key, v, h)
			} else {
				t.Errorf("%s.%s is missing", at, key)
			}
		}
	case []any:
		have, _ := got.([]any)
		byKey := map[any]any{}
		for _, h := range have {
			if row, ok := h.(map[string]any); ok && row["key"] != nil {
				byKey[row["key"]] = h
			}
		}
		for i, v := range want {
			row, _ := v.(map[string]any)
			switch h, found := byKey[row["key"]]; {
			case found:
				requireKept(t, fmt.Sprintf("%s[%v]", at, row["key"]), v, h)
			case i < len(have):
				requireKept(t, fmt.Sprintf("%s[%d]", at, i), v, have[i])
			default:
				t.Errorf("%s[%d] is missing", at, i)
			}
		}
	default:
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s is %v, in version 0.1 it was %v", at, got, want)
		}
	}
}

func TestStateDirectoryOfVersion01(t *testing.T) {
	s := shellOf01(t)
	t.Setenv("XDG_CONFIG_HOME", s.path("config"))
	state := s.path("state/agentperf-tui")
	// Unsaved changes are found by the path of the recipe, which differs here: rename the file.
	sum := sha256.Sum256([]byte(s.path("r.yaml")))
	unsaved, err := filepath.Glob(filepath.Join(state, "unsaved", "*.json"))
	if err != nil || len(unsaved) != 1 {
		t.Fatalf("unsaved changes: %v, %v", unsaved, err)
	}
	if err := os.Rename(unsaved[0], filepath.Join(state, "unsaved", hex.EncodeToString(sum[:12])+".json")); err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Options{StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	u, ok, err := e.Unsaved(t.Context(), s.path("r.yaml"))
	if err != nil || !ok || !strings.HasSuffix(u.Text, "# typed and not saved\n") {
		t.Errorf("unsaved changes: %v, %v, %.80q", ok, err, u.Text)
	}
	// Only directories that still exist are listed.
	if err := os.MkdirAll(s.path("bm_agentperf_dsv4_5p1d/c1010"), 0o755); err != nil {
		t.Fatal(err)
	}
	recent, err := session.Session{StateDir: state}.Recent(t.Context())
	if err != nil || len(recent) != 1 || !strings.HasSuffix(recent[0], "bm_agentperf_dsv4_5p1d/c1010") {
		t.Errorf("recent ports: %v, %v", recent, err)
	}
}

func TestConfigurationOfVersion01(t *testing.T) {
	t.Parallel()
	s := shellOf01(t)
	var facts []struct{ What, Found string }
	if err := json.Unmarshal([]byte(s.want(0, "doctor", "--json").stdout), &facts); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range facts {
		found[f.What] = f.Found
	}
	if found["output dir"] != s.path("runs") || found["configuration"] != s.path("config/agentperf-tui/config.yaml") {
		t.Errorf("doctor: %v", found)
	}
}
