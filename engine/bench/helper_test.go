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

// The test binary plays the step as a process of its own, so that it can be killed.
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

// process is what a step of its own is told.
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

// world is a container with a checkout, datasets and stand-ins for the tools.
type world struct {
	t   *testing.T
	dir string
	opt Options
	lim limits
	out *watched
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

// newWorld has git, uv and cargo on PATH, unless others are named.
func newWorld(t *testing.T, programs ...string) *world {
	t.Helper()
	if programs == nil {
		programs = []string{"git", "uv", "cargo"}
	}
	w := &world{t: t, dir: t.TempDir(), out: newWatched()}
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
	w.lim = usual
	w.lim.poll, w.lim.grace = time.Millisecond, 10*time.Second
	return w
}

func (w *world) path(name ...string) string {
	return filepath.Join(append([]string{w.dir}, name...)...)
}

func (w *world) mkdir(name string) {
	w.t.Helper()
	if err := os.MkdirAll(w.path(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(name))
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// program writes an executable. The fork lock keeps a concurrently started
// process from inheriting the file while it is open for writing, which would
// make it "busy".
func (w *world) program(path, text string) {
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

func (w *world) env(vars ...string) { w.opt.Environ = append(w.opt.Environ, vars...) }

func (w *world) run(ctx context.Context) (int, error) { return start(ctx, w.opt, w.lim) }

// want runs the step, which must end with a code, and an error that holds a
// text; empty: none.
func (w *world) want(code int, text string) {
	w.t.Helper()
	got, err := w.run(w.t.Context())
	w.check(got, err, code, text)
}

func (w *world) check(got int, err error, code int, text string) {
	w.t.Helper()
	if got != code || (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
		w.t.Fatalf("got code %d, error %v; want %d, %q\n%s", got, err, code, text, w.out)
	}
}

// calls are the programs that ran, without the calls of git.
func (w *world) calls() [][]string {
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

// steps are the calls in one word each.
func (w *world) steps() string {
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

// hang makes a stand-in's step stop until the returned file says more.
func (w *world) hang(step string) {
	w.t.Helper()
	w.mkdir("stand/hang-" + step)
	for _, fifo := range []string{"up", "go"} {
		if err := syscall.Mkfifo(w.path("stand/hang-"+step, fifo), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// hangs waits until a step hangs; the file ends with the step's process.
func (w *world) hangs(step string) *os.File {
	w.t.Helper()
	var f *os.File
	var err error
	b := make([]byte, 3)
	w.within("step "+step+" hangs", func() {
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

// within fails the test when something does not happen in a long time.
func (w *world) within(what string, f func()) {
	w.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		w.t.Fatalf("not seen: %s\n%s", what, w.out)
	}
}

// goOn lets a hanging step go on, and the next ones not hang.
func (w *world) goOn(step string) {
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

func (w *world) events() []event.Event {
	w.t.Helper()
	events, err := event.ReadFile(w.path("logs", event.ClientFileName))
	if err != nil {
		w.t.Fatal(err)
	}
	return events
}

// result is how a step in the background ended.
type result struct {
	code int
	err  error
}

func (w *world) background(ctx context.Context, opt Options) <-chan result {
	done := make(chan result, 1)
	go func() {
		code, err := start(ctx, opt, w.lim)
		done <- result{code, err}
	}()
	return done
}

// watched is a log that a test can wait on.
type watched struct {
	mu  sync.Mutex
	buf bytes.Buffer
	new *sync.Cond
}

func newWatched() *watched {
	w := &watched{}
	w.new = sync.NewCond(&w.mu)
	return w
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.new.Broadcast()
	return w.buf.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// until waits for a text in a log.
func (w *world) until(log *watched, text string) {
	w.t.Helper()
	w.within(text, func() {
		log.mu.Lock()
		defer log.mu.Unlock()
		for !strings.Contains(log.buf.String(), text) {
			log.new.Wait()
		}
	})
}

// scripts are the stand-ins. They record how they were called, refuse what they
// don't know, and do what the real ones leave behind. uv's steps hang or fail
// where a test has left a word for it in STAND.
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
