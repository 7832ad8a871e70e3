package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestConcurrentBuilds(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.block("sync")
	first := w.background(t.Context(), w.opt)
	w.awaitBlocked("sync")
	other := w.opt
	other.ResultsDir, other.EventFile = w.path("other/agentperf"), ""
	out := newWatchedLog()
	other.Log = out
	second := w.background(t.Context(), other)
	w.awaitLog(out, "wait for the build lock: held by process ")
	w.unblock("sync")
	for _, done := range []<-chan result{first, second} {
		r := <-done
		w.check(r.code, r.err, 0, "")
	}
	if got, want := strings.Count(w.steps(), "sync"), 1; got != want {
		t.Errorf("built %d times, want once: %s\n%s", got, w.steps(), out)
	}
	if got, want := strings.Count(w.steps(), "client"), 2; got != want {
		t.Errorf("%d clients ran, want %d", got, want)
	}
	if !strings.Contains(out.String(), "client already built") {
		t.Errorf("the second start does not log that the client is built:\n%s", out)
	}
}

func TestBuildAfterFailedBuild(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.block("sync")
	w.write("stand/fail-sync", "2 broken")
	first := w.background(t.Context(), w.opt)
	w.awaitBlocked("sync")
	other := w.opt
	other.ResultsDir, other.EventFile = w.path("other/agentperf"), ""
	out := newWatchedLog()
	other.Log = out
	second := w.background(t.Context(), other)
	w.awaitLog(out, "wait for the build lock: held by process ")
	w.unblock("sync")
	r := <-first
	w.check(r.code, r.err, 1, "broken")
	r = <-second
	w.check(r.code, r.err, 1, "broken")
	if got := w.steps(); got != "sync sync" {
		t.Errorf("steps %q, want both to try", got)
	}
}

func TestBuildAfterKilledBuild(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.block("maturin")
	cmd := w.process()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	alive := w.awaitBlocked("maturin")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	w.within("the end of the killed step's child", func() { _, _ = io.ReadAll(alive) })
	w.remove("stand/hang-maturin")
	w.expect(0, "")
	if got, want := w.steps(), "sync maturin "+buildSteps; got != want {
		t.Errorf("steps %q, want %q", got, want)
	}
	if !strings.Contains(w.out.String(), ": its process has ended") {
		t.Errorf("the log does not mention the stale lock:\n%s", w.out)
	}
}

func TestAbandonedLocks(t *testing.T) {
	t.Parallel()
	me, err := self(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	other := me
	other.Start++
	ended := me
	ended.PID = 1 << 30
	remote := me
	remote.Host = "elsewhere pid:[1]"
	for _, c := range []struct {
		name   string
		holder any // nil: no record
		age    time.Duration
		code   int
		text   string // in the error, or in the log
	}{
		{"process ended", ended, 0, 0, "its process has ended"},
		{"PID reused", other, 0, 0, "its process has ended"},
		{"alive, old", me, time.Hour, 0, ": 1h0m"},
		{"alive", me, 0, 1, "still held after"},
		{"on another host", remote, time.Minute, 1, "still held after"},
		{"on another host, old", remote, time.Hour, 0, ": 1h0m"},
		{"no record", nil, time.Minute, 1, "still held after"},
		{"no record, old", nil, time.Hour, 0, ": 1h0m"},
		{"incomplete record", "{", time.Minute, 1, "an unknown process"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTestStep(t)
			w.lim.wait = 20 * time.Millisecond
			if c.code == 0 {
				w.lim.wait = time.Minute
			}
			w.mkdir("runtime/.build-lock")
			if c.holder != nil {
				data, err := json.Marshal(c.holder)
				if err != nil {
					t.Fatal(err)
				}
				w.write("runtime/.build-lock/holder.json", string(data))
			}
			at := time.Now().Add(-c.age)
			if err := os.Chtimes(w.path("runtime/.build-lock"), at, at); err != nil {
				t.Fatal(err)
			}
			code, err := w.run(t.Context())
			all := w.out.String()
			if err != nil {
				all += err.Error()
			}
			if code != c.code || !strings.Contains(all, c.text) {
				t.Errorf("code %d, want %d and %q\n%s", code, c.code, c.text, all)
			}
		})
	}
}

// Another process may acquire the lock after it was found to be stale.
func TestBreakStaleReadsLockAgain(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	l := buildLock{dir: w.path("lock"), now: time.Now, stale: time.Hour}
	w.write("lock/holder.json", `{"pid":1}`)
	old, ok, err := l.read()
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	w.write("lock/holder.json", `{"pid":2}`)
	if err := l.breakStale(old); err != nil {
		t.Fatal(err)
	}
	if now, ok, err := l.read(); err != nil || !ok || now.PID != 2 {
		t.Errorf("the new holder's lock: %+v, %v, %v", now, ok, err)
	}
}

func TestReleaseOnlyOwnLock(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	l := buildLock{dir: w.path("lock"), now: time.Now, stale: time.Hour}
	if ok, err := l.tryAcquire(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if ok, err := l.tryAcquire(); err != nil || ok {
		t.Fatalf("acquired twice: %v, %v", ok, err)
	}
	w.write("lock/holder.json", `{"pid":2}`)
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := l.read(); err != nil || !ok {
		t.Errorf("the lock of another process was removed: %v", err)
	}
}

func TestTerminateWhileWaiting(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.mkdir("runtime/.build-lock")
	ctx, term := context.WithCancel(t.Context())
	done := w.background(ctx, w.opt)
	w.awaitLog(w.out, "held by an unknown process since")
	term()
	r := <-done
	w.check(r.code, r.err, interrupted, "stopped before the client started")
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	rest := " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21"
	for _, c := range []struct {
		name, stat string
		ticks      uint64
		alive      bool
	}{
		{"running", "17 (uv) R" + rest, 4242, true},
		{"odd name", "17 (a) Z (b) S" + rest, 4242, true},
		{"zombie", "17 (uv) Z" + rest, 0, false},
		{"cut off", "17 (uv) R 1 2", 0, false},
		{"too many ticks", "17 (uv) R" + strings.Replace(rest, "4242", "18888888888888888888", 1), 0, false},
		{"empty", "", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ticks, alive := parseStat(c.stat)
			if ticks != c.ticks || alive != c.alive {
				t.Errorf("got %d, %v, want %d, %v", ticks, alive, c.ticks, c.alive)
			}
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("17 (uv) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20")
	f.Add(")")
	f.Add("(((")
	f.Fuzz(func(t *testing.T, stat string) {
		if ticks, alive := parseStat(stat); !alive && ticks != 0 {
			t.Errorf("%d ticks for a process that is not alive", ticks)
		}
	})
}

// A long line is not cut within a character.
func TestLastLine(t *testing.T) {
	t.Parallel()
	x := strings.Repeat("x", lineBytes-1)
	for written, want := range map[string]string{
		"": "", "a\nb\n\n": "b", "a\nb": "b", "\xff\n": "?", x + "é\n": x, x + "xé": x + "x",
	} {
		l := lastLine{to: io.Discard}
		if _, err := l.Write([]byte(written)); err != nil || l.String() != want {
			t.Errorf("%q: %q, %v, want %q", written, l.String(), err, want)
		}
	}
}

func FuzzParseHolder(f *testing.F) {
	f.Add([]byte(`{"pid":17,"start":4242,"host":"n1 pid:[1]","since":"x"}`))
	f.Add([]byte(`{"pid":-1}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if h := parseHolder(raw); h.PID < 0 || h.PID == 0 && h != (holder{}) {
			t.Errorf("%+v from %q", h, raw)
		}
		l := lastLine{to: &bytes.Buffer{}}
		if n, err := l.Write(raw); n != len(raw) || err != nil || len(l.String()) > 3*lineBytes {
			t.Errorf("wrote %d, %v, remembers %d bytes", n, err, len(l.String()))
		}
	})
}
