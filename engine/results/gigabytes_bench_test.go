package results

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gigabytes is the size of the files of BenchmarkGigabytes in bytes.
const gigabytes = 2 << 30

// loadVariable makes the test binary only load a directory, so that the time and memory
// of a process can be measured.
const loadVariable = "AGENTPERF_BENCH_LOAD"

func TestMain(m *testing.M) {
	dir := os.Getenv(loadVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	run, err := Load(context.Background(), dir, RunContext{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(run.Text())
}

// pythonLoop is a minimal reader of the rows in Python, for comparison.
const pythonLoop = `
import json, sys
n = tokens = 0
for line in open(sys.argv[1]):
    row = json.loads(line)
    n += 1
    tokens += row["server_output_tokens"] or 0
print(n, tokens)
`

// gigabyteKind is a kind of rows of BenchmarkGigabytes.
type gigabyteKind struct {
	name, file         string
	minText, moreBytes int  // bytes of text per row: at least, and at most how many more
	spaced             bool // a space after each colon and comma, as Python writes by default
}

var gigabyteKinds = []gigabyteKind{
	{name: "short", file: RequestsFile},
	{name: "short-spaced", file: RequestsFile, spaced: true},
	{name: "4kB", file: testStem.String() + ".jsonl", minText: 3900, moreBytes: 200},
	{name: "4kB-spaced", file: testStem.String() + ".jsonl", minText: 3900, moreBytes: 200, spaced: true},
	{name: "text", file: testStem.String() + ".jsonl", minText: 20_000, moreBytes: 180_000},
}

// BenchmarkGigabytes reads 2 GiB of rows of each kind in a separate process. It compares
// the time with wc -l and with a loop in Python on the same file, with a warm cache. It
// takes minutes.
func BenchmarkGigabytes(b *testing.B) {
	if testing.Short() {
		b.Skip("writes and reads gigabytes")
	}
	for _, kind := range gigabyteKinds {
		b.Run(kind.name, func(b *testing.B) {
			dir := b.TempDir()
			path := filepath.Join(dir, kind.file)
			writeGigabytes(b, path, kind, gigabytes)
			command(b, nil, "wc", "-l", path) // warms the cache
			wc, _ := command(b, nil, "wc", "-l", path)
			python := time.Duration(0)
			if p, err := exec.LookPath("python3"); err == nil {
				python, _ = command(b, nil, p, "-c", pythonLoop, path)
			} else {
				b.Log("not compared with Python: python3 not found")
			}
			b.SetBytes(gigabytes)
			var took time.Duration
			var memory int64
			n := 0
			for b.Loop() {
				t, m := command(b, []string{loadVariable + "=" + dir}, os.Args[0])
				took, memory, n = took+t, max(memory, m), n+1
			}
			mean := took / time.Duration(n)
			b.ReportMetric(float64(memory)/(1<<20), "MiB-resident")
			b.ReportMetric(wc.Seconds()/mean.Seconds(), "of-wc's-speed")
			b.ReportMetric(python.Seconds()/mean.Seconds(), "x-python")
		})
	}
}

// command runs a program and returns its time and its peak memory in bytes.
func command(b *testing.B, env []string, name string, args ...string) (time.Duration, int64) {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%.2000s", name, err, out)
	}
	took := time.Since(began)
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		b.Fatal(errors.New("no resource usage on this system"))
	}
	return took, usage.Maxrss << 10
}

// writeGigabytes writes rows like those of the client, of a kind.
func writeGigabytes(b testing.TB, path string, kind gigabyteKind, bytes int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.New(rand.NewPCG(7, 8))
	const passage = `Please look at \"main.go\": the loop in func main() {\n\tfor i := range items ` +
		`{\n\t\tfmt.Println(items[i]) // caf\u00e9\n\t}\n} `
	prose := strings.Repeat(passage, 2000)
	const users = 20_000
	ends := make([]float64, users)
	spaces := strings.NewReplacer()
	if kind.spaced {
		spaces = strings.NewReplacer(`":`, `": `, `,"`, `, "`)
	}
	for size, i := 0, 0; size < bytes; i++ {
		u := i % users
		start := ends[u] + 1.789e9 + rng.Float64()
		end := start + 2 + 8*rng.Float64()
		ends[u] = end - 1.789e9
		more := ""
		if kind.minText > 0 {
			at, n := rng.IntN(100), kind.minText+rng.IntN(kind.moreBytes)
			at *= len(passage)
			more = `,"messages":[{"role":"user","content":"` + prose[at:at+n/len(passage)*len(passage)] + `"}]`
		}
		line := fmt.Sprintf(`{"phase_idx":0,"concurrency":20000,"conversation_id":"coding-agent-%03d",`+
			`"conversation_idx":%d,"user_id":%d,`+
			`"request_id":"%012x","start_time":%.7f,"end_time":%.7f%s,"server_input_tokens":%d,"server_output_tokens":%d,`+
			`"server_cached_tokens":%d,"ttft":%.6f,"itl":%.17g,"sse_output_speed":%.17g,"success":true,`+
			`"x_request_id":"%016x%016x"}`+"\n",
			u%500, i/users, u, i, start, end, more, 20000+rng.IntN(60000), rng.IntN(700), rng.IntN(20000), 1+rng.Float64(),
			0.005+0.01*rng.Float64(), 80+100*rng.Float64(), rng.Uint64(), rng.Uint64())
		n, err := spaces.WriteString(w, line)
		if err != nil {
			b.Fatal(err)
		}
		size += n
	}
	if err := errors.Join(w.Flush(), f.Sync()); err != nil { // pending writes would slow down the commands
		b.Fatal(err)
	}
	manifest := `{"phase_idx": 0, "settling_end": 1789000005.0, "actual_phase_end": 1789009000.0}` + "\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), ManifestFile), []byte(manifest), 0o644); err != nil {
		b.Fatal(err)
	}
}
