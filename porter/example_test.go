package porter_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/sample"
)

// This example ports the embedded sample run and prints how its fields were obtained and which
// questions are open.
func ExamplePort() {
	dir, err := os.MkdirTemp("", "port")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, sample.Files); err != nil {
		log.Fatal(err)
	}
	run := filepath.Join(dir, filepath.FromSlash(sample.Dir))
	result, err := porter.Port(context.Background(), run, porter.Options{WorkloadOut: "/scratch/out/workload.yaml"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.SummaryLine())
	for part := range strings.SplitSeq(result.Proof.Summary(), "; ") {
		fmt.Println(part)
	}
	fmt.Printf("%d must fix, %d to confirm\n", result.CountOpen(porter.MustFix), result.CountOpen(porter.Confirm))
	for _, question := range result.Todos {
		if question.Kind == porter.MustFix {
			fmt.Println(question.ID)
		}
	}
	// Output:
	// 186 fields: 138 copied, 16 translated, 8 inferred, 21 default, 1 guessed, 2 todo
	// 8 launch lines read of 8 seen, and the client's command
	// 500 tokens read, 0 unaccounted: 237 same, 263 changed or dropped by a known rule, 0 asked
	// 165 values of engine configs unchanged
	// 0 lost over 8 launch lines and the client's command
	// 2 must fix, 6 to confirm
	// workload:trajectory_path
	// workload:user_assignments_path
}
