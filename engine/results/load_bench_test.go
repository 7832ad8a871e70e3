package results

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// benchRows is the number of measured requests of the published run.
const benchRows = 230_509

const benchUsers = 1010

func writeRows(b *testing.B, dir string) int64 {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, RequestsFile))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range benchRows { // in the order of their ends, as the client writes them
		u, k := i%benchUsers, i/benchUsers
		end := 1.789e9 + 5*float64(k+1) + float64(u)*5/benchUsers
		fmt.Fprintf(w, `{"phase_idx":0,"concurrency":1010,"conversation_id":"coding-agent-%03d","conversation_idx":%d,`+
			`"user_id":%d,`+
			`"request_id":"%012x","start_time":%.7f,"end_time":%.7f,"server_input_tokens":%d,"server_output_tokens":%d,`+
			`"server_cached_tokens":%d,"ttft":%.6f,"itl":%.17g,"sse_output_speed":%.17g,"success":true,`+
			`"x_request_id":"%016x%016x"}`+"\n",
			u%500, k, u, i, end-2-2.9*rng.Float64(), end, 20000+rng.IntN(60000), rng.IntN(700), rng.IntN(20000), 1+rng.Float64(),
			0.005+0.01*rng.Float64(), 80+100*rng.Float64(), rng.Uint64(), rng.Uint64())
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	manifest := `{"phase_idx": 0, "settling_end": 1789000100.0, "actual_phase_end": 1789002156.0}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, ManifestFile), []byte(manifest), 0o644); err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// BenchmarkLoad reads a run and computes all figures.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	b.SetBytes(writeRows(b, dir))
	b.ReportAllocs()
	for b.Loop() {
		run, err := Load(b.Context(), dir, RunContext{})
		if err != nil || run.Phases[0].Total != benchRows {
			b.Fatal(err, run)
		}
	}
}

// BenchmarkSnapshot computes the figures of a live run of the same size.
func BenchmarkSnapshot(b *testing.B) {
	dir := b.TempDir()
	writeRows(b, dir)
	l, err := load(b.Context(), dir, RunContext{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		l.agg.Snapshot(time.Time{})
	}
}

// BenchmarkUpdate measures an update of a live run of the same size, with the 200 requests
// that end per second: figures, time series and recent figures.
func BenchmarkUpdate(b *testing.B) {
	dir := b.TempDir()
	writeRows(b, dir)
	l, err := load(b.Context(), dir, RunContext{})
	if err != nil {
		b.Fatal(err)
	}
	f := l.agg
	defer f.Close()
	if _, err := f.Series(0, 0); err != nil {
		b.Fatal(err)
	}
	n := benchRows
	for b.Loop() {
		for range 200 {
			u, k := n%benchUsers, n/benchUsers
			end := 1.789e9 + 5*float64(k+1) + float64(u)*5/benchUsers
			r := Request{
				Start: end - 4, End: end, TTFT: 1, ITL: 0.01, SSE: 100, Input: 1, Output: 1, Cached: 1,
				User: int32(u), Turn: int32(k), Conversation: 1, Pass: uint32(n), concurrency: benchUsers,
			}
			f.addRequest(&f.live, combineHash(uint64(n), 3), &r)
			n++
		}
		f.Snapshot(time.Time{})
		_, err1 := f.Series(0, 0)
		_, err2 := f.Recent(0, 60, time.Time{})
		if err := errors.Join(err1, err2); err != nil {
			b.Fatal(err)
		}
	}
}
