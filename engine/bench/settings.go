package bench

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Versions of the tools that a build installs where the image has none.
const (
	rustVersion   = "1.93.1"
	rustupVersion = "1.28.1"
	uvVersion     = "0.8.22"
)

// settings are what the step takes from its environment.
type settings struct {
	baseURL string
	runtime string // the folder below which everything is made
	foreign bool   // the user named it: whose it is does not matter
	rust    string // version
	uv      string // version
	mirror  string // of rustup, a URL
	extra   []string
	env     []string // of every program that is started
	path    string   // their PATH
	remarks []string // what was left out or decided, for the log
}

// in is a path in the runtime folder.
func (s *settings) in(name ...string) string {
	return filepath.Join(append([]string{s.runtime}, name...)...)
}

// newSettings reads and checks what the environment says.
func newSettings(opt Options) (settings, error) {
	env := variables(opt.Environ)
	s := settings{
		rust: env.or("AGENTPERF_RUST_VERSION", rustVersion), uv: env.or("AGENTPERF_UV_VERSION", uvVersion),
		mirror: strings.TrimRight(env.or("RUSTUP_UPDATE_ROOT", "https://static.rust-lang.org/rustup"), "/"),
	}
	if len(opt.Levels) == 0 {
		return s, problem.New(problem.ValueInvalid, "concurrency levels: none given; pass at least one")
	}
	for _, l := range opt.Levels {
		if l < 1 {
			return s, problem.Errorf(problem.ValueInvalid, "concurrency level must be at least 1, got %d", l)
		}
	}
	var err error
	if s.baseURL, err = baseURL(opt.Endpoint, env); err != nil {
		return s, err
	}
	if err := s.place(env); err != nil {
		return s, err
	}
	first, more, _ := strings.Cut(env.or("AGENTPERF_EXTRA_ARGS", ""), "\n")
	s.extra = strings.Fields(first)
	if strings.TrimSpace(more) != "" {
		s.remarks = append(s.remarks, "AGENTPERF_EXTRA_ARGS: only its first line is passed on")
	}
	s.environment(opt)
	return s, nil
}

var jobID = regexp.MustCompile(`^[A-Za-z0-9_.-]*[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// place finds the runtime folder.
func (s *settings) place(env environ) error {
	if dir := env.or("AGENTPERF_RUNTIME", ""); dir != "" {
		if !filepath.IsAbs(dir) {
			return problem.Errorf(problem.EnvironmentInvalid, "AGENTPERF_RUNTIME must be an absolute path, got %q", dir)
		}
		s.runtime, s.foreign = filepath.Clean(dir), true
		return nil
	}
	id := env.or("SLURM_JOB_ID", "")
	if !jobID.MatchString(id) {
		return problem.Errorf(problem.EnvironmentInvalid, "choose the client's runtime directory: "+
			"SLURM_JOB_ID %q is not a job id; set AGENTPERF_RUNTIME to a directory on the node", id)
	}
	s.runtime = "/tmp/agentperf-" + id
	return nil
}

// makeRuntime makes the folders. The default one has a name that anybody could have taken first.
func (s *settings) makeRuntime() error {
	for _, d := range []string{s.in(), s.in("home"), s.in(dataDir)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("create the client's runtime directory: %w; choose another one with AGENTPERF_RUNTIME", err)
		}
	}
	info, err := os.Lstat(s.runtime)
	if err != nil || s.foreign {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || ok && int(st.Uid) != os.Geteuid() {
		return problem.Errorf(problem.ClientInvalid, "client's runtime directory: %s is not a directory owned by this user; "+
			"choose another one with AGENTPERF_RUNTIME", s.runtime)
	}
	return nil
}

// foreignVars would lead the client's tools out of their folder.
var foreignVars = []string{
	"CONDA_PREFIX", "PYTHONHOME", "PYTHONPATH", "PYTHONUSERBASE", "VIRTUAL_ENV", "XDG_BIN_HOME", "XDG_CACHE_HOME",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
}

// environment is the step's own with everything that tools keep for themselves
// moved below the runtime folder.
func (s *settings) environment(opt Options) {
	s.path = s.in("home/.local/bin") + ":" + s.in("cargo/bin") + ":" + opt.SystemPath
	set := []string{
		"HOME=" + s.in("home"), "CARGO_HOME=" + s.in("cargo"), "RUSTUP_HOME=" + s.in("rustup"),
		"CARGO_TARGET_DIR=" + s.in("target"),
		"UV_PROJECT_ENVIRONMENT=" + s.in(venvDir), "UV_CACHE_DIR=" + s.in("uv-cache"),
		"TIKTOKEN_CACHE_DIR=" + s.in("tiktoken"),
		// Compiled Python stays out of the checkout, which may be shared.
		"PYTHONPYCACHEPREFIX=" + s.in("pycache"), "PATH=" + s.path,
		// Some distributions keep pip away from their Python; HOME is not theirs.
		"PIP_BREAK_SYSTEM_PACKAGES=1",
	}
	var left []string
	for _, v := range opt.Environ {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case slices.Contains(foreignVars, name):
			if value != "" {
				left = append(left, name)
			}
		case !slices.ContainsFunc(set, func(own string) bool { return strings.HasPrefix(own, name+"=") }):
			s.env = append(s.env, v)
		}
	}
	s.env = append(s.env, set...)
	if len(left) > 0 {
		s.remarks = append(s.remarks, "left out of the client's environment: "+strings.Join(left, " "))
	}
}

// look finds a program in the reduced PATH; empty if there is none.
func (s *settings) look(name string) string {
	for dir := range strings.SplitSeq(s.path, ":") {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// baseURL is where the client sends its requests.
func baseURL(endpoint string, env environ) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", problem.Errorf(problem.ValueInvalid, "endpoint must be http://host:port: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" || u.User != nil {
		return "", problem.Errorf(problem.ValueInvalid, "endpoint must be http://host:port, got %q", endpoint)
	}
	host, port := u.Hostname(), u.Port()
	if h := env.or("SRT_FRONTEND_HOST", ""); h != "" {
		host, port = strings.Trim(h, "[]"), env.or("SRT_FRONTEND_PORT", port)
		if strings.ContainsAny(host, "/?#@[]% \t\r\n") {
			return "", problem.Errorf(problem.EnvironmentInvalid, "SRT_FRONTEND_HOST must be a host name or address, got %q", h)
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", problem.Errorf(problem.ValueInvalid,
			"endpoint on %s: port must be between 1 and 65535, got %q", host, port)
	}
	base, given := env["AGENTPERF_BASE_PATH"]
	if !given {
		base = "/v1"
	}
	if base = strings.Trim(strings.TrimSpace(base), "/"); base != "" {
		base = "/" + base
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port) + base, nil
}

// environ is an environment by name; of two values the later one holds, as for a
// program that is started with both.
type environ map[string]string

func variables(list []string) environ {
	env := make(environ, len(list))
	for _, v := range list {
		if name, value, ok := strings.Cut(v, "="); ok {
			env[name] = value
		}
	}
	return env
}

// or is a variable's value, or another one where it is unset or empty.
func (e environ) or(name, fallback string) string { return cmp.Or(e[name], fallback) }
