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

// Options are the options of a port. The zero value is valid.
type Options struct {
	Schema            int       // recipe layout, 1 or 2; 0 means 2
	GPUType           string    // such as gb300; empty: guessed, with a question to confirm it
	DatasetRoots      []string  // directories that are searched for the datasets
	Datasets          *Datasets // an existing index to use instead; may be nil
	PathRewrites      []rules.Rewrite
	NoDefaultRewrites bool   // disable the /lustre/ → /scratch/ rewrite
	WorkloadOut       string // where the workload file will be written; made absolute
	// RecipeOut is where the recipe will be written. The answers stored with an earlier port of it are
	// applied again.
	RecipeOut string
	Answers   []Answer       // override the stored ones; the last answer about a value counts
	Progress  func(Progress) // called from the porting goroutine; may be nil
}

// Progress is the progress of a long read or search.
type Progress struct {
	Stage string // "read" or "search"
	Name  string // artifact or directory
	Done  int64  // bytes read, or entries seen
	Total int64  // bytes; 0 if unknown
}

// Report calls o.Progress if it is set.
func (o *Options) Report(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

// ParentError reports that a directory contains run directories, but is not one itself.
type ParentError struct {
	Dir  string
	Runs []string // paths of the run directories below it
}

func (e *ParentError) Error() string {
	const most = 3
	names := strings.Join(e.Runs[:min(len(e.Runs), most)], ", ")
	if len(e.Runs) == 1 {
		return fmt.Sprintf("port %s: is not a run directory, but contains one; give %s", e.Dir, names)
	}
	if n := len(e.Runs) - most; n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("port %s: is not a run directory, but contains %d (%s); give one of them, or pass --tree",
		e.Dir, len(e.Runs), names)
}

// Unwrap gives the error its id.
func (e *ParentError) Unwrap() error { return problem.New(problem.HarnessRunNotFound, e.Error()) }

// Port ports the harness run directory dir. A problem with an artifact becomes a [Todo]. An error
// means that dir is not a run directory ([ParentError] if it contains some), that an option is
// invalid, or that ctx was cancelled.
func Port(ctx context.Context, dir string, opt Options) (*Result, error) {
	p, err := newPorting(ctx, dir, opt)
	if err != nil {
		return nil, err
	}
	p.decideFields()
	p.checkAndSort()
	return p.res, nil
}

// porting is the state of a running port. Its methods whose names end in Fields each set some
// fields and ask about values that were not found.
type porting struct {
	*input
	*draft
}

// newPorting checks the options and reads the artifacts.
func newPorting(ctx context.Context, dir string, opt Options) (*porting, error) {
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
	in, err := readInput(ctx, run, opt)
	if err != nil {
		return nil, err
	}
	return &porting{in, newDraft(opt.Schema, given)}, nil
}

// decideFields sets the fields of both files.
func (p *porting) decideFields() {
	p.res.Source, p.res.Artifacts = p.source(), p.run.Artifacts
	p.res.Datasets, p.res.DatasetNames = p.datasets, p.datasetNames()
	p.askProblems()
	p.jobFields()
	(&topology{porting: p}).fields()
	p.engineFields()
	p.askFlags()
	p.askTokens()
	(&frontend{porting: p}).fields()
	p.benchmarkFields()
	p.mounts()
	p.workloadFields()
	p.askDisagreements()
	p.applyRemainingAnswers()
	p.sortFields()
	p.closeAnswered(0)
	p.nameTouched()
}

// checkAndSort checks the files as they will be written, makes the proof, and sorts the questions.
func (p *porting) checkAndSort() {
	n := len(p.res.Todos)
	c := checker{porting: p}
	c.checkFiles()
	c.prove()
	p.closeAnswered(n)
	p.noteUnusedAnswers()
	rank := map[TodoKind]int{MustFix: 0, Confirm: 1, Note: 2}
	slices.SortStableFunc(p.res.Todos, func(x, y Todo) int { return cmp.Compare(rank[x.Kind], rank[y.Kind]) })
	if p.datasets != nil && p.datasets.partial != "" {
		p.res.Notices = append(p.res.Notices, "dataset search: "+p.datasets.partial)
	}
	if n := lustreNotice("/lustre", "/scratch"); n != "" && !p.opt.NoDefaultRewrites {
		p.res.Notices = append(p.res.Notices, n)
	}
}

// maxProblems bounds the questions about one artifact, and those about the proof.
const maxProblems = 50

// consequences describes the effect of an artifact that can't be used.
var consequences = map[string]string{
	harness.JobParams:    "there is a question about each value that only it shows",
	harness.ClientScript: "the flags and the environment of the client are unknown: add to benchmark.env what it needs",
	harness.JobLog:       "there is a question about each value that only it shows",
	harness.Results:      "the settling time can't be read from the outputs",
}

// askProblems asks about the problems of artifacts.
func (p *porting) askProblems() {
	for _, a := range p.run.Artifacts {
		p.askLines(a.Name, Confirm, a.Problems)
		p.askLines(a.Name, Note, a.Notes)
		if a.Kind == harness.ClientLog {
			p.askStarts()
		}
	}
	for _, a := range p.run.Artifacts {
		what, hasEffect := consequences[a.Kind]
		if a.Problem == "" || !hasEffect && !a.Present || a.Kind == harness.ClientLog {
			continue // workloadFields asks about a missing banner
		}
		text, kind := a.Name+": "+a.Problem, Confirm
		if hasEffect {
			text += ": " + what
		}
		if hasEffect && a.Kind != harness.ClientScript {
			kind = Note // there are other questions about what is missing
		}
		p.ask(kind, "", "", a.Kind, evidence(Evidence{Artifact: a.Name}), "%s", text)
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

// lustreNotice returns a warning if the default rewrite does not apply to this machine.
func lustreNotice(oldRoot, newRoot string) string {
	real, err := filepath.EvalSymlinks(oldRoot)
	if err != nil {
		return ""
	}
	if want, err := filepath.EvalSymlinks(newRoot); err == nil && want == real {
		return ""
	}
	return fmt.Sprintf("%s is not a link to %s on this machine, so the default path rewrite may be wrong; "+
		"see --no-default-rewrites and --path-rewrite", oldRoot, newRoot)
}
