package replay_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/mockserver"
	"github.com/agentperf/agentperf-tui/engine/replay"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Run a workload of one user and one conversation of three turns against a mock server. The long
// tool call after the last turn keeps the user from starting over before the phase stops.
func ExampleRun() {
	server, err := mockserver.New(mockserver.Config{Role: schema.Agg, Model: "tiny"})
	if err != nil {
		fmt.Println(err)
		return
	}
	api := httptest.NewServer(server)
	defer api.Close()
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	trajectories := filepath.Join(dir, "trajectories.jsonl")
	workload := filepath.Join(dir, "workload.yaml")
	for path, text := range map[string]string{
		trajectories: `{"conversation_id":"a","conversation_idx":0,"messages":["1"]}
{"conversation_id":"a","conversation_idx":1,"messages":["1","2"]}
{"conversation_id":"a","conversation_idx":2,"messages":["1","2","3"],"delay_ms":60000}
`,
		workload: `base_url: placeholder
model: placeholder
concurrencies: [1]
phase_timeout_seconds: 60
settling_time_seconds: 0
user_spawn_rate: 1
min_measurement_seconds: 0
min_total_trajectories: 1
min_trajectories_per_user: 1
max_starting_line_offset: 0
max_tokens: 8
trajectory_path: ` + trajectories + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			fmt.Println(err)
			return
		}
	}

	results := filepath.Join(dir, "results")
	err = replay.Run(context.Background(), replay.Options{
		Workload: workload, BaseURL: api.URL + "/v1", Model: "tiny", DelayKey: "delay_ms",
		ResultsDir: results, Now: time.Now,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := os.ReadFile(filepath.Join(results, "requests.jsonl"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("requests:", strings.Count(string(rows), "\n"))
	fmt.Println("successful:", strings.Count(string(rows), `"success":true`))
	// Output:
	// requests: 3
	// successful: 3
}
