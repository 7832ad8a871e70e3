// Package harness reads what a run of the old benchmark harness leaves in its directory:
// parameters, launch lines, engine configs, the client's command, its banner and its outputs. Each
// value comes with the artifact and the line that it stands on. What can't be read as it should is
// a problem beside the values, never an error. The package judges nothing: what a value means for a
// recipe is the caller's matter.
package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Evidence is one place in a run directory that a value rests on.
type Evidence struct {
	Artifact string `json:"artifact"`       // file name relative to the run directory
	Line     int    `json:"line,omitempty"` // from 1; 0 where the whole file, or its name, is meant
	// Column is the byte in the line where Raw begins, from 1; 0 where Raw does not
	// stand there word for word.
	Column int    `json:"column,omitempty"`
	Key    string `json:"key,omitempty"` // variable, label, flag or YAML path
	Raw    string `json:"raw,omitempty"` // the value as found; long ones are cut at 4 KiB
}

// MaxRaw bounds the raw value of an [Evidence], in bytes.
const MaxRaw = 4096

// evidence makes an Evidence of raw, which is to be found in the line at or after the byte offset.
func evidence(artifact string, number int, line, key, raw string, offset int) Evidence {
	ev := Evidence{Artifact: artifact, Line: number, Key: key, Raw: raw}
	if len(ev.Raw) > MaxRaw {
		ev.Raw = strings.ToValidUTF8(ev.Raw[:MaxRaw], "")
	}
	offset = min(max(offset, 0), len(line))
	if i := strings.Index(line[offset:], ev.Raw); i >= 0 && ev.Raw != "" && i < 4096 {
		ev.Column = offset + i + 1
	}
	return ev
}

// Value is a text and where it stands.
type Value struct {
	Text string
	At   Evidence
}

// Problem is something about an artifact that could not be read as it should.
type Problem = yamldoc.Problem

// Config is a YAML file of a run.
type Config struct {
	*yamldoc.Doc
	Artifact string
}

// At is the evidence of a leaf.
func (c *Config) At(l yamldoc.Leaf) Evidence {
	line := ""
	if l.Node.Line >= 1 && l.Node.Line <= len(c.Lines) {
		line = strings.TrimSuffix(c.Lines[l.Node.Line-1], "\r")
	}
	return evidence(c.Artifact, l.Node.Line, line, l.Path(), yamldoc.Text(l.Node), l.Node.Column-1)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Names of the artifacts of a run.
const (
	JobParams    = "job_params.env"
	CTXConfig    = "ctx_config.yaml"
	GENConfig    = "gen_config.yaml"
	ClientScript = "client_cmds_base.sh"
	ClientLog    = "client.log"
	JobLog       = "job.log"
	Results      = "agentperf" // folder of the client's outputs
	ClientConfig = "benchmark_config.yaml"
)

// ArtifactNames are those by which a directory is known as a run: it holds one of them at least.
var ArtifactNames = []string{
	JobParams, CTXConfig, GENConfig, ClientScript, ClientLog, JobLog, Results, ClientConfig,
}

// Artifact is one file that a run may hold.
type Artifact struct {
	Name    string `json:"name"`
	Present bool   `json:"present"`
	Lines   int    `json:"-"`                 // lines read; for a capped file fewer than it has
	Found   string `json:"found,omitempty"`   // what it told, in a few words
	Problem string `json:"problem,omitempty"` // why it could not be used, or not whole; empty if all is well

	// Problems tells what could not be read as it should, Notes what was read otherwise
	// than it looks. An engine config has its own.
	Problems []Problem `json:"-"`
	Notes    []Problem `json:"-"`
}

func (a *Artifact) problem(line int, text string) {
	a.Problems = append(a.Problems, Problem{Line: line, Text: text})
}

// Run is what a run left in its directory.
type Run struct {
	Dir       string     // absolute
	Artifacts []Artifact // in the order in which they are read

	Params   map[string]Value        // of job_params.env: the last assignment of each name
	Engines  map[schema.Role]*Config // those that can be used
	Client   ClientCommand
	Banners  []Banner // one for each start of the client
	Banner   Banner   // the one that counts; zero if there is none
	Launches Launches
	Settling []Value // s, as the names of the outputs spell them, by phase
	Pinning  Pinning
	Config   *Config // the client's own configuration; nil if it was not left, or can't be used

	names    []string // entries of the directory, sorted
	progress func(name string, done, total int64)
}

// Pinning is what the logs of the prefill workers tell about CPU pinning.
type Pinning struct {
	Logs  []Evidence // those that could be read
	Found Evidence   // zero if none shows it
}

// Read reads the artifacts. One that is absent or can't be used says so in its row;
// an error means that ctx ended. progress is called during long reads with bytes,
// total 0 where it is unknown; it may be nil.
func (r *Run) Read(ctx context.Context, progress func(name string, done, total int64)) error {
	r.progress = progress
	if progress == nil {
		r.progress = func(string, int64, int64) {}
	}
	for _, a := range []struct {
		name  string
		parse parser
	}{
		{JobParams, r.parseParams},
		{CTXConfig, r.parseEngine(schema.Prefill)},
		{GENConfig, r.parseEngine(schema.Decode)},
		{ClientScript, r.parseClient},
		{ClientLog, r.parseBanners},
		{JobLog, r.parseLaunches},
	} {
		if err := r.read(ctx, a.name, a.parse); err != nil {
			return err
		}
	}
	r.listOutputs()
	for _, name := range r.names {
		if role, _ := workerLog(name); role == schema.Prefill && strings.HasSuffix(name, ".log") {
			if err := r.read(ctx, name, r.parsePinning); err != nil {
				return err
			}
		}
	}
	if err := r.read(ctx, r.configName(), r.parseConfig); err != nil {
		return err
	}
	for _, name := range r.names { // the logs that nothing is read from
		role, _ := workerLog(name)
		if strings.HasSuffix(name, ".log") && (role == schema.Decode || strings.HasPrefix(name, "4_output_")) {
			r.Artifacts = append(r.Artifacts, Artifact{Name: name, Present: true, Found: "not read"})
		}
	}
	return ctx.Err()
}

// parser reads one artifact, and tells in its row what was found.
type parser func(context.Context, io.Reader, *Artifact) error

// parseEngine reads the engine config of a role; one that can't be used leaves none.
func (r *Run) parseEngine(role schema.Role) parser {
	return func(_ context.Context, f io.Reader, a *Artifact) error {
		c, err := readConfig(f, a)
		if err == nil {
			r.Engines[role] = c
		}
		return err
	}
}

// configName is what the harness called the client's own configuration.
func (r *Run) configName() string {
	base := path.Base(r.Params["BENCHMARK_CONFIG"].Text)
	if base != "." && base != ".." && base != "/" && r.has(base) {
		return base
	}
	return ClientConfig
}

func (r *Run) parseConfig(_ context.Context, f io.Reader, a *Artifact) (err error) {
	if r.Config, err = readConfig(f, a); err == nil {
		a.Problems, a.Notes = r.Config.Problems, r.Config.Notes
	}
	return err
}

func readConfig(f io.Reader, a *Artifact) (*Config, error) {
	d, err := yamldoc.Read(f)
	if err != nil {
		return nil, err
	}
	a.Lines, a.Found = len(d.Lines), count(len(d.Leaves), "value")
	return &Config{Doc: d, Artifact: a.Name}, nil
}

// maxOutputs bounds how many outputs of the client are listed.
const maxOutputs = 100_000

// listOutputs lists the client's output files; their names tell the settling time.
func (r *Run) listOutputs() {
	a := Artifact{Name: Results}
	names, err := ListDir(filepath.Join(r.Dir, Results), maxOutputs)
	switch {
	case err != nil && !r.has(Results):
		a.Problem = "missing"
	case err != nil:
		a.Present, a.Problem = true, reason(err)
	default:
		a.Present = true
		seen := map[string]bool{}
		phase := map[Value]int{}
		for _, name := range names {
			stem := strings.TrimSuffix(name, path.Ext(name))
			if s, ok := ParseStem(stem); ok && !seen[stem] {
				v := settling(name)
				seen[stem], phase[v] = true, s.Phase
				r.Settling = append(r.Settling, v)
			}
		}
		slices.SortStableFunc(r.Settling, func(x, y Value) int { return cmp.Compare(phase[x], phase[y]) })
		a.Found = count(len(r.Settling), "phase")
	}
	r.Artifacts = append(r.Artifacts, a)
}

func settling(name string) Value {
	const key = "settle"
	text := name[strings.LastIndex(name, "__"+key)+len("__"+key):]
	text, _, _ = strings.Cut(text, "s__")
	return Value{text, Evidence{Artifact: Results + "/" + name, Key: key, Raw: text}}
}

// parsePinning looks for taskset in the first 4 MiB of a prefill worker's log.
func (r *Run) parsePinning(ctx context.Context, f io.Reader, a *Artifact) error {
	const (
		limit = 4 << 20
		mark  = "taskset -c"
	)
	a.Found = "no CPU pinning"
	lr := newLineReader(io.LimitReader(f, limit), mark)
	err := lr.each(ctx, func(l rawLine) bool {
		text := clean(l.text)
		at := max(strings.Index(text, mark), 0)
		if r.Pinning.Found.Artifact == "" {
			r.Pinning.Found = evidence(a.Name, l.number, text, "taskset", firstWords(text[at:], 3), at)
		}
		a.Found = fmt.Sprintf("CPU pinning on line %d", l.number)
		return false
	})
	a.Lines = lr.lines
	if err == nil {
		r.Pinning.Logs = append(r.Pinning.Logs, Evidence{Artifact: a.Name})
	}
	return err
}

func firstWords(s string, n int) string {
	f := strings.Fields(s)
	out := strings.Join(f[:min(n, len(f))], " ")
	return out[:min(len(out), 200)]
}

// read opens an artifact, hands it to parse and records how that went. An artifact that is absent,
// no regular file or unreadable is a problem, not an error; only a context that ended is.
func (r *Run) read(ctx context.Context, name string, parse parser) error {
	a := Artifact{Name: name}
	defer func() { r.Artifacts = append(r.Artifacts, a) }()
	path := filepath.Join(r.Dir, name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.Problem = "missing"
		if _, lerr := os.Lstat(path); lerr == nil {
			a.Problem = "the link leads nowhere"
		}
		return nil
	case err != nil:
		a.Problem = reason(err)
		return nil
	case !info.Mode().IsRegular():
		a.Present, a.Problem = true, "not a regular file"
		return nil
	}
	a.Present = true
	r.progress(name, 0, info.Size())
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		err = parse(ctx, f, &a)
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("read %s: %w", name, ctx.Err())
	case err != nil:
		a.Problem = reason(err)
	case info.Size() == 0:
		a.Problem = "empty"
	}
	return nil
}

// reason is an error without the path, which differs from machine to machine.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
