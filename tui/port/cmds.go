package port

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
)

// Bounds of the look around: a search below a project's root ends in time.
const (
	lookDepth = 3
	lookFor   = 3 * time.Second
)

type lookedMsg struct {
	gen        int
	dirs, runs []string // one of them; nil: the other, or nothing
	err        error
}

// look lists the folder that is being typed, and searches below it. A look at a
// folder typed before is given up: one that hangs must not hold up the next.
func (s *Screen) look() tea.Cmd {
	base, _ := split(s.path.Value())
	if s.stopLook != nil && base == s.looked {
		return nil
	}
	if s.stopLook != nil {
		s.stopLook()
	}
	ctx, done := context.WithTimeout(s.ctx, lookFor)
	s.looked, s.dirs, s.runs, s.lookErr, s.stopLook = base, nil, nil, nil, done
	s.pending = 2
	s.lookGen++
	gen, eng, root := s.lookGen, s.eng, cmp.Or(base, ".")
	list := func() tea.Msg {
		dirs, err := eng.List(ctx, root)
		return lookedMsg{gen: gen, dirs: dirs, err: err}
	}
	find := func() tea.Msg {
		runs, err := eng.FindRuns(ctx, root, lookDepth)
		if len(runs) > 0 && errors.Is(err, context.DeadlineExceeded) {
			err = nil // what was found in time is of use
		}
		return lookedMsg{gen: gen, runs: runs, err: err}
	}
	return tea.Batch(list, find)
}

type recentMsg struct{ dirs []string }

func (s *Screen) listRecent() tea.Cmd {
	if s.recents {
		return nil
	}
	s.recents = true
	ctx, eng := s.ctx, s.eng
	return func() tea.Msg {
		dirs, err := eng.Recent(ctx)
		if err != nil {
			return recentMsg{} // a convenience: without it the path is typed
		}
		return recentMsg{dirs}
	}
}

type portedMsg struct {
	gen     int
	written written
	names   [2]string
	err     error
}

// defaultNames are where recipe and workload go if nobody says otherwise: the
// current folder, under the name of the run directory and its parent.
func defaultNames(dir string) [2]string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	stem := strings.Trim(filepath.Base(filepath.Dir(dir))+"-"+filepath.Base(dir), "-./")
	return [2]string{stem + ".yaml", stem + ".workload.yaml"}
}

type progressMsg struct {
	ctx  context.Context // of the port
	gen  int
	p    porter.Progress
	from <-chan porter.Progress
}

// port reads the directory. A port that is asked for while one runs ends the
// earlier one.
func (s *Screen) port() tea.Cmd {
	s.giveUp()
	ctx, stop := context.WithCancel(s.ctx)
	s.porting, s.progress, s.stop = true, porter.Progress{}, stop
	gen, eng, dir, opt := s.gen, s.eng, s.dir, s.opt
	opt.Answers = slices.Clone(opt.Answers)
	progress := make(chan porter.Progress, 1)
	opt.Progress = func(p porter.Progress) {
		select {
		case progress <- p:
		default: // the screen is behind: it gets a later one
		}
	}
	run := func() tea.Msg {
		defer close(progress)
		names := defaultNames(session.Home(dir))
		opt.RecipeOut, opt.WorkloadOut = names[0], names[1]
		res, err := eng.Port(ctx, dir, opt)
		if err != nil {
			return portedMsg{gen: gen, err: err}
		}
		w, err := show(res)
		return portedMsg{gen, w, names, err}
	}
	return tea.Batch(run, wait(ctx, gen, progress))
}

// giveUp ends the port that runs, and makes its answer void.
func (s *Screen) giveUp() {
	s.gen++
	s.porting = false
	if s.stop != nil {
		s.stop()
	}
}

// wait waits for a sign of life of a port.
func wait(ctx context.Context, gen int, from <-chan porter.Progress) tea.Cmd {
	return func() tea.Msg {
		select {
		case p, ok := <-from:
			if ok {
				return progressMsg{ctx, gen, p, from}
			}
		case <-ctx.Done():
		}
		return nil
	}
}

// excerpt is what was read for a piece of evidence.
type excerpt struct {
	session.Excerpt
	err error
}

type excerptMsg struct {
	of porter.Evidence
	excerpt
}

// maxExcerpts bounds what is kept.
const maxExcerpts = 1000

// fetch reads what the evidence under the cursor points to, one at a time.
func (s *Screen) fetch() tea.Cmd {
	f := s.field(s.here())
	if s.stage != looking || s.fetching || len(f.Evidence) == 0 {
		return nil
	}
	e := f.Evidence[0]
	if _, have := s.excerpts[e]; have || e.Line == 0 {
		return nil
	}
	if len(s.excerpts) >= maxExcerpts {
		clear(s.excerpts)
	}
	s.fetching = true
	ctx, eng, path := s.ctx, s.eng, filepath.Join(s.dir, e.Artifact)
	return func() tea.Msg {
		length := len(e.Raw)
		if e.Column == 0 {
			length = 0
		}
		x, err := eng.Excerpt(ctx, path, e.Line, e.Column, length)
		return excerptMsg{e, excerpt{x, err}}
	}
}

type writtenMsg struct {
	gen     int
	paths   [2]string // of recipe and workload
	kept    int       // answers that went into them
	targets []session.Target
	moved   bool // targets are others than those that were shown
	err     error
}

// write writes the files under the names that were typed. The recipe names the
// workload file and takes up the answers of an earlier port, so the port is made
// again for these names. By force only what has been shown is replaced.
func (s *Screen) write(force bool) tea.Cmd {
	if s.saving {
		return nil
	}
	ctx, stop := context.WithCancel(s.ctx)
	s.saving, s.stopWrite = true, stop
	s.writes++
	m := writtenMsg{gen: s.writes, kept: len(s.opt.Answers)}
	names := [2]string{s.names[0].Value(), s.names[1].Value()}
	eng, dir, opt := s.eng, s.dir, s.opt
	opt.Answers = slices.Clone(opt.Answers)
	shown := s.compared
	return func() tea.Msg {
		m.paths = [2]string{session.Home(names[0]), session.Home(names[1])}
		opt.RecipeOut, opt.WorkloadOut = m.paths[0], m.paths[1]
		res, err := eng.Port(ctx, dir, opt)
		if err == nil && force {
			m.targets, err = eng.Targets(ctx, res, m.paths[0], m.paths[1])
			if m.moved = err == nil && !allShown(m.targets, shown); m.moved {
				return m
			}
		}
		if err == nil {
			err = eng.Write(ctx, res, m.paths[0], m.paths[1], force)
		}
		if exist := (*porter.ExistsError)(nil); errors.As(err, &exist) {
			var terr error
			if m.targets, terr = eng.Targets(ctx, res, m.paths[0], m.paths[1]); terr != nil {
				err = terr
			}
		}
		m.err = err
		return m
	}
}

// allShown says whether all that would be replaced is among what was shown: the
// difference from the same new text tells one old text from another.
func allShown(now, shown []session.Target) bool {
	for _, t := range now {
		if t.There && !t.Same && !slices.ContainsFunc(shown, func(o session.Target) bool { return reflect.DeepEqual(o, t) }) {
			return false
		}
	}
	return true
}

// dropWrite gives up a write and goes back to what was found.
func (s *Screen) dropWrite() {
	s.stage = looking
	if s.saving {
		s.writes++
		s.saving = false
		s.stopWrite()
	}
}

type checkedMsg struct {
	names   [2]string
	targets []session.Target
	err     error
}

// check finds out what the typed names would replace, one pair at a time: when it
// answers, those typed by then are next.
func (s *Screen) check() tea.Cmd {
	names := [2]string{s.names[0].Value(), s.names[1].Value()}
	if s.checking || s.stage != writing || names == s.checked && (s.targets != nil || s.targetErr != nil) {
		return nil
	}
	s.checking = true
	ctx, eng, dir, opt := s.ctx, s.eng, s.dir, s.opt
	opt.Answers = slices.Clone(opt.Answers)
	return func() tea.Msg {
		m := checkedMsg{names: names}
		opt.RecipeOut, opt.WorkloadOut = session.Home(names[0]), session.Home(names[1])
		res, err := eng.Port(ctx, dir, opt)
		if err == nil {
			m.targets, err = eng.Targets(ctx, res, opt.RecipeOut, opt.WorkloadOut)
		}
		m.err = err
		return m
	}
}

func (s *Screen) takeCheck(m checkedMsg) tea.Cmd {
	s.checking = false
	s.checked, s.targets, s.targetErr = m.names, m.targets, m.err
	return s.check()
}
