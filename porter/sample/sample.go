// Package sample embeds a small harness run directory for the demo, with datasets, request rows and
// statistics. The directory testdata has a symbolic link to it.
package sample

import "embed"

// Dir is the run directory inside [Files].
const Dir = "bm_agentperf_dsv4_5p1d/c1010"

// Files contains the run directory, of a run with 5 prefill workers, 1 decode worker and 1010
// users.
//
//go:embed bm_agentperf_dsv4_5p1d
var Files embed.FS
