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
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/porter/session"
)

// earlier is what version 0.1 left: a configuration, a state folder, a local run and
// a run of the Slurm test cluster; /v0.1 stands for the folder that they were in.
const earlier = "../../testdata/v0.1"

// earlierShell gives a user's surroundings as version 0.1 left them.
func earlierShell(t *testing.T) *shell {
	t.Helper()
	s := newShell(t)
	if err := os.CopyFS(s.dir, os.DirFS(earlier)); err != nil {
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

func TestVersion01IsRead(t *testing.T) {
	t.Parallel()
	const localRun, slurmRun = "L20261130T160658-dfa4", "2"
	s := earlierShell(t)
	for _, tt := range []struct {
		said string
		code int
		args []string
	}{
		{"runs", 0, []string{"runs"}},
		{"show-slurm", 0, []string{"runs", "show", slurmRun}},
		{"show-local", 0, []string{"runs", "show", localRun}},
		{"results-slurm", 0, []string{"results", slurmRun}},
		{"results-local", 0, []string{"results", localRun}},
		{"parity", 3, []string{"parity", localRun, slurmRun}},
		{"logs", 0, []string{"logs", slurmRun, "--list"}},
	} {
		t.Run(tt.said, func(t *testing.T) {
			var got, want any
			out := strings.ReplaceAll(s.want(tt.code, append(tt.args, "--json")...).stdout, s.dir, "/v0.1")
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(earlier, "said", tt.said+".json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(reworded.Replace(string(data))), &want); err != nil {
				t.Fatal(err)
			}
			kept(t, "", want, got)
		})
	}
	s.want(0, "watch", slurmRun, "--playback", "100")
	if o := s.want(0, "dry-run", "r.yaml", "--workload", "w.yaml"); !strings.Contains(o.stdout, "prefill_0") {
		t.Errorf("no plan of the recipe: %s", o.stdout)
	}
}

// reworded replaces the messages of version 0.1 that have another wording now. Keys and
// values may not change.
var reworded = strings.NewReplacer(
	" samples, p5 wants ", " samples, p5 needs ",
	" samples, p95 wants ", " samples, p95 needs ",
	" samples, p99 wants ", " samples, p99 needs ",
	"one run a side: a difference inside the run-to-run band can be chance",
	"one run per side: a difference within the run-to-run band can be random",
	"the windows differ: ", "measuring windows differ: ",
	" against ", " vs. ",
	"not checked, since unknown on a side: ", "not checked because unknown for one side: ",
)

// kept says where a document lacks what version 0.1 told, or tells it otherwise. What
// was added since is no loss; in parity's rows it stands behind or between.
func kept(t *testing.T, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		have, _ := got.(map[string]any)
		for key, v := range want {
			if h, ok := have[key]; ok {
				kept(t, at+"."+key, v, h)
			} else {
				t.Errorf("%s.%s is gone", at, key)
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
				kept(t, fmt.Sprintf("%s[%v]", at, row["key"]), v, h)
			case i < len(have):
				kept(t, fmt.Sprintf("%s[%d]", at, i), v, have[i])
			default:
				t.Errorf("%s[%d] is gone", at, i)
			}
		}
	default:
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s is %v, it was %v", at, got, want)
		}
	}
}

func TestStateOfVersion01IsRead(t *testing.T) {
	s := earlierShell(t)
	t.Setenv("XDG_CONFIG_HOME", s.path("config"))
	state := s.path("state/agentperf-tui")
	// A draft is found by its recipe's path, which is another one here.
	sum := sha256.Sum256([]byte(s.path("r.yaml")))
	drafts, err := filepath.Glob(filepath.Join(state, "unsaved", "*.json"))
	if err != nil || len(drafts) != 1 {
		t.Fatalf("drafts: %v, %v", drafts, err)
	}
	if err := os.Rename(drafts[0], filepath.Join(state, "unsaved", hex.EncodeToString(sum[:12])+".json")); err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Options{StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	u, ok, err := e.Unsaved(t.Context(), s.path("r.yaml"))
	if err != nil || !ok || !strings.HasSuffix(u.Text, "# typed and not saved\n") {
		t.Errorf("the draft: %v, %v, %.80q", ok, err, u.Text)
	}
	// Only what is still there is offered again.
	if err := os.MkdirAll(s.path("bm_agentperf_dsv4_5p1d/c1010"), 0o755); err != nil {
		t.Fatal(err)
	}
	recent, err := session.Session{StateDir: state}.Recent(t.Context())
	if err != nil || len(recent) != 1 || !strings.HasSuffix(recent[0], "bm_agentperf_dsv4_5p1d/c1010") {
		t.Errorf("what was ported: %v, %v", recent, err)
	}
}

func TestConfigurationOfVersion01IsRead(t *testing.T) {
	t.Parallel()
	s := earlierShell(t)
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
