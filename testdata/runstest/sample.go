package runstest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentperf/agentperf-tui/porter/sample"
)

// overlapping are the requests of the sample that start before the previous one of their user
// ends, each with a user that has no other request.
var overlapping = map[string]string{
	`"user_id":776,"request_id":"f38bf26f2067"`: `"user_id":0,"request_id":"f38bf26f2067"`,
	`"user_id":586,"request_id":"c5fe61b41797"`: `"user_id":1,"request_id":"c5fe61b41797"`,
}

// Sample writes a copy of the sample run whose figures are valid, and returns its directory. In the
// embedded one requests of a user overlap, which makes all figures of its phase invalid.
func Sample(t *testing.T) string {
	t.Helper()
	files, err := fs.Sub(sample.Files, sample.Dir)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), sample.Dir)
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "agentperf", "requests.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for old, valid := range overlapping {
		if bytes.Count(data, []byte(old)) != 1 {
			t.Fatalf("the sample has no request %s", old)
		}
		data = bytes.Replace(data, []byte(old), []byte(valid), 1)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}
