package identity

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHashFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	small := write(t, dir+"/small", "abc")
	f, err := HashFile("trajectory_path", small)
	if err != nil || f.SHA256 != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" ||
		f.Hashed != hashedWhole || f.Size != 3 {
		t.Errorf("%+v, %v", f, err)
	}
	// A byte-order mark is part of what is hashed: the digest is that of sha256sum.
	marked, err := HashFile("trajectory_path", write(t, dir+"/marked", "\ufeffabc"))
	if err != nil || marked.SHA256 != "1c28dc3f1f804a1ad9c9b4b4cf5e2658d16ad4ed08e3020d04a8d2865018947c" ||
		marked.Size != 6 {
		t.Errorf("%+v, %v", marked, err)
	}
	// Of a file above the limit only the size and the ends count; a change in the middle is not detected.
	text := strings.Repeat("x", 3*endBytes)
	of := func(text string) string {
		f, err := hashFile("", write(t, dir+"/large", text), 1024)
		if err != nil || f.Hashed != hashedEnds {
			t.Fatalf("%+v, %v", f, err)
		}
		return f.SHA256
	}
	sum := of(text)
	if of(text[:endBytes]+"y"+text[endBytes+1:]) != sum {
		t.Error("a change in the middle changes the hash")
	}
	for name, other := range map[string]string{"head": "y" + text[1:], "tail": text[1:] + "y", "size": text + "x"} {
		if of(other) == sum {
			t.Errorf("another %s has the same hash", name)
		}
	}
	if err := syscall.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, dir + "/none", dir + "/fifo"} {
		if _, err := HashFile("", path); err == nil {
			t.Errorf("%s is identified", path)
		}
	}
}

func TestInspectModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const revision = "0123456789abcdef0123456789abcdef01234567"
	write(t, dir+"/hub/snapshots/"+revision+"/config.json", "{}")
	if err := os.Symlink(dir+"/hub/snapshots/"+revision, dir+"/alias"); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/plain/config.json", "{}")
	write(t, dir+"/plain/.cache/huggingface/download/config.json.metadata", revision+"\netag\n1.5\n")
	write(t, dir+"/odd/.cache/huggingface/download/config.json.metadata", "\x1b[31mno commit\n")
	for path, want := range map[string]Model{
		dir + "/alias": {Resolved: dir + "/hub/snapshots/" + revision, Revision: revision},
		dir + "/plain": {Revision: revision},
		dir + "/odd":   {},
		dir + "/none":  {},
		"hf:org/name":  {},
	} {
		got := InspectModel(path)
		if got.Path != path || got.Resolved != want.Resolved || got.Revision != want.Revision {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if m := InspectModel(dir + "/plain"); len(m.Files) != 1 || m.Files[0].Key != "config.json" {
		t.Errorf("%+v", m)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if id, err := Read(dir, dir); err != nil || id.Version != 0 {
		t.Fatalf("%+v, %v", id, err)
	}
	submit := Identity{
		Recipe: "r", Plan: "p", Image: &Image{Name: "/image.sqsh"},
		Datasets: []File{{Key: "trajectory_path", Path: "/here", SHA256: "1"}},
	}
	submit.SetTool("slurm", "22.05.8")
	submit.SetTool("agentperf-tui", "v1")
	client := Identity{
		Client:   &Checkout{Commit: "abc", Dirty: true, Changes: "0123"},
		Datasets: []File{{Key: "trajectory_path", Path: "/there", SHA256: "2", Hashed: hashedWhole}},
	}
	client.SetTool("uv", "0.8.22")
	if err := Write(dir+"/"+FileName, submit); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir+"/"+ClientFileName, client); err != nil {
		t.Fatal(err)
	}
	id, err := Read(dir, dir)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, f := range id.Fields() {
		text.WriteString(f.Path + "=" + f.Value + "\n")
	}
	want := `client.commit=abc-dirty-0123
trajectory_path=/there
trajectory_path.size=0
trajectory_path.sha256=2
image=/image.sqsh
recipe.sha256=r
plan.sha256=p
tool.agentperf-tui=v1
tool.slurm=22.05.8
tool.uv=0.8.22
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
	if id.DatasetHash() == "" || id.DatasetHash() == submit.DatasetHash() {
		t.Errorf("hash over the datasets: %q", id.DatasetHash())
	}
	submit.Datasets = append(submit.Datasets, File{Key: "user_assignments_path", Path: "/of/the/nodes"})
	if got := submit.DatasetHash(); got != "" {
		t.Errorf("hash over a part of the datasets: %q", got)
	}
	if got := submit.Fields(); !slices.Contains(got, Field{"user_assignments_path", "/of/the/nodes"}) ||
		slices.ContainsFunc(got, func(f Field) bool { return f.Path == "user_assignments_path.size" }) {
		t.Errorf("fields of a dataset that was not seen: %v", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"version":1,"client":{"commit":"abc"}}`))
	f.Add([]byte(`{"version":1,"model":{"files":[{}]},"image":null,"tools":[{"name":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		write(t, dir+"/"+FileName, string(data))
		if id, err := Read(dir, dir); err == nil {
			_, _ = id.Fields(), id.DatasetHash()
		}
	})
}
