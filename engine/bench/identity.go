package bench

import (
	"bytes"
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/identity"
)

// identify leaves in the log dir what only this container sees: the client's commit, the datasets
// as staged, the tools. What can't be told is left out: the client runs all the same.
func (s *step) identify(ctx context.Context, code identity.Checkout, inputs []input) error {
	id := identity.Identity{Client: &code}
	for _, in := range inputs {
		f, err := identity.HashFile(in.key, in.copy) // the copy is the source, and nearer
		if err != nil {
			return err
		}
		f.Path = in.source
		id.Datasets = append(id.Datasets, f)
	}
	ctx, cancel := context.WithTimeout(ctx, s.lim.git)
	defer cancel()
	for _, name := range []string{"uv", "cargo"} {
		out := &bytes.Buffer{}
		if err := s.tool(ctx, out, name, "--version"); err != nil {
			s.rec.say("the version of %s can't be told: %v", name, err)
			continue
		}
		id.SetTool(name, version(out.String()))
	}
	id.SetTool("python", venvVersion(s.in(venvDir)))
	return identity.Write(filepath.Join(filepath.Dir(s.EventFile), identity.ClientFileName), id)
}

// version is the second word of what a tool says: "uv 0.8.22 (hash)".
func version(said string) string {
	words := strings.Fields(said)
	if len(words) < 2 {
		return ""
	}
	return words[1]
}

// venvVersion is the Python version that a virtual environment was made with.
func venvVersion(dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, "pyvenv.cfg"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "version_info" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// checkout is the client's commit; of one with changes the beginning of a hash of
// these. A commit that git can't tell is unknownCommit.
func (s *step) checkout(ctx context.Context) identity.Checkout {
	code := identity.Checkout{Dir: s.ClientDir, Commit: unknownCommit}
	changes, err := s.git(ctx, &code.Commit)
	if err != nil {
		s.rec.say("the commit of %s can't be told, so it is built at each start: %v", s.ClientDir, err)
		return identity.Checkout{Dir: s.ClientDir, Commit: unknownCommit}
	}
	if changes != nil {
		code.Dirty, code.Changes = true, hex.EncodeToString(changes)[:12]
	}
	return code
}
