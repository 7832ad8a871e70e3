package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
)

// With BENCH_TEST_OPTIONS set, the test binary runs the step, so that tests can kill its process.
func TestMain(m *testing.M) {
	if text := os.Getenv("BENCH_TEST_OPTIONS"); text != "" {
		var p process
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		opt := p.options()
		opt.Environ, opt.Log, opt.Now = os.Environ(), os.Stdout, time.Now
		code, err := Run(context.Background(), opt)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// process holds the options of a step in its own process.
type process struct {
	Endpoint, Model, ClientDir, Config, ResultsDir, SystemPath string
	Levels                                                     []int
}

func (p process) options() Options {
	return Options{
		Endpoint: p.Endpoint, Model: p.Model, ClientDir: p.ClientDir, Config: p.Config, ResultsDir: p.ResultsDir,
		SystemPath: p.SystemPath, Levels: p.Levels,
	}
}

// testStep is a step in a test directory with a checkout, datasets and stand-ins for the tools.
type testStep struct {
	t   *testing.T
	dir string
	opt Options
	lim limits
	out *watchedLog
}

const workload = `# kept
base_url: http://placeholder:8000/v1
api_key: dummy
model: placeholder
concurrencies: [1]
phase_timeout_seconds: 2400.0
trajectory_path: %s
user_assignments_path: %s
their_own_key: kept
`

// newTestStep returns a step with the named stand-ins on PATH; default: git, uv and cargo.
func newTestStep(t *testing.T, programs ...string) *testStep {
	t.Helper()
	if programs == nil {
		programs = []string{"git", "uv", "cargo"}
	}
	w := &testStep{t: t, dir: t.TempDir(), out: newWatchedLog()}
	for _, p := range programs {
		w.program(w.path("bin", p), scripts[p])
	}
	w.write("checkout/agentperf/run.py", "")
	w.write("checkout/COMMIT", "2fd4e1c6\n")
	w.write("in/traj.jsonl", "{}\n")
	w.write("in/users.json", "[]\n")
	w.write("workload.yaml", fmt.Sprintf(workload, w.path("in/traj.jsonl"), w.path("in/users.json")))
	w.mkdir("stand")
	w.opt = Options{
		Endpoint: "http://127.0.0.1:8000", Model: "org/model", ClientDir: w.path("checkout"), Config: w.path("workload.yaml"),
		Levels:     []int{64, 1010},
		ResultsDir: w.path("logs/agentperf"), SystemPath: w.path("bin"), Log: w.out, Now: time.Now,
		Environ: []string{
			"AGENTPERF_RUNTIME=" + w.path("runtime"), "STAND=" + w.path("stand"), "SELF=" + w.path("bin"),
			"PATH=/usr/bin", "HOME=/root",
		},
	}
	w.lim = defaultLimits
	w.lim.poll, w.lim.grace = time.Millisecond, 10*time.Second
	return w
}

func (w *testStep) path(name ...string) string {
	return filepath.Join(append([]string{w.dir}, name...)...)
}

func (w *testStep) mkdir(name string) {
	w.t.Helper()
	if err := os.MkdirAll(w.path(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *testStep) write(name, text string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(name))
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *testStep) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// program writes an executable file. It holds the fork lock, so that no child process inherits the
// file while it is open for writing; executing it would fail with ETXTBSY.
func (w *testStep) program(path, text string) {
	w.t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *testStep) env(vars ...string) { w.opt.Environ = append(w.opt.Environ, vars...) }

func (w *testStep) run(ctx context.Context) (int, error) { return runWithLimits(ctx, w.opt, w.lim) }

// expect runs the step and checks its exit code and that its error contains text; if text is
// empty, there must be no error.
func (w *testStep) expect(code int, text string) {
	w.t.Helper()
	got, err := w.run(w.t.Context())
	w.check(got, err, code, text)
}

func (w *testStep) check(got int, err error, code int, text string) {
	w.t.Helper()
	if got != code || (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
		w.t.Fatalf("got code %d, error %v; want %d, %q\n%s", got, err, code, text, w.out)
	}
}

// calls returns the command lines of the programs that ran, except git.
func (w *testStep) calls() [][]string {
	w.t.Helper()
	data, err := os.ReadFile(w.path("stand/calls"))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	var out [][]string
	for line := range strings.Lines(string(data)) {
		out = append(out, strings.Split(strings.TrimSuffix(line, "\037\n"), "\037"))
	}
	return out
}

// steps returns the calls with one word for each.
func (w *testStep) steps() string {
	var out []string
	for _, c := range w.calls() {
		all := strings.Join(c, " ")
		for _, s := range []struct{ text, word string }{
			{"uv sync", "sync"},
			{"maturin", "maturin"},
			{"agentperf_rustcore", "import"},
			{"tiktoken", "tokenizer"},
			{script, "client"},
			{"rustup-init", "rustup"},
			{"pip", "pip"},
		} {
			if strings.Contains(all, s.text) {
				out = append(out, s.word)
				break
			}
		}
	}
	return strings.Join(out, " ")
}

// block makes a stand-in wait in a step until unblock is called.
func (w *testStep) block(step string) {
	w.t.Helper()
	w.mkdir("stand/hang-" + step)
	for _, fifo := range []string{"up", "go"} {
		if err := syscall.Mkfifo(w.path("stand/hang-"+step, fifo), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// awaitBlocked waits until a step is blocked. The returned file reaches its end when the step's
// process ends.
func (w *testStep) awaitBlocked(step string) *os.File {
	w.t.Helper()
	var f *os.File
	var err error
	b := make([]byte, 3)
	w.within("step "+step+" is blocked", func() {
		if f, err = os.Open(w.path("stand/hang-"+step, "up")); err == nil {
			_, err = f.Read(b)
		}
	})
	if err != nil || string(b) != "up\n" {
		w.t.Fatalf("read %q, %v", b, err)
	}
	w.t.Cleanup(func() { _ = f.Close() })
	return f
}

// within fails the test if f does not return in time.
func (w *testStep) within(what string, f func()) {
	w.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		w.t.Fatalf("timed out: %s\n%s", what, w.out)
	}
}

// unblock lets a blocked step continue; the next time it does not block.
func (w *testStep) unblock(step string) {
	w.t.Helper()
	f, err := os.OpenFile(w.path("stand/hang-"+step, "go"), os.O_WRONLY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if err := os.Rename(w.path("stand/hang-"+step), w.path("stand/done-"+step)); err != nil {
		w.t.Fatal(err)
	}
	if _, err := f.WriteString("go\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *testStep) events() []event.Event {
	w.t.Helper()
	events, err := event.ReadFile(w.path("logs", event.ClientFileName))
	if err != nil {
		w.t.Fatal(err)
	}
	return events
}

// result is the result of a step in the background.
type result struct {
	code int
	err  error
}

func (w *testStep) background(ctx context.Context, opt Options) <-chan result {
	done := make(chan result, 1)
	go func() {
		code, err := runWithLimits(ctx, opt, w.lim)
		done <- result{code, err}
	}()
	return done
}

// watchedLog is a log whose content a test can wait for.
type watchedLog struct {
	mu  sync.Mutex
	buf bytes.Buffer
	new *sync.Cond
}

func newWatchedLog() *watchedLog {
	w := &watchedLog{}
	w.new = sync.NewCond(&w.mu)
	return w
}

func (w *watchedLog) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.new.Broadcast()
	return w.buf.Write(p)
}

func (w *watchedLog) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// awaitLog waits until a log contains text.
func (w *testStep) awaitLog(log *watchedLog, text string) {
	w.t.Helper()
	w.within(text, func() {
		log.mu.Lock()
		defer log.mu.Unlock()
		for !strings.Contains(log.buf.String(), text) {
			log.new.Wait()
		}
	})
}

// scripts are the stand-ins. They record their command lines, reject unknown ones, and create the
// files of the real programs. The steps of uv block or fail if a test has put a file for it in STAND.
var scripts = map[string]string{
	"cargo": "#!/bin/sh\n",
	"git": `#!/bin/sh
[ "$1 $2 $3 $4" = "--no-optional-locks -c safe.directory=* -C" ] || exit 64
case "$6" in
rev-parse) [ -e "$5/COMMIT" ] || { echo "fatal: not a git repository" >&2; exit 128; }
	read -r c < "$5/COMMIT"; echo "$c" ;;
diff) if [ -e "$5/DIFF" ]; then read -r d < "$5/DIFF"; echo "$d"; fi ;;
*) exit 64 ;;
esac
`,
	"python3": `#!/bin/sh
{ printf '%s\037' python3 "$@"; echo; } >> "$STAND/calls"
[ "$1 $2 $3 $4" = "-m pip install --user" ] || exit 64
[ -e "$STAND/fail-pip" ] && { echo "no matching distribution"; exit 1; }
/bin/mkdir -p "$HOME/.local/bin"
/bin/cp "$SELF/.uv" "$HOME/.local/bin/uv"
`,
	"rustup-init": `#!/bin/sh
{ printf '%s\037' rustup-init "$@"; echo; } >> "$STAND/calls"
[ -n "$RUSTUP_HOME" ] || exit 64
/bin/mkdir -p "$CARGO_HOME/bin"
printf '#!/bin/sh\n' > "$CARGO_HOME/bin/cargo"
/bin/chmod +x "$CARGO_HOME/bin/cargo"
`,
	"uv": `#!/bin/sh
[ "$1" = --version ] && { echo "uv 0.8.22 (2fd4e1c6)"; exit; }
{ printf '%s\037' uv "$@"; echo; } >> "$STAND/calls"
[ -e agentperf/run.py ] || { echo "not in the checkout: $PWD"; exit 64; }
case "$*" in
"sync --frozen") step=sync ;;
"run --no-sync maturin develop --release -m rustcore/Cargo.toml") step=maturin ;;
"run --no-sync python -c import agentperf_rustcore") step=import ;;
"run --no-sync python -c import tiktoken"*) step=tokenizer ;;
"run --no-sync python agentperf/run.py "*) step=client ;;
*) echo "unknown: $*"; exit 64 ;;
esac
if [ $step = maturin ]; then command -v cargo > /dev/null || { echo "no cargo"; exit 64; }; fi
if [ -d "$STAND/hang-$step" ]; then
	read -r how < "$STAND/trap" 2> /dev/null
	[ "$how" = ignore ] && trap '' TERM
	[ "$how" = exit ] && trap 'echo "partial results"; exit 7' TERM
	exec 9> "$STAND/hang-$step/up"
	echo up >&9
	if [ -n "$how" ]; then
		/bin/sleep 1000 9>&- & wait $!
	else
		read -r _ < "$STAND/hang-$step/go"
	fi
fi
if [ -e "$STAND/fail-$step" ]; then
	read -r code text < "$STAND/fail-$step"
	echo "$text" >&2
	[ "$code" = kill ] && kill -9 $$
	exit "$code"
fi
[ $step = sync ] && /bin/mkdir -p "$UV_PROJECT_ENVIRONMENT"
[ $step = client ] || exit 0
/usr/bin/env > "$STAND/env"
shift 4
while [ $# -gt 0 ]; do
	case "$1" in
	--request-log-path) rows=$2 ;;
	--results-dir) results=$2 ;;
	esac
	shift
done
echo "Running 2 phase(s): concurrencies=[64, 1010]"
echo '{"phase_idx":0,"success":true}' >> "$rows"
echo '{"phase_idx":0,"settling_end":1.5,"actual_phase_end":9.5}' > "$results/phase_manifest.jsonl"
`,
}
