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

// identify writes an identity file with what only this container can find out: the client's commit,
// the copied datasets and the versions of tools. Unknown versions are omitted.
func (s *step) identify(ctx context.Context, checkout identity.Checkout, inputs []input) error {
	id := identity.Identity{Client: &checkout}
	for _, in := range inputs {
		f, err := identity.HashFile(in.key, in.copy) // same content, but on a local disk
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
		if err := s.runTool(ctx, out, name, "--version"); err != nil {
			s.rec.logf("version of %s unknown: %v", name, err)
			continue
		}
		id.SetTool(name, version(out.String()))
	}
	id.SetTool("python", venvVersion(s.in(venvDir)))
	return identity.Write(filepath.Join(filepath.Dir(s.EventFile), identity.ClientFileName), id)
}

// version returns the version in a tool's output, such as "uv 0.8.22 (hash)": the second word.
func version(output string) string {
	words := strings.Fields(output)
	if len(words) < 2 {
		return ""
	}
	return words[1]
}

// venvVersion returns the Python version of a virtual environment, or "" if it is unknown.
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

// checkout returns the client's commit and the beginning of a hash of its changes, if any. The
// commit is unknownCommit if git fails.
func (s *step) checkout(ctx context.Context) identity.Checkout {
	checkout := identity.Checkout{Dir: s.ClientDir, Commit: unknownCommit}
	changes, err := s.readCommit(ctx, &checkout.Commit)
	if err != nil {
		s.rec.logf("commit of %s unknown, so the client is built at every start: %v", s.ClientDir, err)
		return identity.Checkout{Dir: s.ClientDir, Commit: unknownCommit}
	}
	if changes != nil {
		checkout.Dirty, checkout.Changes = true, hex.EncodeToString(changes)[:12]
	}
	return checkout
}
