package bench

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const buildSteps = "sync maturin import tokenizer client"

func TestBuildOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(w *testStep)
		want   string // the second start's steps
	}{
		{"nothing changed", func(*testStep) {}, "client"},
		{"another commit", func(w *testStep) { w.write("checkout/COMMIT", "beefbeef\n") }, buildSteps},
		{"changes in the checkout", func(w *testStep) { w.write("checkout/DIFF", "+x\n") }, buildSteps},
		{"the virtual environment is missing", func(w *testStep) { w.remove("runtime/venv") }, buildSteps},
		{"built for another machine", func(w *testStep) { w.write("runtime/READY", "riscv64:2fd4e1c6\n") }, buildSteps},
		{"no git", func(w *testStep) { w.remove("bin/git") }, buildSteps},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTestStep(t)
			w.expect(0, "")
			w.remove("stand/calls")
			c.change(w)
			w.expect(0, "")
			if got := w.steps(); got != c.want {
				t.Errorf("steps of the second start: %q, want %q\n%s", got, c.want, w.out)
			}
		})
	}
}

func (w *testStep) remove(name string) {
	w.t.Helper()
	if err := os.RemoveAll(w.path(name)); err != nil {
		w.t.Fatal(err)
	}
}

func TestMarker(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.expect(0, "")
	w.write("checkout/DIFF", "+x\n")
	w.expect(0, "")
	dirty := w.read("runtime/READY")
	if want := machine() + ":2fd4e1c6-dirty-"; !strings.HasPrefix(dirty, want) {
		t.Errorf("READY holds %q, want %q…", dirty, want)
	}
	w.expect(0, "")
	if got := w.read("runtime/READY"); got != dirty {
		t.Errorf("same changes: READY was %q and is now %q", dirty, got)
	}
	w.write("checkout/DIFF", "+y\n")
	w.expect(0, "")
	if got := w.read("runtime/READY"); got == dirty {
		t.Errorf("other changes: READY is still %q", got)
	}
	w.remove("checkout/COMMIT")
	w.expect(0, "")
	w.remove("stand/calls")
	w.expect(0, "")
	if got := w.steps(); got != buildSteps || !strings.Contains(w.out.String(), "fatal: not a git repository") {
		t.Errorf("a checkout without a commit: %q\n%s", got, w.out)
	}
}

func TestRealGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git on this machine")
	}
	w := newTestStep(t, "uv", "cargo")
	if err := os.Symlink(git, w.path("bin/git")); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), git,
			append([]string{"-C", w.path("checkout"), "-c", "user.name=n", "-c", "user.email=e"}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+w.dir, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q")
	run("add", ".")
	run("commit", "-q", "-m", "c")
	w.expect(0, "")
	if got, want := w.read("runtime/READY"), machine()+":"+run("rev-parse", "HEAD")+"\n"; got != want {
		t.Errorf("READY holds %q, want %q", got, want)
	}
	w.write("checkout/untracked", "files that a run leaves in the checkout are not changes")
	w.expect(0, "")
	if strings.Contains(w.read("runtime/READY"), "dirty") {
		t.Error("an untracked file counts as a change")
	}
	w.write("checkout/agentperf/run.py", "print()\n")
	w.expect(0, "")
	if !strings.Contains(w.read("runtime/READY"), "-dirty-") {
		t.Error("a changed file does not count")
	}
}

func TestFailingBuild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ step, name string }{
		{"sync", "uv sync"}, {"maturin", "maturin"}, {"import", "import check"},
	} {
		t.Run(c.step, func(t *testing.T) {
			t.Parallel()
			w := newTestStep(t)
			w.write("stand/fail-"+c.step, "2 error: could not connect")
			w.expect(1, "bench: build step "+c.name+
				": uv exited with code 2: error: could not connect; the build needs the network")
			if strings.Contains(w.steps(), "client") {
				t.Error("the client was started")
			}
			if _, err := os.Stat(w.path("runtime/READY")); !os.IsNotExist(err) {
				t.Errorf("READY exists: %v", err)
			}
			w.remove("stand/fail-" + c.step)
			w.expect(0, "") // the lock was released, and the client is built again
		})
	}
}

func TestTokenizerIsBestEffort(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.write("stand/fail-tokenizer", "1 no route to host")
	w.expect(0, "")
	if got := w.steps(); got != buildSteps || !strings.Contains(w.out.String(), "tokenizer cache: failed after") {
		t.Errorf("steps %q\n%s", got, w.out)
	}
}

func TestBuildTimeout(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.lim.build = 1
	w.expect(1, "not done within 1ns")
}

func TestInstallMissingTools(t *testing.T) {
	t.Parallel()
	w := newTestStep(t, "git", "python3", "rustup-init")
	w.program(w.path("bin/.uv"), scripts["uv"])
	w.env("AGENTPERF_RUST_VERSION=1.90.0", "AGENTPERF_UV_VERSION=0.8.1")
	w.expect(0, "")
	if got, want := w.steps(), "rustup pip "+buildSteps; got != want {
		t.Fatalf("steps %q, want %q", got, want)
	}
	calls := w.calls()
	for i, want := range []string{
		"rustup-init -y --no-modify-path --profile minimal --default-toolchain 1.90.0",
		"python3 -m pip install --user uv==0.8.1",
	} {
		if got := strings.Join(calls[i], " "); got != want {
			t.Errorf("call %d: %q, want %q", i, got, want)
		}
	}
	w.remove("stand/calls")
	w.expect(0, "")
	if got := w.steps(); got != "client" {
		t.Errorf("steps of the second start: %q, want only the client", got)
	}
}

func TestPipFails(t *testing.T) {
	t.Parallel()
	w := newTestStep(t, "git", "python3", "cargo")
	w.write("stand/fail-pip", "")
	w.expect(1,
		"build step install uv 0.8.22: python3 exited with code 1: no matching distribution; the build needs the network")
}

func TestFetchRustup(t *testing.T) {
	t.Parallel()
	var asked string
	answer := scripts["rustup-init"]
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		if answer == "" {
			rw.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = rw.Write([]byte(answer)) // an error shows up in the client
	}))
	defer server.Close()
	w := newTestStep(t, "git", "uv")
	w.env("RUSTUP_UPDATE_ROOT=" + server.URL + "/")
	w.expect(0, "")
	if want := "/archive/1.28.1/" + machine() + "-unknown-linux-gnu/rustup-init"; asked != want {
		t.Errorf("asked for %s, want %s", asked, want)
	}
	const want = "rustup-init -y --no-modify-path --profile minimal --default-toolchain 1.93.1"
	if got := strings.Join(w.calls()[0], " "); got != want {
		t.Errorf("called %q, want %q", got, want)
	}
	answer = ""
	w.remove("runtime")
	w.expect(1, "status 404 Not Found; the build needs the network")
}

func TestRustupWithoutCargo(t *testing.T) {
	t.Parallel()
	w := newTestStep(t, "git", "uv")
	w.program(w.path("bin/rustup-init"), "#!/bin/sh\n")
	w.expect(1, "rustup-init did not install cargo in "+w.path("runtime/cargo/bin"))
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	got := redacted([]string{"uv", "--api-key", "k1", "--api-key=k2", "--seed", "1", "--api-key"})
	if want := "uv --api-key … --api-key=… --seed 1 --api-key"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLimitsAreConsistent(t *testing.T) {
	t.Parallel()
	lim := defaultLimits
	if lim.build+lim.grace >= lim.stale {
		t.Errorf("a build may take %s, but its lock is stale after %s, so two could build at once", lim.build, lim.stale)
	}
	if lim.grace >= 30*time.Second {
		t.Errorf("the client has %s to end, but the supervisor kills it after 30 s", lim.grace)
	}
}
