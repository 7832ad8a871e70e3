package replay

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/mockserver"
)

// One user replays two conversations of four turns; a long tool call follows the last turn.
// So there are exactly eight requests, with the counts and times that the mock server computes.
func TestRunMatchesMockServerTiming(t *testing.T) {
	t.Parallel()
	rows := conversations(2, 4, 1)
	rows[3].Delay, rows[7].Delay = 0, 60_000
	timing := fastTiming()
	base := disaggregated(t, mockserver.Config{Model: "org/model", Timing: timing})
	cfg := testConfig(t, base, writeTrajectories(t, rows))
	cfg.AssignmentsPath = writeFile(t, "assignments.json",
		`{"metadata":{"per_user":2},"assignments":{"0":["agent-000","agent-001"]}}`)
	cfg.MinTotalTrajectories, cfg.MinTrajectoriesPerUser = 2, 2
	var log strings.Builder
	cfg.Log = &log
	if err := runConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}

	got := readRows[requestRow](t, filepath.Join(cfg.ResultsDir, "requests.jsonl"))
	if len(got) != len(rows) {
		t.Fatalf("got %d rows, want %d\n%s", len(got), len(rows), log.String())
	}
	var input, output, cached, before int
	for i, row := range got {
		want := rows[i]
		if row.Conversation != want.Conversation || row.Turn != want.Index || !row.Success {
			t.Errorf("row %d is %s turn %d (success %v), want %s turn %d",
				i, row.Conversation, row.Turn, row.Success, want.Conversation, want.Index)
		}
		prompt := promptOf(t, want)
		hit := before / testBlock * testBlock // full blocks of the turn before
		if want.Index == 0 {
			hit = 0
		}
		before = prompt.Tokens
		tokens := min(want.Target, cfg.MaxTokens)
		if *row.Input != prompt.Tokens || *row.Output != tokens || *row.Cached != hit {
			t.Errorf("row %d: got %d input, %d output, %d cached tokens, want %d, %d, %d",
				i, *row.Input, *row.Output, *row.Cached, prompt.Tokens, tokens, hit)
		}
		prefill := timing.Prefill(prompt.Key, prompt.Tokens, hit)
		_, last := timing.Event(prompt.Key, timing.Events(tokens)-1, tokens)
		if *row.TTFT < prefill.Seconds() {
			t.Errorf("row %d: TTFT %g s is shorter than its prefill of %v", i, *row.TTFT, prefill)
		}
		if took, least := row.End-row.Start, (prefill + last).Seconds(); took < least-1e-6 {
			t.Errorf("row %d took %g s, want at least %g s", i, took, least)
		}
		input, output, cached = input+prompt.Tokens, output+tokens, cached+hit
	}
	base0 := filepath.Join(cfg.ResultsDir, "org_model__1u__phase0__dur20s__settle0s__traj2")
	var stats statistics
	if err := json.Unmarshal([]byte(readText(t, base0+".json")), &stats); err != nil {
		t.Fatal(err)
	}
	if s := stats.TokensServer; *s.Input != input || *s.Output != output || *s.Cached != cached ||
		stats.Requests.Successful != 8 {
		t.Errorf("statistics: got %d input, %d output, %d cached tokens of %d requests, want %d, %d, %d of 8",
			*s.Input, *s.Output, *s.Cached, stats.Requests.Successful, input, output, cached)
	}
	if stats.StopReason != stopCriteria {
		t.Errorf("stopped by %q, want %q", stats.StopReason, stopCriteria)
	}
}

func promptOf(t *testing.T, row testTurn) mockserver.Prompt {
	t.Helper()
	messages, err := json.Marshal(row.Messages)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := json.Marshal(row.Tools)
	if err != nil {
		t.Fatal(err)
	}
	p, err := mockserver.ParsePrompt(messages, tools, testBlock)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
