// Package identity says what a run ran with: the client's commit, its data, the image and the
// model, the versions of the tools, and hashes of what was submitted. Comparing two runs rests on
// it. The package knows what such a record looks like and how a file is told from another at a
// bounded cost; who fills it in is the one that sees the files, at submit or in the job.
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

// Files that hold an identity, one writer each: what the submit and the supervisor
// see is in the run's folder, what the client's container sees in its log dir.
const (
	FileName       = "identity.json"
	ClientFileName = "identity.client.json"
)

// Identity is what a run ran with. What is empty is not known (yet): paths that
// only compute nodes have are looked at in the job.
type Identity struct {
	Version  int       `json:"version"`
	Recipe   string    `json:"recipe_sha256,omitempty"`
	Workload string    `json:"workload_sha256,omitempty"`
	Plan     string    `json:"plan_sha256,omitempty"` // of the plan as shown
	Image    *Image    `json:"image,omitempty"`
	Model    *Model    `json:"model,omitempty"`
	Client   *Checkout `json:"client,omitempty"`
	// Datasets are the files of the workload, in its order. One that could not be read has no hash.
	Datasets []File `json:"datasets,omitempty"`
	Tools    []Tool `json:"tools,omitempty"` // by name
}

// JSON is what is known by now, as the roll-up holds it; nil where nothing is.
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

// Image is the container's image: a file, or a reference to a registry's.
type Image struct {
	Name string `json:"name"` // as the plan has it
	File *File  `json:"file,omitempty"`
}

// Model is the model that is served.
type Model struct {
	Path     string `json:"path"`                        // as the plan has it
	Resolved string `json:"resolved,omitempty"`          // with links followed
	Revision string `json:"revision,omitempty"`          // of the repository that it came from, as its folder tells
	Expected string `json:"expected_revision,omitempty"` // as the recipe tells
	// Files are the small files that differ between two models: configuration and
	// index of the weights.
	Files []File `json:"files,omitempty"`
}

// Checkout is a checkout, or a program that is its own checkout.
type Checkout struct {
	Dir    string `json:"dir,omitempty"`
	Commit string `json:"commit"`
	// Dirty says that the checkout had changes; Changes is the beginning of their hash.
	Dirty   bool   `json:"dirty"`
	Changes string `json:"changes,omitempty"`
}

// String is the commit, and that there were changes.
func (c *Checkout) String() string {
	switch {
	case c == nil:
		return ""
	case c.Dirty:
		return c.Commit + "-dirty-" + c.Changes
	}
	return c.Commit
}

// Tool is a program with its version.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// File is one file, as far as its content was looked at.
type File struct {
	Key      string `json:"key,omitempty"` // what it is for: a key of the workload
	Path     string `json:"path"`
	Size     int64  `json:"size"`     // bytes
	Modified string `json:"modified"` // UTC
	SHA256   string `json:"sha256"`
	Hashed   string `json:"hashed"` // how much of it the hash is of: whole or ends
}

// How much of a file a hash is of. The same file always has the same: it follows from its size.
const (
	whole = "whole"
	ends  = "size, first and last MiB"
)

// wholeLimit is the size up to which files are read whole: a second's work or two.
const wholeLimit = 256 << 20

const endBytes = 1 << 20

// HashFile looks at a file. One of more than 256 MiB is hashed by its size and its
// ends alone: images and datasets may have many GB.
func HashFile(key, path string) (File, error) { return hashFile(key, path, wholeLimit) }

func hashFile(key, path string, limit int64) (File, error) {
	f, info, err := smallfile.Open(path)
	if err != nil {
		return File{}, fmt.Errorf("hash file: %w", err)
	}
	defer f.Close()
	id := File{
		Key: key, Path: path, Size: info.Size(), Modified: info.ModTime().UTC().Format("2006-01-02T15:04:05Z"), Hashed: whole,
	}
	sum := sha256.New()
	if id.Size <= limit {
		_, err = io.Copy(sum, io.LimitReader(f, limit))
	} else {
		id.Hashed = ends
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

// Sum is the hash of a text that was submitted; empty for none.
func Sum(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// SetTool puts a tool's version into the list.
func (id *Identity) SetTool(name, version string) {
	if version == "" {
		return
	}
	id.Tools = slices.DeleteFunc(id.Tools, func(t Tool) bool { return t.Name == name })
	id.Tools = append(id.Tools, Tool{name, version})
	slices.SortFunc(id.Tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
}

// Merge takes over what another one knows, which was closer to it.
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

// Read gives a run's identity, from its folder and its log dir; the zero value
// where neither has one.
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

// Write puts an identity into a file of this name, atomically.
func Write(path string, id Identity) error {
	id.Version = 1
	if err := smallfile.WriteJSON(path, id, 0o644); err != nil {
		return fmt.Errorf("write run identity: %w", err)
	}
	return nil
}

// Field is one thing that is known of a run.
type Field struct{ Path, Value string }

// Fields are all that is known, in a fixed order, for people and comparisons.
// Times are left out: a copy is the same file.
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
		if f.Hashed != whole {
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

// DatasetHash is a hash over all datasets; empty while one of them is not known.
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

// modelFiles are the small files of a model's folder that tell it from another.
var modelFiles = []string{"config.json", "hf_quant_config.json", "model.safetensors.index.json"}

// snapshot is the folder of a revision in a hub's cache.
var snapshot = regexp.MustCompile(`/snapshots/([0-9a-f]{7,64})(/|$)`)

// InspectModel looks at a model's folder, as far as this machine has it. An id of a hub
// (hf:ORG/NAME) is all that is known of such a model.
func InspectModel(path string) Model {
	m := Model{Path: path}
	if strings.HasPrefix(path, "hf:") {
		return m
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		m.Resolved = real
	}
	at := cmp.Or(m.Resolved, path)
	for _, name := range modelFiles {
		if f, err := HashFile(name, filepath.Join(at, name)); err == nil { // else it has none
			m.Files = append(m.Files, f)
		}
	}
	if s := snapshot.FindStringSubmatch(at); s != nil {
		m.Revision = s[1]
	} else {
		m.Revision = downloaded(at)
	}
	return m
}

// downloaded is the revision that a hub's download tool left a note of.
func downloaded(dir string) string {
	f, _, err := smallfile.Open(filepath.Join(dir, ".cache/huggingface/download/config.json.metadata"))
	if err != nil {
		return ""
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 4096)).ReadString('\n')
	if err != nil && err != io.EOF {
		return ""
	}
	if line = strings.TrimSpace(line); commit.MatchString(line) {
		return line
	}
	return ""
}

var commit = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// InspectImage looks at an image, where it is a file that this machine has.
func InspectImage(name string) Image {
	i := Image{Name: name}
	if f, err := HashFile("image", name); err == nil { // else a registry's, or of the compute nodes
		i.File = &f
	}
	return i
}
