package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

func TestChangedDatasetIsCopiedAgain(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.expect(0, "")
	w.expect(0, "")
	if got := strings.Count(w.out.String(), "stage traj.jsonl: unchanged"); got != 1 {
		t.Errorf("the second start logs %d times that the source is unchanged, want once\n%s", got, w.out)
	}
	w.write("in/traj.jsonl", "{\"a\":1}\n")
	w.expect(0, "")
	if got, want := w.read("runtime/data/traj.jsonl"), "{\"a\":1}\n"; got != want {
		t.Errorf("another size: the copy holds %q, want %q", got, want)
	}
	w.write("in/traj.jsonl", "{\"a\":2}\n")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(w.path("in/traj.jsonl"), later, later); err != nil {
		t.Fatal(err)
	}
	w.expect(0, "")
	if got, want := w.read("runtime/data/traj.jsonl"), "{\"a\":2}\n"; got != want {
		t.Errorf("another time: the copy holds %q, want %q", got, want)
	}
	if got := w.steps(); strings.Count(got, "sync") != 1 {
		t.Errorf("steps %q, want one build", got)
	}
}

func TestInvalidDatasets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(w *testStep)
		want string
	}{
		{"empty", func(w *testStep) { w.write("in/traj.jsonl", "") }, "trajectory_path: " + "%s/in/traj.jsonl is empty"},
		{
			"missing", func(w *testStep) { w.remove("in/users.json") },
			"user_assignments_path: stat %s/in/users.json: no such file or directory; mount its directory",
		},
		{
			"directory", func(w *testStep) { w.remove("in/users.json"); w.mkdir("in/users.json") },
			"%s/in/users.json is empty or not a regular file",
		},
		{"same file name", func(w *testStep) {
			w.write("b/traj.jsonl", "[]")
			w.write("workload.yaml", fmt.Sprintf(workload, w.path("in/traj.jsonl"), w.path("b/traj.jsonl")))
		}, "both files are named traj.jsonl"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTestStep(t)
			c.make(w)
			w.expect(1, strings.ReplaceAll(c.want, "%s", w.dir))
			if strings.Contains(w.steps(), "client") {
				t.Error("the client was started")
			}
		})
	}
}

func TestRelativePathAndNoAssignments(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.write("checkout/data/t.jsonl", "{}")
	w.write("workload.yaml", "trajectory_path: data/t.jsonl\n")
	w.expect(0, "")
	want := "trajectory_path: \"" + w.path("runtime/data/t.jsonl") + "\"\n"
	if got := w.read("runtime/benchmark_config.yaml"); got != want {
		t.Errorf("workload %q, want %q", got, want)
	}
}

func TestCopyProgress(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.write("in/traj.jsonl", strings.Repeat("x", 20_000_000))
	w.expect(0, "")
	if got := strings.Count(w.out.String(), " of 20 MB\n"); got != 9 {
		t.Errorf("%d lines of progress, want 9\n%s", got, w.out)
	}
	if got := len(w.read("runtime/data/traj.jsonl")); got != 20_000_000 {
		t.Errorf("copied %d bytes", got)
	}
}

func TestGrowingDataset(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	info, err := os.Stat(w.path("in/traj.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	in := input{source: w.path("in/traj.jsonl"), copy: w.path("copy"), info: info}
	w.write("in/traj.jsonl", "{}\n{}\n")
	s := &step{Options: w.opt, rec: &recorder{log: w.out, now: time.Now}}
	if err := s.copyDataset(t.Context(), in); err == nil || !strings.Contains(err.Error(), "changed while it was copied") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(in.copy); !os.IsNotExist(err) {
		t.Errorf("an incomplete copy was left: %v", err)
	}
}

func TestCancelledCopy(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	info, err := os.Stat(w.path("in/traj.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s := &step{Options: w.opt, rec: &recorder{log: w.out, now: time.Now}}
	err = s.copyDataset(ctx, input{source: w.path("in/traj.jsonl"), copy: w.path("copy"), info: info})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, endpoint string
		env            environ
		want, err      string
	}{
		{"as given", "http://n1:8000", nil, "http://n1:8000/v1", ""},
		{"slash", "http://n1:8000/", nil, "http://n1:8000/v1", ""},
		{
			"frontend", "http://localhost:8000",
			environ{"SRT_FRONTEND_HOST": "10.0.0.7", "SRT_FRONTEND_PORT": "8333"},
			"http://10.0.0.7:8333/v1", "",
		},
		{
			"frontend's host alone", "http://localhost:8000",
			environ{"SRT_FRONTEND_HOST": "10.0.0.7"},
			"http://10.0.0.7:8000/v1", "",
		},
		{"port alone", "http://n1:8000", environ{"SRT_FRONTEND_PORT": "9"}, "http://n1:8000/v1", ""},
		{"IPv6", "http://[::1]:8000", environ{"SRT_FRONTEND_HOST": "fd00::7"}, "http://[fd00::7]:8000/v1", ""},
		{"base path", "http://n1:8000", environ{"AGENTPERF_BASE_PATH": "api/v2/"}, "http://n1:8000/api/v2", ""},
		{"no base path", "http://n1:8000", environ{"AGENTPERF_BASE_PATH": ""}, "http://n1:8000", ""},
		{"path", "http://n1:8000/v1", nil, "", "endpoint must be http://host:port, got "},
		{"no scheme", "n1:8000", nil, "", "endpoint must be http://host:port, got "},
		{"no port", "http://n1", nil, "", `65535, got ""`},
		{"bad port", "http://n1:8000", environ{"SRT_FRONTEND_HOST": "n2", "SRT_FRONTEND_PORT": "http"}, "", `got "http"`},
		{"port 0", "http://n1:0", nil, "", `endpoint on n1: port must be between 1 and 65535, got "0"`},
		{"bad host", "http://n1:8000", environ{"SRT_FRONTEND_HOST": "n2/x"}, "", "must be a host name or address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := baseURL(c.endpoint, c.env)
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %q, %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
}

func FuzzBaseURL(f *testing.F) {
	f.Add("http://n1:8000", "10.0.0.7", "8333", "/v1")
	f.Add("http://[::1]:1", "fd00::7", "", "")
	f.Add("://", "a b", "0", "//")
	f.Fuzz(func(t *testing.T, endpoint, host, port, base string) {
		got, err := baseURL(endpoint,
			environ{"SRT_FRONTEND_HOST": host, "SRT_FRONTEND_PORT": port, "AGENTPERF_BASE_PATH": base})
		if err != nil {
			return
		}
		u, err := url.Parse(got)
		if err != nil {
			return // the base path is not checked here
		}
		if _, _, err := net.SplitHostPort(u.Host); err != nil {
			t.Errorf("%q: %v", got, err)
		}
	})
}
