package parity_test

import (
	"context"
	"fmt"
	"log"

	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
)

// Compare compares two runs, here from files with published figures. The server-reported
// output throughput decides the verdict.
func ExampleCompare() {
	var sides []parity.Side
	for _, path := range []string{"testdata/script-harness.yaml", "testdata/srt-slurm.yaml"} {
		side, err := parity.Load(context.Background(), path, parity.AnyPhase, results.RunContext{})
		if err != nil {
			log.Fatal(err)
		}
		sides = append(sides, side)
	}
	c := parity.Compare(sides[0], sides[1], parity.Options{Band: 0.01})
	fmt.Println(c.Verdict)
	fmt.Println(c.Summary())
	for _, r := range c.Rows[:4] {
		fmt.Printf("%s: %s -> %s (%s)\n", r.Metric, r.Reference, r.Candidate, r.Delta)
	}
	// Output:
	// within
	// within the band: Output tok/s (server-reported) −0.41%, band ±1%
	// Output tok/s (server-reported): 60,822.2 -> 60,573.2 (−0.41%)
	// Output tok/s (client-estimated): 45,776.2 -> 45,697.7 (−0.17%)
	// Total tok/s (server-reported): 8,145,082.8 -> 8,014,563.4 (−1.60%)
	// TTFT p50: 1.348 s -> 1.376 s (+2.1%)
}

// Runs that differ in the seed, the dataset or another property are not comparable.
func ExampleCompare_notComparable() {
	side := func(seed string) parity.Side {
		return parity.Side{Name: "run", About: parity.About{Seed: seed}, Phase: results.Phase{
			Figures: results.Figures{{Key: results.Primary, Value: 1000}},
		}}
	}
	c := parity.Compare(side("1"), side("2"), parity.Options{})
	fmt.Println(c.Summary())
	c = parity.Compare(side("1"), side("2"), parity.Options{Force: true})
	fmt.Println(c.Summary())
	// Output:
	// not comparable: seed differs: 1 vs. 2
	// within the band: Output tok/s (server-reported) +0.00%, band ±2% (forced despite: seed differs: 1 vs. 2)
}
