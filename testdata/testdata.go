// Package testdata holds run directories that tests read from disk, and embeds
// the one that the demo runs on: go:embed can't reach upwards, so the package
// that embeds must lie beside the files. It knows nothing of what they mean.
package testdata

import "embed"

// SampleDir is the harness run directory inside [Sample].
const SampleDir = "bm_agentperf_dsv4_5p1d/c1010"

// Sample is a small harness run directory, complete with datasets, request rows
// and statistics: 5 prefill workers, 1 decode worker, 1010 users.
//
//go:embed bm_agentperf_dsv4_5p1d
var Sample embed.FS
