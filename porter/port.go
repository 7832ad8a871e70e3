package porter

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Options steer a port. The zero value is useful.
type Options struct {
	Schema            int       // recipe layout, 1 or 2; 0 means 2
	GPUType           string    // such as gb300; empty: a guess and a question
	DatasetRoots      []string  // folders below which the datasets are looked for
	Datasets          *Datasets // or an index of them that is there already
	PathRewrites      []Rewrite
	NoDefaultRewrites bool           // leave out the /lustre/ → /scratch/ rewrite
	WorkloadOut       string         // where the workload file will be written; made absolute
	RecipeOut         string         // where the recipe will be written: answers kept with an earlier port of it are given again
	Answers           []Answer       // go before the kept ones; of two about one value the last one holds
	Progress          func(Progress) // called from the porting goroutine; may be nil
}

// Progress is a sign of life during long reads and searches.
type Progress struct {
	Stage string // "read" or "search"
	Name  string // artifact or folder
	Done  int64  // bytes read, or entries seen
	Total int64  // bytes; 0 where unknown
}

func (o *Options) report(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

// Port reads the harness run directory dir. Whatever is wrong with an artifact
// becomes a [Todo]; an error means that dir is no run directory ([ParentError] if
// it holds some), an option is unusable, or ctx was cancelled.
func Port(ctx context.Context, dir string, opt Options) (*Result, error) {
	b, err := newBuilder(ctx, dir, opt)
	if err != nil {
		return nil, err
	}
	b.build()
	return b.res, nil
}

// newBuilder reads all that a port needs.
func newBuilder(ctx context.Context, dir string, opt Options) (*builder, error) {
	if opt.Schema == 0 {
		opt.Schema = 2
	}
	if opt.Schema != 1 && opt.Schema != 2 {
		return nil, fmt.Errorf("port %s: schema %d: want 1 or 2", dir, opt.Schema)
	}
	run, err := openRun(ctx, dir)
	if err != nil {
		return nil, err
	}
	b := &builder{opt: opt, run: run, table: newLayout(opt.Schema).table, workload: workloadTable(), asked: map[string]string{}}
	b.rewrites = append(b.rewrites, opt.PathRewrites...)
	if !opt.NoDefaultRewrites {
		b.rewrites = append(b.rewrites, defaultRewrites...)
	}
	b.res = &Result{Source: run.source(), Schema: opt.Schema}
	if err := b.takeAnswers(); err != nil {
		return nil, fmt.Errorf("port %s: %w", dir, err)
	}
	for _, step := range []func(context.Context) error{b.readAll, b.searchDatasets} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// builder carries what was read, and collects the result.
type builder struct {
	opt      Options
	run      runDir
	rewrites rewrites
	table    *schema.Table
	workload *schema.Table
	res      *Result

	params     params
	engines    map[role]*yamlDoc
	launches   launches
	client     clientCommand
	banner     banner
	config     *yamlDoc // benchmark_config.yaml
	configName string
	stems      []string // names of client outputs
	pinned     pinning
	answers    answers
	asked      map[string]string // IDs of questions to their messages
	datasets   *Datasets
	recipeRead *recipes.Recipe // as it will be read; nil: not yet
}

// pinning is what the logs of the prefill workers tell about CPU pinning.
type pinning struct {
	logs  []Evidence // those that could be read
	found Evidence   // zero if none shows it
}

func (b *builder) readAll(ctx context.Context) error {
	b.params.artifact = nameParams
	b.engines = map[role]*yamlDoc{}
	steps := []func(context.Context) error{
		b.readParams,
		func(ctx context.Context) error { return b.readEngine(ctx, prefill, nameCTX) },
		func(ctx context.Context) error { return b.readEngine(ctx, decode, nameGEN) },
		b.readClient, b.readBanner, b.readJob, b.readStems, b.readPinning, b.readConfig, b.listLogs,
	}
	for _, s := range steps {
		if err := s(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) readParams(ctx context.Context) error {
	_, err := b.read(ctx, nameParams, func(r io.Reader) (int, string, error) {
		p, err := readEnvFile(ctx, io.LimitReader(r, maxLine), nameParams)
		b.params = p
		b.problems(nameParams, Confirm, p.problems)
		return p.lines, count(len(p.vars), "variable"), err
	})
	return err
}

// readEngine leaves no engine config behind if the file can't be used; the
// fields say what to do.
func (b *builder) readEngine(ctx context.Context, r role, name string) error {
	_, err := b.read(ctx, name, func(rd io.Reader) (int, string, error) {
		d, err := readYAML(rd)
		if err != nil {
			return 0, "", err
		}
		b.engines[r] = d
		return len(d.lines), count(len(d.leaves), "value"), nil
	})
	return err
}

func (b *builder) readClient(ctx context.Context) error {
	_, err := b.read(ctx, nameCommand, func(r io.Reader) (int, string, error) {
		cc, err := readClientCommand(r, nameCommand)
		b.client = cc
		b.problems(nameCommand, Confirm, cc.problems)
		found := "no call of run.py"
		if cc.found {
			found = "client's command"
		}
		return cc.lines, found, err
	})
	return err
}

func (b *builder) readBanner(ctx context.Context) error {
	_, err := b.read(ctx, nameClient, func(r io.Reader) (int, string, error) {
		all, lines, err := readBanners(ctx, r, nameClient)
		best, ok := pickBanner(all)
		if !ok {
			return lines, fmt.Sprintf("no banner in the first %d MiB", bannerLimit>>20), err
		}
		b.banner = best
		at := Evidence{Artifact: nameClient, Line: best.first}
		if !best.complete {
			b.todo("banner", Todo{Kind: Confirm, Message: fmt.Sprintf("the banner in client.log (line %d to %d) is cut off; what it lacks got fallbacks", best.first, best.last), Evidence: []Evidence{at}})
		}
		if len(all) > 1 {
			b.todo("starts", Todo{Kind: Note, Message: fmt.Sprintf("client.log shows %d starts of the client; the one on line %d counts", len(all), best.first), Evidence: bannerStarts(all)})
		}
		return lines, fmt.Sprintf("banner on line %d", best.first), err
	})
	return err
}

func bannerStarts(all []banner) []Evidence {
	var evs []Evidence
	for _, x := range all[:min(len(all), 8)] {
		evs = append(evs, Evidence{Artifact: nameClient, Line: x.first})
	}
	return evs
}

func (b *builder) readJob(ctx context.Context) error {
	b.launches.workers = map[role][]*launch{}
	_, err := b.read(ctx, nameJob, func(r io.Reader) (int, string, error) {
		var last int64
		ls, lines, err := readLaunches(ctx, r, nameJob, func(n int64) {
			if n-last >= 64<<20 {
				last = n
				b.opt.report(Progress{Stage: "read", Name: nameJob, Done: n})
			}
		})
		b.launches = ls
		b.problems(nameJob, Confirm, ls.problems)
		return lines, count(ls.count, "launch line"), err
	})
	return err
}

// readStems lists the client's output files; their names tell the settling time.
func (b *builder) readStems(ctx context.Context) error {
	a := Artifact{Name: nameResults}
	dir, err := listDir(filepath.Join(b.run.path, nameResults), 100_000)
	switch {
	case err != nil:
		a.Problem = "missing"
		if b.run.has(nameResults) {
			a.Present, a.Problem = true, reason(err)
		}
	default:
		a.Present = true
		seen := map[string]bool{}
		phase := map[string]int{}
		for _, name := range dir {
			stem := strings.TrimSuffix(name, path.Ext(name))
			if s, ok := parseStem(stem); ok && !seen[stem] {
				seen[stem], phase[name] = true, s.phase
				b.stems = append(b.stems, name)
			}
		}
		slices.SortStableFunc(b.stems, func(x, y string) int { return cmp.Compare(phase[x], phase[y]) })
		a.Found = count(len(b.stems), "phase")
	}
	b.res.Artifacts = append(b.res.Artifacts, a)
	return ctx.Err()
}

// readPinning looks for taskset in the first 4 MiB of every prefill worker's log.
func (b *builder) readPinning(ctx context.Context) error {
	const limit = 4 << 20
	for _, name := range b.run.names {
		if r, _ := workerLog(name); r != prefill || !strings.HasSuffix(name, ".log") {
			continue
		}
		ok, err := b.read(ctx, name, func(r io.Reader) (int, string, error) {
			found := "no CPU pinning"
			lr := newLineReader(io.LimitReader(r, limit), "taskset -c")
			err := lr.each(ctx, func(l rawLine) bool {
				text := clean(l.text)
				at := strings.Index(text, "taskset -c")
				if b.pinned.found.Artifact == "" {
					b.pinned.found = evidence(name, l.number, text, "taskset", firstWords(text[max(at, 0):], 3), at)
				}
				found = fmt.Sprintf("CPU pinning on line %d", l.number)
				return false
			})
			return lr.line - 1, found, err
		})
		if err != nil {
			return err
		}
		if ok {
			b.pinned.logs = append(b.pinned.logs, Evidence{Artifact: name})
		}
	}
	return nil
}

func firstWords(s string, n int) string {
	f := strings.Fields(s)
	out := strings.Join(f[:min(n, len(f))], " ")
	return out[:min(len(out), 200)]
}

// readConfig reads the client's own configuration, where the harness left it
// under its name.
func (b *builder) readConfig(ctx context.Context) error {
	b.configName = nameConfig
	if v, ok := b.params.vars["BENCHMARK_CONFIG"]; ok {
		if base := path.Base(v.value); base != "." && base != ".." && base != "/" && b.run.has(base) {
			b.configName = base
		}
	}
	_, err := b.read(ctx, b.configName, func(r io.Reader) (int, string, error) {
		d, err := readYAML(r)
		if err != nil {
			return 0, "", err
		}
		b.config = d
		b.problems(b.configName, Confirm, d.problems)
		b.problems(b.configName, Note, d.notes)
		return len(d.lines), count(len(d.leaves), "value"), nil
	})
	return err
}

// listLogs adds the logs that nothing is read from to the list of artifacts.
func (b *builder) listLogs(context.Context) error {
	for _, name := range b.run.names {
		r, _ := workerLog(name)
		if strings.HasSuffix(name, ".log") && (r == decode || strings.HasPrefix(name, "4_output_")) {
			b.res.Artifacts = append(b.res.Artifacts, Artifact{Name: name, Present: true, Found: "not read"})
		}
	}
	return nil
}

// problems turns what went wrong in an artifact into open questions.
func (b *builder) problems(artifact string, kind TodoKind, ps []problem) {
	for i, p := range ps {
		ev := []Evidence{{Artifact: artifact, Line: p.line}}
		where := artifact
		if p.line > 0 {
			where = fmt.Sprintf("%s:%d", artifact, p.line)
		}
		if i == maxProblems-1 && len(ps) > maxProblems {
			b.todo(artifact+":more", Todo{Kind: kind, Message: fmt.Sprintf("%s: %d more problems like these", artifact, len(ps)-i), Evidence: ev})
			return
		}
		b.todo(where, Todo{Kind: kind, Message: where + ": " + p.text, Evidence: ev})
	}
}

// todo opens a question; the same one twice counts once.
func (b *builder) todo(topic string, t Todo) {
	t.Message = clip(t.Message, 400)
	id := questionID(t.File, t.Path, topic)
	t.ID = id
	for n := 2; ; n++ {
		said, taken := b.asked[t.ID]
		if taken && said == t.Message {
			return
		}
		if !taken {
			break
		}
		t.ID = fmt.Sprintf("%s~%d", id, n)
	}
	b.asked[t.ID] = t.Message
	b.res.Todos = append(b.res.Todos, t)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// lustreNotice warns where the default rewrite is known to be wrong.
func lustreNotice(oldRoot, newRoot string) string {
	if real, err := filepath.EvalSymlinks(oldRoot); err == nil {
		if want, err := filepath.EvalSymlinks(newRoot); err != nil || want != real {
			return fmt.Sprintf("%s is no link to %s on this machine; the default path rewrite may be wrong here: see --no-default-rewrites and --path-rewrite", oldRoot, newRoot)
		}
	}
	return ""
}
