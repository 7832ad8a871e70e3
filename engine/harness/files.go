package harness

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Exists reports whether the run directory contains an artifact, compressed or not.
func (r *Run) Exists(name string) bool { return name != "" && (r.has(name) || r.has(name+".gz")) }

// locate returns the name of the artifact that a line names by its path on the old cluster, and whether
// it exists. The run directory may have been moved since then. The name is an absolute path for a file
// outside of it.
func (r *Run) locate(file string) (name string, exists bool) {
	file = path.Clean(file)
	names := r.within(file)
	for _, name := range names {
		if r.isThere(name) {
			return name, true
		}
	}
	if path.IsAbs(file) {
		there := []string{file}
		if r.Rewrite != nil {
			there = append(there, r.Rewrite(file))
		}
		for _, name := range there {
			if r.isThere(name) {
				return name, true
			}
		}
	}
	return append(names, file)[0], false
}

// within returns the names that a file on the old cluster may have in the run directory.
func (r *Run) within(file string) []string {
	var names []string
	if !path.IsAbs(file) {
		names = append(names, file)
	}
	for _, dir := range r.oldDirs() {
		if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/"); ok {
			names = append(names, rest)
		}
	}
	tail := "/" + filepath.Base(filepath.Dir(r.Real)) + "/" + filepath.Base(r.Real) + "/"
	if i := strings.LastIndex(file, tail); i >= 0 {
		names = append(names, file[i+len(tail):])
	}
	return slices.DeleteFunc(names, func(name string) bool { return !filepath.IsLocal(name) })
}

// isThere reports whether a file exists, compressed or not.
func (r *Run) isThere(name string) bool {
	_, err := os.Stat(r.path(name))
	if err != nil {
		_, err = os.Stat(r.path(name + ".gz"))
	}
	return err == nil
}

// oldDirs returns the run directory on the old cluster as the launch lines name it.
func (r *Run) oldDirs() []string {
	var dirs []string
	for _, l := range r.Launches.All() {
		for _, dir := range []string{l.LogDir.Text, path.Dir(l.Log.Text)} {
			if path.IsAbs(dir) && dir != "/" && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// EngineFile is an engine config that the launch lines of some workers name, or that has the usual name.
type EngineFile struct {
	Named    Value     // as the first launch line names it; zero if no line names one
	Workers  []*Launch // that name it
	Artifact string    // that was read, or its name if it was not found
	Config   *Config   // nil if it can't be used
	// Inferred is why the file was taken, if not because a launch line names it by this path.
	Inferred string
}

// maxEngineFiles bounds the different engine configs of a role that are read.
const maxEngineFiles = 16

// readEngines reads the engine configs of all roles.
func (r *Run) readEngines(ctx context.Context) error {
	r.findAggregated()
	r.EngineFiles = map[schema.Role][]EngineFile{}
	for _, role := range r.Roles() {
		files := r.engineFiles(role)
		for i := range files {
			if err := r.readEngine(ctx, role, &files[i]); err != nil {
				return err
			}
		}
		r.EngineFiles[role] = files
		if files[0].Config != nil {
			r.Engines[role] = files[0].Config
		}
	}
	return nil
}

// UsualConfig returns the usual name of a role's engine config.
func UsualConfig(role schema.Role) string {
	if role == schema.Prefill {
		return CTXConfig
	}
	return GENConfig
}

// engineFiles returns the engine configs that the workers of a role name, or else the one with the usual
// name.
func (r *Run) engineFiles(role schema.Role) []EngineFile {
	usual := UsualConfig(role)
	var files []EngineFile
	for _, l := range r.Launches.Workers[role] {
		if l.Config.Text == "" {
			continue
		}
		f := EngineFile{Named: Value{l.Config.Text, l.WordAt("engine config", l.Config)}}
		exists := false
		f.Artifact, exists = r.locate(l.Config.Text)
		if base := path.Base(f.Named.Text); !exists && r.Exists(base) {
			f.Artifact = base
			f.Inferred = "the file of that name in the run directory; the path in the launch line was not found"
		}
		i := slices.IndexFunc(files, func(o EngineFile) bool {
			return o.Named.Text == f.Named.Text || o.Artifact == f.Artifact
		})
		switch {
		case i >= 0:
			files[i].Workers = append(files[i].Workers, l)
		case len(files) < maxEngineFiles:
			f.Workers = []*Launch{l}
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		why := "has the usual name; no launch line names the engine config"
		files = append(files, EngineFile{Artifact: usual, Inferred: why})
	}
	return files
}

func (r *Run) readEngine(ctx context.Context, role schema.Role, f *EngineFile) error {
	if i := slices.IndexFunc(r.Artifacts, func(a Artifact) bool { return a.Name == f.Artifact }); i >= 0 {
		f.Config = r.configOf(f.Artifact) // of the other role
		return nil
	}
	return r.readArtifact(ctx, UsualConfig(role), f.Artifact, func(_ context.Context, in io.Reader, a *Artifact) error {
		c, err := readConfig(in, a)
		f.Artifact, f.Config = a.Name, c
		return err
	})
}

// configOf returns an engine config that was read before, or nil.
func (r *Run) configOf(name string) *Config {
	for _, c := range r.Engines {
		if c.Artifact == name {
			return c
		}
	}
	return nil
}

// findAggregated recognizes a run whose workers do both prefill and decode: only GEN workers were launched, and
// nothing belongs to CTX workers.
func (r *Run) findAggregated() {
	ls := &r.Launches
	if len(ls.Workers[schema.Decode]) == 0 || len(r.CTXTraces()) > 0 {
		return
	}
	r.Aggregated = true
	for _, a := range ls.Attempts {
		for _, l := range a.Workers[schema.Decode] {
			l.Role = schema.Agg
		}
		a.Workers[schema.Agg] = a.Workers[schema.Decode]
		delete(a.Workers, schema.Decode)
	}
}

// CTXTraces returns what shows that a run had CTX workers.
func (r *Run) CTXTraces() []Evidence {
	var out []Evidence
	for _, a := range r.Launches.Attempts {
		if l := a.First(schema.Prefill); l != nil {
			out = append(out, l.At("", l.Name(), 0))
		}
	}
	for _, name := range r.names {
		if role, _ := workerLog(name); role == schema.Prefill || strings.TrimSuffix(name, ".gz") == CTXConfig {
			out = append(out, Evidence{Artifact: name})
		}
	}
	waiting := r.Launches.Waiting
	if n := r.Launches.WorkerCount(); waiting.Text != "" && waiting.Text != fmt.Sprint(n) {
		out = append(out, waiting.At)
	}
	return out
}
