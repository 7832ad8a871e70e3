// Package harness reads the directory of a run of the old benchmark harness: parameters, launch
// lines, engine configs, the client's command, its banner and its outputs. Each value has evidence:
// the artifact and line where it was found. Parts that can't be read are reported as problems
// next to the values, not as errors. The caller decides what a value means for a recipe.
package harness

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
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

// Run is the content of a run directory.
type Run struct {
	Dir       string     // absolute
	Real      string     // Dir with symbolic links resolved
	Artifacts []Artifact // in a fixed order

	Params   map[string]Value        // of job_params.env: the last assignment of each name
	Engines  map[schema.Role]*Config // of the first worker of each role; those that can be used
	Client   ClientCommand
	Banners  []Banner // one for each start of the client
	Banner   Banner   // the one that is used; zero if there is none
	Launches Launches
	Settling []Value // seconds, as in the names of the output files; in the order of the phases
	Stems    []Value // names of the output files without their extensions, in the same order
	Pinning  Pinning
	Config   *Config // the client's own configuration; nil if it is missing or can't be used
	// ConfigNamed is where an artifact names the client's configuration by the name that was read; zero if
	// it was found by its usual name.
	ConfigNamed Value
	// EngineFiles are the engine configs that the workers of each role name, that of the first worker first.
	EngineFiles map[schema.Role][]EngineFile
	// Aggregated reports whether the workers do both prefill and decode; they have the role agg then.
	Aggregated bool

	// Rewrite returns where a path of the old cluster is on this machine; nil if it is the same.
	Rewrite func(string) string

	names    []string // entries of the directory, sorted
	progress func(name string, done, total int64)
}

// Roles returns the roles of the run's workers.
func (r *Run) Roles() []schema.Role {
	if r.Aggregated {
		return []schema.Role{schema.Agg}
	}
	return []schema.Role{schema.Prefill, schema.Decode}
}

// Read reads the artifacts. An artifact that is missing or can't be used has a Problem; an error
// means that ctx ended. progress is called during long reads with numbers of bytes; total is 0 if
// it is unknown. progress may be nil.
func (r *Run) Read(ctx context.Context, progress func(name string, done, total int64)) error {
	r.progress = progress
	if progress == nil {
		r.progress = func(string, int64, int64) {}
	}
	for _, read := range []func(context.Context) error{
		func(ctx context.Context) error { return r.readArtifact(ctx, JobParams, JobParams, r.parseParams) },
		func(ctx context.Context) error { return r.readArtifact(ctx, ClientScript, ClientScript, r.parseClient) },
		r.readClientLog,
		func(ctx context.Context) error { return r.readArtifact(ctx, JobLog, JobLog, r.parseLaunches) },
		r.readEngines,
		r.listOutputs,
		r.readPinning,
		r.readConfig,
	} {
		if err := read(ctx); err != nil {
			return err
		}
	}
	r.sortArtifacts()
	r.listRemaining()
	return ctx.Err()
}

// listRemaining adds logs and configs that exist but are not read.
func (r *Run) listRemaining() {
	listed := map[string]bool{}
	for _, a := range r.Artifacts {
		listed[a.Name] = true
	}
	for _, name := range r.names {
		usual := strings.TrimSuffix(name, ".gz")
		role, _ := workerLog(name)
		isLog := strings.HasSuffix(usual, ".log") && (role != "" || strings.HasPrefix(name, "4_output_"))
		isConfig := usual == CTXConfig || usual == GENConfig || usual == ClientConfig
		if !listed[name] && (isLog || isConfig || usual == ClientLog) {
			found := "not loaded"
			if i := slices.IndexFunc(r.Artifacts, func(a Artifact) bool { return a.Kind == usual }); i >= 0 &&
				strings.TrimSuffix(r.Artifacts[i].Name, ".gz") != usual {
				found = "not loaded: a line names another file"
			}
			r.Artifacts = append(r.Artifacts, Artifact{Name: name, Kind: usual, Present: true, Found: found})
		}
	}
}

// sortArtifacts sorts the artifacts by kind.
func (r *Run) sortArtifacts() {
	const logs = "" // that are searched
	kinds := []string{JobParams, CTXConfig, GENConfig, ClientScript, ClientLog, JobLog, Results, logs, ClientConfig}
	rank := func(a Artifact) int {
		if i := slices.Index(kinds, a.Kind); i >= 0 {
			return i
		}
		return slices.Index(kinds, logs)
	}
	slices.SortStableFunc(r.Artifacts, func(a, b Artifact) int { return cmp.Compare(rank(a), rank(b)) })
}

// readClientLog reads the log that the client script names, or else the one with the usual name.
func (r *Run) readClientLog(ctx context.Context) error {
	name := path.Base(r.Client.Log.Text)
	if r.Client.Log.Text == "" || !r.Exists(name) {
		name = ClientLog
	}
	err := r.readArtifact(ctx, ClientLog, name, r.parseBanners)
	if named := r.Client.Log; named.Text != "" && path.Base(named.Text) != name && err == nil {
		r.note(&r.Artifacts[len(r.Artifacts)-1], named, name)
	}
	return err
}

// note adds the problem that a line names another file than the one that was read.
func (r *Run) note(a *Artifact, named Value, read string) {
	if a.Present {
		a.problem(0, fmt.Sprintf("%s:%d names %s, which was not found; %s was read instead", named.At.Artifact, named.At.Line,
			safetext.Clip(named.Text, 120), read))
	}
}

// readConfig reads the client's own configuration: the one that the client's command names, unless that is a
// copy, or else the one that the job parameters name, or else the one with the usual name.
func (r *Run) readConfig(ctx context.Context) error {
	name := ClientConfig
	var missing Value // named, but not found
	for _, v := range []Value{r.Client.Config, r.Params["BENCHMARK_CONFIG"]} {
		base := path.Base(v.Text)
		switch {
		case v.Text == "" || strings.Contains(v.Text, "$") || r.ConfigNamed.Text != "":
		case r.Exists(base):
			name, r.ConfigNamed = base, v
		case missing.Text == "" && base != ClientConfig:
			missing = v
		}
	}
	err := r.readArtifact(ctx, ClientConfig, name, r.parseConfig)
	if missing.Text != "" && err == nil {
		r.note(&r.Artifacts[len(r.Artifacts)-1], missing, name)
	}
	return err
}

func (r *Run) parseConfig(_ context.Context, f io.Reader, a *Artifact) (err error) {
	if r.Config, err = readConfig(f, a); err == nil {
		a.Problems, a.Notes = append(a.Problems, r.Config.Problems...), append(a.Notes, r.Config.Notes...)
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

// resultsName returns the name of the directory of the client's outputs: the one that the client shows,
// or else the one with the usual name.
func (r *Run) resultsName() string {
	for _, v := range []Value{r.Banner.Values["Results dir"], r.Client.Results} {
		if v.Text == "" {
			continue
		}
		if name, exists := r.locate(v.Text); exists && !filepath.IsAbs(name) {
			return name
		}
		if name := path.Base(v.Text); r.has(name) {
			return name
		}
	}
	return Results
}

// listOutputs reads the settling times from the names of the client's output files.
func (r *Run) listOutputs(context.Context) error {
	a := Artifact{Name: r.resultsName(), Kind: Results}
	names, err := ListDir(filepath.Join(r.Dir, a.Name), maxOutputs)
	switch {
	case err != nil && !r.has(a.Name):
		a.Problem = "missing"
	case err != nil:
		a.Present, a.Problem = true, reason(err)
	default:
		a.Present = true
		seen := map[string]bool{}
		phase := map[Value]int{}
		for _, name := range names {
			plain := strings.TrimSuffix(name, ".gz")
			stem := strings.TrimSuffix(plain, path.Ext(plain))
			if s, ok := ParseStem(stem); ok && !seen[stem] {
				v := Value{stem, Evidence{Artifact: a.Name + "/" + name}}
				seen[stem], phase[v] = true, s.Phase
				r.Stems = append(r.Stems, v)
			}
		}
		slices.SortStableFunc(r.Stems, func(x, y Value) int { return cmp.Compare(phase[x], phase[y]) })
		for _, v := range r.Stems {
			r.Settling = append(r.Settling, settlingValue(v))
		}
		a.Found = countText(len(r.Settling), "phase")
	}
	r.Artifacts = append(r.Artifacts, a)
	return nil
}

// settlingValue returns the settling time in the name of an output file.
func settlingValue(stem Value) Value {
	const key = "settle"
	text := stem.Text[strings.LastIndex(stem.Text, "__"+key)+len("__"+key):]
	text, _, _ = strings.Cut(text, "s__")
	return Value{text, Evidence{Artifact: stem.At.Artifact, Key: key, Raw: text}}
}
