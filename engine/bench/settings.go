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

// Versions of the tools that a build installs if the image lacks them.
const (
	rustVersion   = "1.93.1"
	rustupVersion = "1.28.1"
	uvVersion     = "0.8.22"
)

// settings are the settings that the step takes from its environment.
type settings struct {
	baseURL      string
	runtime      string   // the runtime directory, for all files except results
	runtimeGiven bool     // by AGENTPERF_RUNTIME; its owner is not checked
	rust         string   // version
	uv           string   // version
	mirror       string   // URL of rustup
	extra        []string // additional arguments of the client
	env          []string // environment of all programs
	path         string   // PATH of all programs
	notes        []string // for the log
}

// in returns a path in the runtime directory.
func (s *settings) in(name ...string) string {
	return filepath.Join(append([]string{s.runtime}, name...)...)
}

// newSettings reads and checks the settings.
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
	if err := s.chooseRuntime(env); err != nil {
		return s, err
	}
	first, more, _ := strings.Cut(env.or("AGENTPERF_EXTRA_ARGS", ""), "\n")
	s.extra = strings.Fields(first)
	if strings.TrimSpace(more) != "" {
		s.notes = append(s.notes, "AGENTPERF_EXTRA_ARGS: only the first line is used")
	}
	s.setEnvironment(opt)
	return s, nil
}

var jobID = regexp.MustCompile(`^[A-Za-z0-9_.-]*[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// chooseRuntime chooses the runtime directory.
func (s *settings) chooseRuntime(env environ) error {
	if dir := env.or("AGENTPERF_RUNTIME", ""); dir != "" {
		if !filepath.IsAbs(dir) {
			return problem.Errorf(problem.EnvironmentInvalid, "AGENTPERF_RUNTIME must be an absolute path, got %q", dir)
		}
		s.runtime, s.runtimeGiven = filepath.Clean(dir), true
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

// makeRuntime creates the runtime directory. The default directory is in /tmp, where another user
// could have created it first, so its owner is checked.
func (s *settings) makeRuntime() error {
	for _, d := range []string{s.in(), s.in("home"), s.in(dataDir)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("create the client's runtime directory: %w; choose another one with AGENTPERF_RUNTIME", err)
		}
	}
	info, err := os.Lstat(s.runtime)
	if err != nil || s.runtimeGiven {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || ok && int(st.Uid) != os.Geteuid() {
		return problem.Errorf(problem.ClientInvalid, "client's runtime directory: %s is not a directory owned by this user; "+
			"choose another one with AGENTPERF_RUNTIME", s.runtime)
	}
	return nil
}

// removedVars are variables that would make the client's tools use other directories.
var removedVars = []string{
	"CONDA_PREFIX", "PYTHONHOME", "PYTHONPATH", "PYTHONUSERBASE", "VIRTUAL_ENV", "XDG_BIN_HOME", "XDG_CACHE_HOME",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
}

// setEnvironment sets the environment of the programs: the step's own, with all caches and home
// directories in the runtime directory.
func (s *settings) setEnvironment(opt Options) {
	s.path = s.in("home/.local/bin") + ":" + s.in("cargo/bin") + ":" + opt.SystemPath
	set := []string{
		"HOME=" + s.in("home"), "CARGO_HOME=" + s.in("cargo"), "RUSTUP_HOME=" + s.in("rustup"),
		"CARGO_TARGET_DIR=" + s.in("target"),
		"UV_PROJECT_ENVIRONMENT=" + s.in(venvDir), "UV_CACHE_DIR=" + s.in("uv-cache"),
		"TIKTOKEN_CACHE_DIR=" + s.in("tiktoken"),
		// The checkout may be shared, so compiled Python files must not go there.
		"PYTHONPYCACHEPREFIX=" + s.in("pycache"), "PATH=" + s.path,
		// Some distributions forbid pip to install packages. Installing in HOME is safe.
		"PIP_BREAK_SYSTEM_PACKAGES=1",
	}
	var removed []string
	for _, v := range opt.Environ {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case slices.Contains(removedVars, name):
			if value != "" {
				removed = append(removed, name)
			}
		case !slices.ContainsFunc(set, func(own string) bool { return strings.HasPrefix(own, name+"=") }):
			s.env = append(s.env, v)
		}
	}
	s.env = append(s.env, set...)
	if len(removed) > 0 {
		s.notes = append(s.notes, "removed from the client's environment: "+strings.Join(removed, " "))
	}
}

// lookPath returns the path of a program in the step's PATH, or "" if there is none.
func (s *settings) lookPath(name string) string {
	for dir := range strings.SplitSeq(s.path, ":") {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// baseURL returns the base URL of the client's requests.
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

// environ maps names of variables to values. If a variable is set twice, the last value counts.
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

// or returns the value of a variable, or fallback if it is unset or empty.
func (e environ) or(name, fallback string) string { return cmp.Or(e[name], fallback) }
