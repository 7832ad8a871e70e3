package identity

import (
	"bufio"
	"cmp"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// modelFiles are the small files of a model's folder that tell it from another.
var modelFiles = []string{"config.json", "hf_quant_config.json", "model.safetensors.index.json"}

// snapshot is the folder of a revision in a hub's cache.
var snapshot = regexp.MustCompile(`/snapshots/([0-9a-f]{7,64})(/|$)`)

// OfModel looks at a model's folder, as far as this machine has it. An id of a hub
// (hf:ORG/NAME) is all that is known of such a model.
func OfModel(path string) Model {
	m := Model{Path: path}
	if strings.HasPrefix(path, "hf:") {
		return m
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		m.Resolved = real
	}
	at := cmp.Or(m.Resolved, path)
	for _, name := range modelFiles {
		if f, err := OfFile(name, filepath.Join(at, name)); err == nil { // else it has none
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

// OfImage looks at an image, where it is a file that this machine has.
func OfImage(name string) Image {
	i := Image{Name: name}
	if f, err := OfFile("image", name); err == nil { // else a registry's, or of the compute nodes
		i.File = &f
	}
	return i
}
