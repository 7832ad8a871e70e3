// Package sample embeds a small harness run directory, complete with datasets,
// request rows and statistics: what the demo ports. It knows nothing of what the
// files mean. testdata has a link to the directory.
package sample

import "embed"

// Dir is the run directory inside [Files].
const Dir = "bm_agentperf_dsv4_5p1d/c1010"

// Files holds the run directory: 5 prefill workers, 1 decode worker, 1010 users.
//
//go:embed bm_agentperf_dsv4_5p1d
var Files embed.FS
