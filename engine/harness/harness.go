// Package harness reads the directory of a run of the old benchmark harness: parameters, launch
// lines, engine configs, the client's command, its banner and its outputs. Each value has evidence:
// the artifact and line where it was found. Parts that can't be read are reported as problems
// next to the values, not as errors. The caller decides what a value means for a recipe.
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

// Evidence is the place in a run directory where a value was found.
type Evidence struct {
	Artifact string `json:"artifact"`       // file name relative to the run directory
	Line     int    `json:"line,omitempty"` // from 1; 0 for the whole file or its name
	// Column is the byte in the line where Raw begins, from 1; 0 if the line does not contain Raw
	// literally.
	Column int    `json:"column,omitempty"`
	Key    string `json:"key,omitempty"` // variable, label, flag or YAML path
	Raw    string `json:"raw,omitempty"` // the value as found, at most 4 KiB of it
}

// MaxRaw bounds the raw value of an [Evidence], in bytes.
const MaxRaw = 4096

// newEvidence returns the evidence of raw. It looks for raw in the line, at or after a byte offset.
func newEvidence(artifact string, number int, line, key, raw string, offset int) Evidence {
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

// Value is a text and where it was found.
type Value struct {
	Text string
	At   Evidence
}

// Problem is a part of an artifact that could not be read.
type Problem = yamldoc.Problem

// Config is a YAML file of a run.
type Config struct {
	*yamldoc.Doc
	Artifact string
}

// At returns the evidence of a leaf.
func (c *Config) At(l yamldoc.Leaf) Evidence {
	line := ""
	if l.Node.Line >= 1 && l.Node.Line <= len(c.Lines) {
		line = strings.TrimSuffix(c.Lines[l.Node.Line-1], "\r")
	}
	return newEvidence(c.Artifact, l.Node.Line, line, l.Path(), yamldoc.Text(l.Node), l.Node.Column-1)
}

func countText(n int, noun string) string {
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
	Results      = "agentperf" // directory of the client's outputs
	ClientConfig = "benchmark_config.yaml"
)

// ArtifactNames are the artifacts that identify a run: its directory contains at least one of them.
var ArtifactNames = []string{
	JobParams, CTXConfig, GENConfig, ClientScript, ClientLog, JobLog, Results, ClientConfig,
}

// Artifact is a file that a run directory may contain.
type Artifact struct {
	Name    string `json:"name"`
	Present bool   `json:"present"`
	Lines   int    `json:"-"`                 // lines read; fewer than the file has if reading stopped at a limit
	Found   string `json:"found,omitempty"`   // what was found in it, in a few words
	Problem string `json:"problem,omitempty"` // why it, or a part of it, could not be used; else empty

	// Problems are the parts that could not be read, Notes the values that were interpreted
	// differently than a reader might expect. Those of an engine config are in its Config.
	Problems []Problem `json:"-"`
	Notes    []Problem `json:"-"`
}

func (a *Artifact) problem(line int, text string) {
	a.Problems = append(a.Problems, Problem{Line: line, Text: text})
}

// Run is the content of a run directory.
type Run struct {
	Dir       string     // absolute
	Artifacts []Artifact // in the order in which they are read

	Params   map[string]Value        // of job_params.env: the last assignment of each name
	Engines  map[schema.Role]*Config // those that can be used
	Client   ClientCommand
	Banners  []Banner // one for each start of the client
	Banner   Banner   // the one that is used; zero if there is none
	Launches Launches
	Settling []Value // seconds, as in the names of the output files; in the order of the phases
	Pinning  Pinning
	Config   *Config // the client's own configuration; nil if it is missing or can't be used

	names    []string // entries of the directory, sorted
	progress func(name string, done, total int64)
}

// Pinning is what the logs of the prefill workers show about CPU pinning.
type Pinning struct {
	Logs  []Evidence // logs that could be read
	Found Evidence   // zero if no log shows pinning
}

// Read reads the artifacts. An artifact that is missing or can't be used has a Problem; an error
// means that ctx ended. progress is called during long reads with numbers of bytes; total is 0 if
// it is unknown. progress may be nil.
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
		if err := r.readArtifact(ctx, a.name, a.parse); err != nil {
			return err
		}
	}
	r.listOutputs()
	for _, name := range r.names {
		if role, _ := workerLog(name); role == schema.Prefill && strings.HasSuffix(name, ".log") {
			if err := r.readArtifact(ctx, name, r.parsePinning); err != nil {
				return err
			}
		}
	}
	if err := r.readArtifact(ctx, r.configName(), r.parseConfig); err != nil {
		return err
	}
	for _, name := range r.names { // logs that are listed but not read
		role, _ := workerLog(name)
		if strings.HasSuffix(name, ".log") && (role == schema.Decode || strings.HasPrefix(name, "4_output_")) {
			r.Artifacts = append(r.Artifacts, Artifact{Name: name, Present: true, Found: "not loaded"})
		}
	}
	return ctx.Err()
}

// parser reads one artifact and sets what was found in it.
type parser func(context.Context, io.Reader, *Artifact) error

// parseEngine returns a parser for the engine config of a role.
func (r *Run) parseEngine(role schema.Role) parser {
	return func(_ context.Context, f io.Reader, a *Artifact) error {
		c, err := readConfig(f, a)
		if err == nil {
			r.Engines[role] = c
		}
		return err
	}
}

// configName returns the file name of the client's own configuration.
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
	a.Lines, a.Found = len(d.Lines), countText(len(d.Leaves), "value")
	return &Config{Doc: d, Artifact: a.Name}, nil
}

// maxOutputs bounds how many output files of the client are listed.
const maxOutputs = 100_000

// listOutputs reads the settling times from the names of the client's output files.
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
				v := settlingValue(name)
				seen[stem], phase[v] = true, s.Phase
				r.Settling = append(r.Settling, v)
			}
		}
		slices.SortStableFunc(r.Settling, func(x, y Value) int { return cmp.Compare(phase[x], phase[y]) })
		a.Found = countText(len(r.Settling), "phase")
	}
	r.Artifacts = append(r.Artifacts, a)
}

func settlingValue(name string) Value {
	const key = "settle"
	text := name[strings.LastIndex(name, "__"+key)+len("__"+key):]
	text, _, _ = strings.Cut(text, "s__")
	return Value{text, Evidence{Artifact: Results + "/" + name, Key: key, Raw: text}}
}

// parsePinning searches the first 4 MiB of a prefill worker's log for taskset.
func (r *Run) parsePinning(ctx context.Context, f io.Reader, a *Artifact) error {
	const (
		limit = 4 << 20
		mark  = "taskset -c"
	)
	a.Found = "no CPU pinning"
	lr := newLineReader(io.LimitReader(f, limit), mark)
	err := lr.forEach(ctx, func(l rawLine) bool {
		text := validUTF8(l.text)
		at := max(strings.Index(text, mark), 0)
		if r.Pinning.Found.Artifact == "" {
			r.Pinning.Found = newEvidence(a.Name, l.number, text, "taskset", firstWords(text[at:], 3), at)
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
	return fmt.Sprintf("%.200s", out)
}

// readArtifact parses one artifact and adds it to r.Artifacts. An artifact that is missing, not a
// regular file or unreadable has a Problem. The only error is that of ctx.
func (r *Run) readArtifact(ctx context.Context, name string, parse parser) error {
	a := Artifact{Name: name}
	defer func() { r.Artifacts = append(r.Artifacts, a) }()
	path := filepath.Join(r.Dir, name)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a.Problem = "missing"
		if _, lerr := os.Lstat(path); lerr == nil {
			a.Problem = "broken symbolic link"
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

// reason returns the text of an error without its path, which depends on the machine.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
