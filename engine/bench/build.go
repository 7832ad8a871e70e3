package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Names in the runtime directory.
const (
	readyFile  = "READY"
	venvDir    = "venv"
	dataDir    = "data"
	configFile = "benchmark_config.yaml" // the workload with the paths of the copied datasets
)

// unknownCommit is the commit of a checkout that git can't read. Its builds are not reused.
const unknownCommit = "unknown"

// marker returns the content of READY after a build: the architecture, the commit and, if the
// checkout has changes, a hash of them.
func marker(checkout identity.Checkout) string { return machine() + ":" + checkout.String() }

// readCommit reads the checkout's commit and returns a hash of its uncommitted changes, or nil if
// there are none.
func (s *step) readCommit(ctx context.Context, commit *string) (changes []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.lim.git)
	defer cancel()
	git := func(out io.Writer, args ...string) error {
		// The checkout often belongs to another user, so git must neither write to it nor
		// check its owner.
		return s.runTool(ctx, out, append([]string{"git", "--no-optional-locks", "-c", "safe.directory=*", "-C", s.ClientDir},
			args...)...)
	}
	head, sum := &bytes.Buffer{}, sha256.New()
	noChanges := sum.Sum(nil)
	if err := git(head, "rev-parse", "HEAD"); err != nil {
		return nil, err
	}
	if err := git(sum, "diff", "--no-ext-diff", "--no-textconv", "--binary", "HEAD"); err != nil {
		return nil, err
	}
	*commit = strings.TrimSpace(head.String())
	if hash := sum.Sum(nil); !bytes.Equal(hash, noChanges) {
		return hash, nil
	}
	return nil, nil
}

// built reports whether the runtime directory has a build with this marker.
func (s *step) built(marker string) bool {
	data, err := os.ReadFile(s.in(readyFile))
	if err != nil || strings.TrimSpace(string(data)) != marker || strings.HasSuffix(marker, ":"+unknownCommit) {
		return false
	}
	_, err = os.Stat(s.in(venvDir))
	return err == nil && s.lookPath("uv") != ""
}

// networkHint is the usual remedy for a failed build.
const networkHint = "the build needs the network: " +
	"check that the node reaches the package registries (http_proxy, https_proxy)"

func (s *step) build(ctx context.Context, marker string) error {
	if err := os.Remove(s.in(readyFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the marker of the last build: %w", err)
	}
	limited, cancel := context.WithTimeoutCause(ctx, s.lim.build,
		problem.Errorf(problem.ClientBuildFailed, "not done within %s", s.lim.build))
	defer cancel()
	do := func(name string, f func() error) error {
		err := s.rec.step(name, f)
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			return problem.Errorf(problem.ClientBuildFailed, "build step %s: %w; %s", name, err, networkHint)
		}
		return nil
	}
	if s.lookPath("cargo") == "" {
		if err := do("install rust "+s.rust, func() error { return s.installRust(limited) }); err != nil {
			return err
		}
	}
	if s.lookPath("uv") == "" {
		if err := do("install uv "+s.uv, func() error { return s.installUV(limited) }); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		name string
		argv []string
	}{
		{"uv sync", []string{"uv", "sync", "--frozen"}},
		{"maturin", []string{"uv", "run", "--no-sync", "maturin", "develop", "--release", "-m", "rustcore/Cargo.toml"}},
		{"import check", []string{"uv", "run", "--no-sync", "python", "-c", "import agentperf_rustcore"}},
	} {
		if err := do(c.name, func() error { return s.runTool(limited, nil, c.argv...) }); err != nil {
			return err
		}
	}
	// A failure is ignored: the client downloads the vocabulary itself if it is missing.
	warm := func() error {
		return s.runTool(limited, nil, "uv", "run", "--no-sync", "python", "-c",
			"import tiktoken; tiktoken.get_encoding('o200k_base')")
	}
	if err := s.rec.step("tokenizer cache", warm); err != nil && ctx.Err() != nil {
		return err
	}
	if err := renameio.WriteFile(s.in(readyFile), []byte(marker+"\n"), 0o600); err != nil {
		return fmt.Errorf("mark the build as ready: %w", err)
	}
	return nil
}

// installUV installs uv in HOME, which is in the runtime directory.
func (s *step) installUV(ctx context.Context) error {
	err := s.runTool(ctx, nil, "python3", "-m", "pip", "install", "--user", "uv=="+s.uv)
	if err == nil && s.lookPath("uv") == "" {
		err = problem.Errorf(problem.ClientBuildFailed, "pip did not install uv in %s", s.in("home/.local/bin"))
	}
	return err
}

// installRust installs Rust with rustup-init from PATH or, if there is none, from its download server.
func (s *step) installRust(ctx context.Context) error {
	if s.lookPath("rustup-init") == "" {
		if err := s.fetchRustup(ctx); err != nil {
			return err
		}
	}
	err := s.runTool(ctx, nil,
		"rustup-init", "-y", "--no-modify-path", "--profile", "minimal", "--default-toolchain", s.rust)
	if err == nil && s.lookPath("cargo") == "" {
		err = problem.Errorf(problem.ClientBuildFailed, "rustup-init did not install cargo in %s", s.in("cargo/bin"))
	}
	return err
}

// rustupBytes limits the size of the installer, in bytes. The installer is about 20 MB.
const rustupBytes = 256 << 20

func (s *step) fetchRustup(ctx context.Context) error {
	url := fmt.Sprintf("%s/archive/%s/%s-unknown-linux-gnu/rustup-init", s.mirror, rustupVersion, machine())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("fetch rustup-init: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("fetch rustup-init: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return problem.Errorf(problem.ClientBuildFailed, "fetch %s: status %s", url, resp.Status)
	}
	if err := os.MkdirAll(s.in("cargo/bin"), 0o700); err != nil {
		return fmt.Errorf("fetch rustup-init: %w", err)
	}
	f, err := renameio.NewPendingFile(s.in("cargo/bin/rustup-init"), renameio.WithPermissions(0o700))
	if err != nil {
		return fmt.Errorf("fetch rustup-init: %w", err)
	}
	n, err := io.Copy(f, io.LimitReader(resp.Body, rustupBytes))
	if err == nil && n == rustupBytes {
		err = problem.Errorf(problem.ClientBuildFailed, "larger than %d MiB, so not an installer", rustupBytes>>20)
	}
	if err == nil {
		err = f.CloseAtomicallyReplace()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("fetch %s: %w", url, err), f.Cleanup())
	}
	return nil
}
