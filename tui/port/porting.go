package port

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// porting is the port of a directory, made anew with each answer that is given.
type porting struct {
	inert
	eng Engine
	ctx context.Context
	w   int

	dir    string
	opt    porter.Options
	before porter.Options // the last change
	kept   int            // answers that have been written
	result *written       // of the last port that has ended well

	now *run // nil: none
	at  porter.Progress
}

// run is a port under way.
type run struct {
	ctx      context.Context
	stop     context.CancelFunc
	progress chan porter.Progress
}

type (
	portedMsg struct {
		run   *run
		shown *written
		names [2]string
		err   error
	}
	progressMsg struct {
		run *run
		at  porter.Progress
	}
)

// begin ports another directory.
func (p *porting) begin(dir string) tea.Cmd {
	p.dir, p.opt, p.before, p.kept = dir, porter.Options{}, porter.Options{}, 0
	p.result = &written{res: &porter.Result{}}
	return p.port()
}

// port reads the directory. A port that is asked for while one runs ends the earlier one.
func (p *porting) port() tea.Cmd {
	p.giveUp()
	r := &run{progress: make(chan porter.Progress, 1)}
	r.ctx, r.stop = context.WithCancel(p.ctx)
	p.now, p.at = r, porter.Progress{}
	eng, dir, opt := p.eng, p.dir, p.options()
	opt.Progress = func(p porter.Progress) {
		select {
		case r.progress <- p:
		default: // the screen is behind: it gets a later one
		}
	}
	return tea.Batch(func() tea.Msg {
		defer close(r.progress)
		m := portedMsg{run: r, names: defaultNames(session.ExpandHome(dir))}
		opt.RecipeOut, opt.WorkloadOut = m.names[0], m.names[1]
		var res *porter.Result
		if res, m.err = eng.Port(r.ctx, dir, opt); m.err == nil {
			m.shown, m.err = show(res)
		}
		return m
	}, r.wait)
}

// options are what the port is made with, to be handed to a command.
func (p *porting) options() porter.Options {
	opt := p.opt
	opt.Answers = slices.Clone(opt.Answers)
	return opt
}

// giveUp ends the port that runs, and makes its answer void.
func (p *porting) giveUp() {
	if p.now != nil {
		p.now.stop()
		p.now = nil
	}
}

// wait waits for a sign of life.
func (r *run) wait() tea.Msg {
	select {
	case at, ok := <-r.progress:
		if ok {
			return progressMsg{r, at}
		}
	case <-r.ctx.Done():
	}
	return nil
}

func (m progressMsg) apply(s *Screen) tea.Cmd {
	if m.run != s.porting.now {
		return nil
	}
	s.porting.at = m.at
	return m.run.wait
}

// ended takes the end of a port; false if it was given up.
func (p *porting) ended(m portedMsg) bool {
	if m.run != p.now {
		return false
	}
	p.giveUp()
	if m.err == nil {
		p.result, p.opt.Datasets = m.shown, m.shown.res.Datasets
	}
	return true
}

// apply takes a result, of the first port or of one with other answers.
func (m portedMsg) apply(s *Screen) tea.Cmd {
	switch {
	case !s.porting.ended(m):
		return nil
	case m.err != nil && s.stage >= reviewing: // an answer, or a folder, that can't be
		s.porting.takeBack()
		return s.fail(m.err)
	case m.err != nil:
		s.stage, s.given = choosing, false
		var parent *porter.ParentError
		if errors.As(m.err, &parent) {
			s.chooser.path.SetValue(strings.TrimSuffix(s.porting.dir, "/") + "/")
			m.err = nil
		}
		return s.chooser.start(m.err)
	}
	s.review.show()
	if s.stage < reviewing { // later, names may be being typed
		s.stage = reviewing
		s.review.files.begin()
		s.review.files.scroll()
		s.writing.names[0].SetValue(m.names[0])
		s.writing.names[1].SetValue(m.names[1])
	}
	return s.fetch()
}

// change ports again with other options.
func (p *porting) change(to func(opt *porter.Options)) tea.Cmd {
	p.before, p.opt = p.opt, p.options()
	to(&p.opt)
	return p.port()
}

// answer ports again with one answer more.
func (p *porting) answer(a porter.Answer) tea.Cmd {
	if p.now != nil {
		return ui.Send(ui.Toast{Text: "the last answer is still being worked in", Role: ui.Muted})
	}
	return p.change(func(opt *porter.Options) { opt.Answers = append(opt.Answers, a) })
}

// undo ports again without the last answer.
func (p *porting) undo() tea.Cmd {
	n := len(p.opt.Answers)
	if n == 0 {
		return nil
	}
	p.kept = min(p.kept, n-1)
	return p.change(func(opt *porter.Options) { opt.Answers = opt.Answers[:n-1] })
}

// lookBelow ports again with one more folder that datasets are looked for in.
func (p *porting) lookBelow(root string) tea.Cmd {
	if root == "" || p.now != nil {
		return nil
	}
	return p.change(func(opt *porter.Options) {
		opt.DatasetRoots = append(slices.Clone(opt.DatasetRoots), root)
		opt.Datasets = nil // the index is of the folders before
	})
}

// takeBack takes the last change back, of which the port could not be made.
func (p *porting) takeBack() { p.opt = p.before }

// unsaved says whether answers were given that are in no file.
func (p *porting) unsaved() bool { return len(p.opt.Answers) > p.kept }

// saved tells that so many answers have been written.
func (p *porting) saved(answers int) { p.kept = min(answers, len(p.opt.Answers)) }

// view says what is being read.
func (p *porting) view(th ui.Theme) string {
	lines := []string{" " + th.Paint(ui.Muted, "reading ") + tail(ui.Clean(p.dir), p.w-10)}
	if text := ui.Clean(p.at.Name); text != "" && p.at.Total > 0 {
		bar := th.Bar(min(40, p.w-4), float64(p.at.Done)/float64(p.at.Total), ui.Accent)
		lines = append(lines, " "+bar+"  "+text)
	} else if text != "" {
		lines = append(lines, " "+th.Paint(ui.Muted, p.at.Stage+" "+text))
	}
	return strings.Join(lines, "\n")
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
