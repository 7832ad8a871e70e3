package bench

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Programs of other versions share the runtime directory and the results directory, and users
// know the names.
func TestNamesOnDisk(t *testing.T) {
	t.Parallel()
	w := newTestStep(t)
	w.block("sync")
	done := w.background(t.Context(), w.opt)
	w.awaitBlocked("sync")
	during := []string{
		".build-lock/holder.json",
		".in-use",
		"benchmark_config.yaml",
		"data/traj.jsonl",
		"data/users.json",
	}
	if got := without(w.files("runtime"), "home"); !slices.Contains(got, during[0]) {
		t.Errorf("files of the runtime directory during a build: %q, want %s", got, during[0])
	}
	w.unblock("sync")
	r := <-done
	w.check(r.code, r.err, 0, "")
	want := append([]string{"READY"}, during[1:]...)
	got := without(w.files("runtime"), "home", "venv", "target")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("files of the runtime directory: %q, want %q", got, want)
	}
	if got := w.files("logs"); !slices.Contains(got, "agentperf/.bench.lock") ||
		!slices.Contains(got, "events.client.jsonl") {
		t.Errorf("files of the log directory: %q", got)
	}
}

// files returns the paths of the files below a directory, relative to it.
func (w *testStep) files(dir string) []string {
	w.t.Helper()
	var out []string
	err := fs.WalkDir(os.DirFS(w.path(dir)), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// without returns the paths that are not in one of the directories.
func without(paths []string, dirs ...string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		first := path
		for filepath.Dir(first) != "." {
			first = filepath.Dir(first)
		}
		return slices.Contains(dirs, first)
	})
}
