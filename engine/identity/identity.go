// Package identity records the inputs of a run: the commit of the client, the datasets, the
// image and the model, the versions of the tools, and hashes of the submitted files. Comparisons of
// runs use it. The package defines the record and computes hashes at a bounded cost. The submit
// command and the job each fill in the parts that they can access.
package identity

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// Names of files that hold an identity. The submit command and the supervisor write FileName to the
// run directory; the client's container writes ClientFileName to the log directory.
const (
	FileName       = "identity.json"
	ClientFileName = "identity.client.json"
)

// Identity identifies the inputs of a run. Empty fields are unknown. Paths that exist only
// on compute nodes are filled in by the job.
type Identity struct {
	Version  int       `json:"version"`
	Recipe   string    `json:"recipe_sha256,omitempty"`
	Workload string    `json:"workload_sha256,omitempty"`
	Plan     string    `json:"plan_sha256,omitempty"` // of the plan with placeholders, as in plan.json
	Image    *Image    `json:"image,omitempty"`
	Model    *Model    `json:"model,omitempty"`
	Client   *Checkout `json:"client,omitempty"`
	// Datasets are the data files of the workload, in its order. An unreadable file has no hash.
	Datasets []File `json:"datasets,omitempty"`
	Tools    []Tool `json:"tools,omitempty"` // by name
}

// JSON returns the identity read by [Read] as JSON, for the roll-up. It is nil if there is none.
func JSON(dir, logs string) json.RawMessage {
	id, err := Read(dir, logs)
	if err != nil || id.Version == 0 {
		return nil
	}
	data, err := json.Marshal(id)
	if err != nil {
		return nil
	}
	return data
}

// Image is the container image: a file or a reference to a registry.
type Image struct {
	Name string `json:"name"` // as in the plan
	File *File  `json:"file,omitempty"`
}

// Model is the model that is served.
type Model struct {
	Path     string `json:"path"`                        // as in the plan
	Resolved string `json:"resolved,omitempty"`          // with symbolic links resolved
	Revision string `json:"revision,omitempty"`          // of its repository, from the metadata in its directory
	Expected string `json:"expected_revision,omitempty"` // from the recipe
	// Files are small files that identify the model: its configuration and the index of its
	// weights.
	Files []File `json:"files,omitempty"`
}

// Checkout is a Git checkout, or a built-in program with its commit.
type Checkout struct {
	Dir    string `json:"dir,omitempty"`
	Commit string `json:"commit"`
	// Dirty means that there are uncommitted changes; Changes is a prefix of their hash.
	Dirty   bool   `json:"dirty"`
	Changes string `json:"changes,omitempty"`
}

// String returns the commit, with a suffix if there were uncommitted changes.
func (c *Checkout) String() string {
	switch {
	case c == nil:
		return ""
	case c.Dirty:
		return c.Commit + "-dirty-" + c.Changes
	}
	return c.Commit
}

// Tool is a program and its version.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// File is one file with a hash of its content.
type File struct {
	Key      string `json:"key,omitempty"` // its purpose: a key of the workload
	Path     string `json:"path"`
	Size     int64  `json:"size"`     // bytes
	Modified string `json:"modified"` // UTC
	SHA256   string `json:"sha256"`
	Hashed   string `json:"hashed"` // which part was hashed: hashedWhole or hashedEnds
}

// Values of File.Hashed. The size of the file decides, so that equal files have equal values.
const (
	hashedWhole = "whole"
	hashedEnds  = "size, first and last MiB"
)

// maxWholeBytes is the size up to which files are hashed as a whole, which takes a second or two.
const maxWholeBytes = 256 << 20

const endBytes = 1 << 20

// HashFile hashes a file. If it is larger than 256 MiB, as images and datasets often are, HashFile
// hashes only its size and its first and last MiB.
func HashFile(key, path string) (File, error) { return hashFile(key, path, maxWholeBytes) }

func hashFile(key, path string, limit int64) (File, error) {
	f, info, err := smallfile.Open(path)
	if err != nil {
		return File{}, fmt.Errorf("hash file: %w", err)
	}
	defer f.Close()
	id := File{
		Key: key, Path: path, Size: info.Size(), Modified: info.ModTime().UTC().Format("2006-01-02T15:04:05Z"),
		Hashed: hashedWhole,
	}
	sum := sha256.New()
	if id.Size <= limit {
		_, err = io.Copy(sum, io.LimitReader(f, limit))
	} else {
		id.Hashed = hashedEnds
		fmt.Fprintf(sum, "%d\n", id.Size)
		for _, at := range []int64{0, id.Size - endBytes} {
			if err == nil {
				_, err = io.Copy(sum, io.NewSectionReader(f, at, endBytes))
			}
		}
	}
	if err != nil {
		return File{}, fmt.Errorf("hash file: %w", err)
	}
	id.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return id, nil
}

// Sum returns the SHA-256 of data in hex, or "" if data is empty.
func Sum(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// SetTool sets the version of a tool. An empty version is ignored.
func (id *Identity) SetTool(name, version string) {
	if version == "" {
		return
	}
	id.Tools = slices.DeleteFunc(id.Tools, func(t Tool) bool { return t.Name == name })
	id.Tools = append(id.Tools, Tool{name, version})
	slices.SortFunc(id.Tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
}

// Merge copies the known fields of another identity, which takes precedence.
func (id *Identity) Merge(more Identity) {
	id.Recipe, id.Workload = cmp.Or(more.Recipe, id.Recipe), cmp.Or(more.Workload, id.Workload)
	id.Plan, id.Image = cmp.Or(more.Plan, id.Plan), cmp.Or(more.Image, id.Image)
	id.Model, id.Client = cmp.Or(more.Model, id.Model), cmp.Or(more.Client, id.Client)
	if more.Datasets != nil {
		id.Datasets = more.Datasets
	}
	for _, t := range more.Tools {
		id.SetTool(t.Name, t.Version)
	}
}

// Read reads the identity of a run from its run directory and its log directory. It returns
// the zero value if there is none.
func Read(dir, logs string) (Identity, error) {
	var id Identity
	for _, path := range []string{filepath.Join(dir, FileName), filepath.Join(logs, ClientFileName)} {
		var part Identity
		err := smallfile.ReadJSON(path, &part)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return id, fmt.Errorf("read run identity: %w", err)
		}
		id.Version = max(id.Version, part.Version)
		id.Merge(part)
	}
	return id, nil
}

// Write writes an identity to a file, atomically.
func Write(path string, id Identity) error {
	id.Version = 1
	if err := smallfile.WriteJSON(path, id, 0o644); err != nil {
		return fmt.Errorf("write run identity: %w", err)
	}
	return nil
}

// Field is one known value of an identity.
type Field struct{ Path, Value string }

// Fields returns all known values in a fixed order, for display and comparison. It omits
// modification times, because a copy of a file is the same file.
func (id Identity) Fields() []Field {
	var out []Field
	add := func(path, value string) {
		if value != "" {
			out = append(out, Field{path, value})
		}
	}
	file := func(path string, f File) {
		if f.SHA256 == "" {
			return
		}
		add(path+".size", strconv.FormatInt(f.Size, 10))
		add(path+".sha256", f.SHA256)
		if f.Hashed != hashedWhole {
			add(path+".hashed", f.Hashed)
		}
	}
	add("client.commit", id.Client.String())
	for _, d := range id.Datasets {
		add(d.Key, d.Path)
		file(d.Key, d)
	}
	if id.Model != nil {
		add("model.path", cmp.Or(id.Model.Resolved, id.Model.Path))
		add("model.revision", cmp.Or(id.Model.Revision, id.Model.Expected))
		for _, f := range id.Model.Files {
			file("model."+f.Key, f)
		}
	}
	if id.Image != nil {
		add("image", id.Image.Name)
		if id.Image.File != nil {
			file("image", *id.Image.File)
		}
	}
	add("recipe.sha256", id.Recipe)
	add("workload.sha256", id.Workload)
	add("plan.sha256", id.Plan)
	for _, t := range id.Tools {
		add("tool."+t.Name, t.Version)
	}
	return out
}

// DatasetHash returns a hash of all datasets. It is empty if the hash of any is unknown.
func (id Identity) DatasetHash() string {
	text := ""
	for _, d := range id.Datasets {
		if d.SHA256 == "" {
			return ""
		}
		text += d.Key + " " + d.SHA256 + "\n"
	}
	return Sum([]byte(text))
}

// modelFiles are the small files in a model directory that identify the model.
var modelFiles = []string{"config.json", "hf_quant_config.json", "model.safetensors.index.json"}

// snapshotPath matches the directory of a revision in the cache of the Hugging Face Hub.
var snapshotPath = regexp.MustCompile(`/snapshots/([0-9a-f]{7,64})(/|$)`)

// InspectModel reads the files that identify a model from its directory, if they exist on this
// machine. For a Hugging Face id (hf:ORG/NAME) it records only the id.
func InspectModel(path string) Model {
	m := Model{Path: path}
	if strings.HasPrefix(path, "hf:") {
		return m
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		m.Resolved = real
	}
	dir := cmp.Or(m.Resolved, path)
	for _, name := range modelFiles {
		if f, err := HashFile(name, filepath.Join(dir, name)); err == nil { // the file may not exist
			m.Files = append(m.Files, f)
		}
	}
	if s := snapshotPath.FindStringSubmatch(dir); s != nil {
		m.Revision = s[1]
	} else {
		m.Revision = downloadedRevision(dir)
	}
	return m
}

// downloadedRevision returns the revision recorded by the Hugging Face download tool.
func downloadedRevision(dir string) string {
	f, _, err := smallfile.Open(filepath.Join(dir, ".cache/huggingface/download/config.json.metadata"))
	if err != nil {
		return ""
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 4096)).ReadString('\n')
	if err != nil && err != io.EOF {
		return ""
	}
	if line = strings.TrimSpace(line); commitHash.MatchString(line) {
		return line
	}
	return ""
}

var commitHash = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// InspectImage hashes an image if it is a file on this machine.
func InspectImage(name string) Image {
	i := Image{Name: name}
	if f, err := HashFile("image", name); err == nil { // else it is in a registry or only on compute nodes
		i.File = &f
	}
	return i
}
