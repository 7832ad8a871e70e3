package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/mockserver"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

const testBlock = 8 // tokens per cache block

// fastTiming returns a timing of a few milliseconds per request.
func fastTiming() mockserver.Timing {
	return mockserver.Timing{
		PrefillBase:     2 * time.Millisecond,
		PrefillPerToken: 10 * time.Microsecond,
		ITL:             500 * time.Microsecond,
		StreamInterval:  2,
		Spread:          0.2,
	}
}

// serve starts a mock server and returns its URL.
func serve(t *testing.T, cfg mockserver.Config) string {
	t.Helper()
	h, err := mockserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return serveHandler(t, h)
}

func serveHandler(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// disaggregated starts two prefill workers, a decode worker and a frontend, and returns the
// API's base URL.
func disaggregated(t *testing.T, cfg mockserver.Config) string {
	t.Helper()
	cfg.BlockTokens = testBlock
	worker := func(role schema.Role) string {
		cfg.Role = role
		return serve(t, cfg)
	}
	front := mockserver.Config{Role: schema.Frontend, Model: cfg.Model, BlockTokens: testBlock}
	front.PrefillURLs = []string{worker(schema.Prefill), worker(schema.Prefill)}
	front.DecodeURLs = []string{worker(schema.Decode)}
	return serve(t, front) + "/v1"
}

// testTurn is a row of a trajectory file.
type testTurn struct {
	Conversation string           `json:"conversation_id"`
	Index        int              `json:"conversation_idx"`
	Messages     []map[string]any `json:"messages"`
	Tools        any              `json:"tools"`
	Target       int              `json:"target_output_tokens,omitempty"`
	Delay        float64          `json:"delay_ms"`
}

// conversations returns n conversations with the given number of turns each. Conversations differ
// in their first cache block; each turn has the messages of the one before and one more.
func conversations(n, turns int, delayMS float64) []testTurn {
	var rows []testTurn
	for c := range n {
		id := fmt.Sprintf("agent-%03d", c)
		messages := []map[string]any{{"content": fmt.Sprintf("%03d you are a coding agent", c), "role": "system"}}
		for i := range turns {
			messages = append(messages,
				map[string]any{"role": "user", "content": fmt.Sprintf("step %d: the test %d of the queue fails", i, c*i)})
			rows = append(rows, testTurn{
				Conversation: id, Index: i, Messages: messages[:len(messages):len(messages)],
				Target: 3 + (c+i)%5, Delay: delayMS,
			})
		}
	}
	return rows
}

func writeTrajectories(t *testing.T, rows []testTurn) string {
	t.Helper()
	var b bytes.Buffer
	for _, r := range rows {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return writeFile(t, "trajectories.jsonl", b.String())
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// testConfig returns a short phase of one user without settling time or stop criteria.
func testConfig(t *testing.T, base, trajectoryPath string) Config {
	t.Helper()
	return Config{
		BaseURL: base, APIKey: "dummy", Model: "org/model", ServerType: "trtllm",
		Concurrencies: []int{1}, PhaseTimeout: 20 * time.Second, SpawnRate: 1000,
		RequestTimeout: 10 * time.Second, InterruptGrace: 5 * time.Second,
		TrajectoryPath: trajectoryPath, TrajectoriesPerUser: 2, DelayKey: "delay_ms",
		Seed: 42, MaxTokens: 6, RoutingHeaders: true, DynamoHeaders: true,
		ResultsDir: filepath.Join(t.TempDir(), "agentperf"), Version: "1.2.3",
	}
}

// readRows reads a file of JSON rows.
func readRows[T any](t *testing.T, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []T
	in := bufio.NewScanner(f)
	for in.Scan() {
		var row T
		if err := json.Unmarshal(in.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v in %q", path, err, in.Text())
		}
		rows = append(rows, row)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
