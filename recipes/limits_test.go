package recipes

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Load reads at most the size limit of a large file, and neither blocks on a pipe nor
// reads an endless device.
func TestLoadRejectsLargeAndSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big, pipe := filepath.Join(dir, "big.yaml"), filepath.Join(dir, "pipe.yaml")
	if err := os.WriteFile(big, []byte("name: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 100<<20); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		big: "file too large: the limit is 4 MiB; check", pipe: "not a regular file",
		"/dev/zero": "not a regular file", dir: "not a regular file",
	} {
		if _, _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("load %s: %v, want %q", path, err, want)
		}
		if _, _, err := LoadWorkload(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("load workload %s: %v, want %q", path, err, want)
		}
		if _, _, err := LoadCluster(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("load cluster file %s: %v, want %q", path, err, want)
		}
	}
}

// Parsing a document within the size limit allocates a bounded amount of memory, even if
// its aliases expand to a large document. The test is not parallel, since it measures the
// allocations of the process.
func TestHostileDocumentsUseBoundedMemory(t *testing.T) {
	bomb := "environment:\n  a: &a [" + strings.Repeat("x,", 1000) + "]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += "  " + string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 1000) + "]\n"
	}
	for name, text := range map[string]string{
		"alias bomb": bomb,
		"merge bomb": "a: &a {k: v}\n" + strings.Repeat("b: {<<: [*a, *a, *a]}\n", 1000),
		"brackets":   "a: " + strings.Repeat("[", maxFileBytes/2),
		"maps":       "a: " + strings.Repeat("{a: ", maxFileBytes/5),
		"blocks":     strings.Repeat("- ", maxFileBytes/3),
		"commas":     "a: [" + strings.Repeat(",", maxFileBytes-10) + "]",
		"one key":    strings.Repeat("k", maxFileBytes/2) + ": v",
		"anchors":    strings.Repeat("a: &a 1\n", maxFileBytes/10),
		"one line":   "a: \"" + strings.Repeat("\\x41", maxFileBytes/5) + "\"",
		"comments":   strings.Repeat("#\n", maxFileBytes/3),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, found := ParseRecipe("r.yaml", []byte(text))
		runtime.ReadMemStats(&after)
		const limit = 1 << 30 // of all allocations, most of which are garbage soon
		if took := after.TotalAlloc - before.TotalAlloc; took > limit {
			t.Errorf("%s: %d MiB for %d KiB", name, took>>20, len(text)>>10)
		} else {
			t.Logf("%s: %d MiB for %d KiB: %d findings", name, took>>20, len(text)>>10, len(found))
		}
		if found.Errors() == 0 {
			t.Errorf("%s: no findings", name)
		}
	}
}
