package results_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/agentperf/agentperf-tui/engine/results"
)

// rows are request rows of three users. The client writes more keys than these.
const rows = `{"user_id":0,"start_time":1000,"end_time":1002,"server_output_tokens":200,"ttft":0.5,"success":true}
{"user_id":1,"start_time":1001,"end_time":1004,"server_output_tokens":300,"ttft":0.7,"success":true}
{"user_id":2,"start_time":1009,"end_time":1011,"success":false,"error_kind":"timeout"}
`

// manifest is the row that the client writes at the end of a phase, with the measuring window.
const manifest = `{"phase_idx":0,"settling_end":1000,"actual_phase_end":1010}
`

// Load computes the figures of a run from the files that the client wrote.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "results")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{results.RequestsFile: rows, results.ManifestFile: manifest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	run, err := results.Load(context.Background(), dir, results.RunContext{})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range run.Phases {
		fmt.Printf("phase %d: %d requests measured, %d failed\n", p.Index, p.Requests.Measured, p.Requests.Failed)
		for _, key := range []string{results.Primary, results.TTFT50} {
			f := p.Figures.Get(key)
			fmt.Printf("%s: %s, n=%d, invalid=%q\n", f.Label, f.Text(), f.N, f.Invalid)
		}
	}
	// Output:
	// phase 0: 3 requests measured, 1 failed
	// Output tok/s (server-reported): 50.0 tok/s, n=2, invalid=""
	// TTFT p50: 0.600 s, n=2, invalid="2 samples, p50 needs 20"
}

// An Aggregator computes the figures of a running client, to which lines are added as
// they are written.
func ExampleAggregator() {
	agg := results.NewAggregator()
	defer agg.Close()
	agg.AddPlan(results.PlannedPhase{Phase: 0, Concurrency: 3, Timeout: 60})
	err := agg.AddRequestRow([]byte(
		`{"user_id":0,"start_time":1000,"end_time":1002,"server_output_tokens":200,"success":true}`))
	if err != nil {
		log.Fatal(err)
	}
	run := agg.Snapshot(time.Unix(1010, 0))
	p := run.Phases[0]
	fmt.Printf("%s window of %.0f s: %s\n", p.Window.Source, p.Window.Seconds, p.Figures.Get(results.Primary).Text())
	// Output:
	// estimated window of 10 s: 20.0 tok/s
}
