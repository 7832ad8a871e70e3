package porter

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// Options steer a port. The zero value is useful.
type Options struct {
	Schema            int       // recipe layout, 1 or 2; 0 means 2
	GPUType           string    // such as gb300; empty: a guess and a question
	DatasetRoots      []string  // folders below which the datasets are looked for
	Datasets          *Datasets // or an index of them that is there already
	PathRewrites      []rules.Rewrite
	NoDefaultRewrites bool   // leave out the /lustre/ → /scratch/ rewrite
	WorkloadOut       string // where the workload file will be written; made absolute
	// RecipeOut is where the recipe will be written: answers kept with an earlier port
	// of it are given again.
	RecipeOut string
	Answers   []Answer       // go before the kept ones; of two about one value the last one holds
	Progress  func(Progress) // called from the porting goroutine; may be nil
}

// Progress is a sign of life during long reads and searches.
type Progress struct {
	Stage string // "read" or "search"
	Name  string // artifact or folder
	Done  int64  // bytes read, or entries seen
	Total int64  // bytes; 0 where unknown
}

// Report calls Progress where there is one.
func (o *Options) Report(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

// ParentError says that the directory holds run directories, but is none.
type ParentError struct {
	Dir  string
	Runs []string // paths of the c<N> directories below it
}

func (e *ParentError) Error() string {
	return fmt.Sprintf("port %s: is not a run directory, but holds %d of them; give one of %s, or pass --tree",
		e.Dir, len(e.Runs), strings.Join(e.Runs, ", "))
}

// Unwrap gives the error its id.
func (e *ParentError) Unwrap() error { return problem.New(problem.HarnessRunNotFound, e.Error()) }

// Port reads the harness run directory dir. Whatever is wrong with an artifact
// becomes a [Todo]; an error means that dir is no run directory ([ParentError] if
// it holds some), an option is unusable, or ctx was cancelled.
func Port(ctx context.Context, dir string, opt Options) (*Result, error) {
	p, err := start(ctx, dir, opt)
	if err != nil {
		return nil, err
	}
	p.decide()
	p.conclude()
	return p.res, nil
}

// porting is a port in the making. Its methods that end in Fields each decide a part of the
// fields, and ask about what they could not find.
type porting struct {
	*input
	*draft
}

// start reads all that a port needs.
func start(ctx context.Context, dir string, opt Options) (*porting, error) {
	if opt.Schema == 0 {
		opt.Schema = 2
	}
	if opt.Schema != 1 && opt.Schema != 2 {
		return nil, problem.Errorf(problem.FlagValue, "port %s: schema must be 1 or 2, got %d", dir, opt.Schema)
	}
	run, err := openRun(ctx, dir)
	if err != nil {
		return nil, err
	}
	given, err := newAnswers(opt)
	if err != nil {
		return nil, fmt.Errorf("port %s: %w", dir, err)
	}
	in, err := read(ctx, run, opt)
	if err != nil {
		return nil, err
	}
	return &porting{in, newDraft(opt.Schema, given)}, nil
}

// decide makes the fields of both files from what was read.
func (p *porting) decide() {
	p.res.Source, p.res.Artifacts = p.source(), p.run.Artifacts
	p.res.Datasets, p.res.DatasetNames = p.datasets, p.datasetNames()
	p.askProblems()
	p.jobFields()
	(&topology{porting: p}).fields()
	p.engineFields()
	(&frontend{porting: p}).fields()
	p.benchmarkFields()
	p.mounts()
	p.workloadFields()
	p.furtherAnswers()
	p.sort()
	p.settle(0)
}

// conclude looks at what will be written as a run would, proves it, and closes the questions.
func (p *porting) conclude() {
	n := len(p.res.Todos)
	c := checks{porting: p}
	c.outcome()
	c.prove()
	p.settle(n)
	p.noteAnswers()
	rank := map[TodoKind]int{MustFix: 0, Confirm: 1, Note: 2}
	slices.SortStableFunc(p.res.Todos, func(x, y Todo) int { return cmp.Compare(rank[x.Kind], rank[y.Kind]) })
	if p.datasets != nil && p.datasets.partial != "" {
		p.res.Notices = append(p.res.Notices, "dataset search: "+p.datasets.partial)
	}
	if n := lustreNotice("/lustre", "/scratch"); n != "" && !p.opt.NoDefaultRewrites {
		p.res.Notices = append(p.res.Notices, n)
	}
}

// maxProblems bounds how many questions one broken artifact, or a proof, may ask.
const maxProblems = 50

// consequences of an artifact that can't be used, where no field says it better.
var consequences = map[string]string{
	harness.JobParams:    "model, image, mounts and concurrency are placeholders",
	harness.ClientScript: "the client checkout is a placeholder and further flags of the client are unknown",
	harness.ClientLog:    "client settings that only its banner shows got fallbacks",
	harness.JobLog:       "environments and topology are placeholders",
	harness.Results:      "the settling time could not be read from the outputs",
}

// askProblems asks about what could not be read as it should.
func (p *porting) askProblems() {
	for _, a := range p.run.Artifacts {
		p.askLines(a.Name, Confirm, a.Problems)
		p.askLines(a.Name, Note, a.Notes)
		if a.Name == harness.ClientLog {
			p.askBanners()
		}
	}
	for _, a := range p.run.Artifacts {
		what, ours := consequences[a.Name]
		if a.Problem == "" || !ours && !a.Present {
			continue
		}
		text := a.Name + ": " + a.Problem
		if ours {
			text += ": " + what
		}
		p.ask(Confirm, "", "", a.Name, evidence(Evidence{Artifact: a.Name}), "%s", text)
	}
}

func (d *draft) askLines(artifact string, kind TodoKind, ps []harness.Problem) {
	for i, p := range ps {
		ev := Evidence{Artifact: artifact, Line: p.Line}
		where := artifact
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d", artifact, p.Line)
		}
		if i == maxProblems-1 && len(ps) > maxProblems {
			d.ask(kind, "", "", artifact+":more", evidence(ev), "%s: %d more problems like these", artifact, len(ps)-i)
			return
		}
		d.ask(kind, "", "", where, evidence(ev), "%s", where+": "+p.Text)
	}
}

func (p *porting) askBanners() {
	best, all := p.run.Banner, p.run.Banners
	if len(best.Values) > 0 && !best.Complete {
		p.ask(Confirm, "", "", "banner", evidence(Evidence{Artifact: harness.ClientLog, Line: best.First}),
			"the banner in client.log (line %d to %d) is cut off; what it lacks got fallbacks", best.First, best.Last)
	}
	if len(all) > 1 {
		var at []Evidence
		for _, x := range all[:min(len(all), 8)] {
			at = append(at, Evidence{Artifact: harness.ClientLog, Line: x.First})
		}
		p.ask(Note, "", "", "starts", at,
			"client.log shows %d starts of the client; the one on line %d counts", len(all), best.First)
	}
}

// lustreNotice warns where the default rewrite is known to be wrong.
func lustreNotice(oldRoot, newRoot string) string {
	real, err := filepath.EvalSymlinks(oldRoot)
	if err != nil {
		return ""
	}
	if want, err := filepath.EvalSymlinks(newRoot); err == nil && want == real {
		return ""
	}
	return fmt.Sprintf("%s is no link to %s on this machine; the default path rewrite may be wrong here: "+
		"see --no-default-rewrites and --path-rewrite", oldRoot, newRoot)
}
