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

// porting is the port of a directory. It is repeated with each answer.
type porting struct {
	inert
	eng Engine
	ctx context.Context
	w   int

	dir          string
	opt          porter.Options
	previousOpt  porter.Options // before the last change
	savedAnswers int            // number of answers that have been written
	result       *resultView    // of the last successful port

	running  *portRun // nil: none is running
	progress porter.Progress
}

// portRun is a running port.
type portRun struct {
	ctx      context.Context
	cancel   context.CancelFunc
	progress chan porter.Progress
}

type (
	portedMsg struct {
		run    *portRun
		result *resultView
		names  [2]string
		err    error
	}
	progressMsg struct {
		run      *portRun
		progress porter.Progress
	}
)

// begin ports another directory.
func (p *porting) begin(dir string) tea.Cmd {
	p.dir, p.opt, p.previousOpt, p.savedAnswers = dir, porter.Options{}, porter.Options{}, 0
	p.result = &resultView{res: &porter.Result{}}
	return p.port()
}

// port ports the directory. It cancels a running port.
func (p *porting) port() tea.Cmd {
	p.cancelRun()
	r := &portRun{progress: make(chan porter.Progress, 1)}
	r.ctx, r.cancel = context.WithCancel(p.ctx)
	p.running, p.progress = r, porter.Progress{}
	eng, dir, opt := p.eng, p.dir, p.options()
	opt.Progress = func(p porter.Progress) {
		select {
		case r.progress <- p:
		default: // the last one is not received yet; a later one will be
		}
	}
	return tea.Batch(func() tea.Msg {
		defer close(r.progress)
		m := portedMsg{run: r, names: defaultNames(session.ExpandHome(dir))}
		opt.RecipeOut, opt.WorkloadOut = m.names[0], m.names[1]
		var res *porter.Result
		if res, m.err = eng.Port(r.ctx, dir, opt); m.err == nil {
			m.result, m.err = newResultView(res)
		}
		return m
	}, r.waitForProgress)
}

// options returns a copy of the options, for use in a command.
func (p *porting) options() porter.Options {
	opt := p.opt
	opt.Answers = slices.Clone(opt.Answers)
	return opt
}

// cancelRun cancels the running port. Its result will be dropped.
func (p *porting) cancelRun() {
	if p.running != nil {
		p.running.cancel()
		p.running = nil
	}
}

// waitForProgress waits for the next progress message.
func (r *portRun) waitForProgress() tea.Msg {
	select {
	case progress, ok := <-r.progress:
		if ok {
			return progressMsg{r, progress}
		}
	case <-r.ctx.Done():
	}
	return nil
}

func (m progressMsg) apply(s *Screen) tea.Cmd {
	if m.run != s.porting.running {
		return nil
	}
	s.porting.progress = m.progress
	return m.run.waitForProgress
}

// handleEnded handles the end of a port; false if it was cancelled.
func (p *porting) handleEnded(m portedMsg) bool {
	if m.run != p.running {
		return false
	}
	p.cancelRun()
	if m.err == nil {
		p.result, p.opt.Datasets = m.result, m.result.res.Datasets
	}
	return true
}

// apply handles the result of the first port, or of one with other answers.
func (m portedMsg) apply(s *Screen) tea.Cmd {
	switch {
	case !s.porting.handleEnded(m):
		return nil
	case m.err != nil && s.stage >= reviewing: // an invalid answer or directory
		s.porting.revert()
		return s.showError(m.err)
	case m.err != nil:
		s.stage, s.hasDirectory = choosing, false
		var parent *porter.ParentError
		if errors.As(m.err, &parent) {
			s.chooser.path.SetValue(strings.TrimSuffix(s.porting.dir, "/") + "/")
			m.err = nil
		}
		return s.chooser.start(m.err)
	}
	s.review.update()
	if s.stage < reviewing { // otherwise the names may be in use already
		s.stage = reviewing
		s.review.files.goToFirstTranslated()
		s.review.files.scroll()
		s.writing.names[0].SetValue(m.names[0])
		s.writing.names[1].SetValue(m.names[1])
	}
	return s.fetch()
}

// portWith changes the options and ports again.
func (p *porting) portWith(change func(opt *porter.Options)) tea.Cmd {
	p.previousOpt, p.opt = p.opt, p.options()
	change(&p.opt)
	return p.port()
}

// answer adds an answer and ports again.
func (p *porting) answer(a porter.Answer) tea.Cmd {
	if p.running != nil {
		return ui.Send(ui.Toast{Text: "the last answer is still being applied", Role: ui.Muted})
	}
	return p.portWith(func(opt *porter.Options) { opt.Answers = append(opt.Answers, a) })
}

// undo removes the last answer and ports again.
func (p *porting) undo() tea.Cmd {
	n := len(p.opt.Answers)
	if n == 0 {
		return nil
	}
	p.savedAnswers = min(p.savedAnswers, n-1)
	return p.portWith(func(opt *porter.Options) { opt.Answers = opt.Answers[:n-1] })
}

// addDatasetRoot adds a directory to search for datasets and ports again.
func (p *porting) addDatasetRoot(root string) tea.Cmd {
	if root == "" || p.running != nil {
		return nil
	}
	return p.portWith(func(opt *porter.Options) {
		opt.DatasetRoots = append(slices.Clone(opt.DatasetRoots), root)
		opt.Datasets = nil // the index is of the previous directories
	})
}

// revert undoes the last change of the options after a failed port.
func (p *porting) revert() { p.opt = p.previousOpt }

// unsaved reports whether there are answers that were not written.
func (p *porting) unsaved() bool { return len(p.opt.Answers) > p.savedAnswers }

// markSaved records the number of answers that have been written.
func (p *porting) markSaved(answers int) { p.savedAnswers = min(answers, len(p.opt.Answers)) }

// view draws the progress.
func (p *porting) view(th ui.Theme) string {
	lines := []string{" " + th.Paint(ui.Muted, "reading ") + pathTail(ui.Clean(p.dir), p.w-10)}
	if text := ui.Clean(p.progress.Name); text != "" && p.progress.Total > 0 {
		bar := th.Bar(min(40, p.w-4), float64(p.progress.Done)/float64(p.progress.Total), ui.Accent)
		lines = append(lines, " "+bar+"  "+text)
	} else if text != "" {
		lines = append(lines, " "+th.Paint(ui.Muted, p.progress.Stage+" "+text))
	}
	return strings.Join(lines, "\n")
}

// defaultNames returns the default names of recipe and workload: in the working
// directory, after the run directory and its parent.
func defaultNames(dir string) [2]string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	stem := strings.Trim(filepath.Base(filepath.Dir(dir))+"-"+filepath.Base(dir), "-./")
	return [2]string{stem + ".yaml", stem + ".workload.yaml"}
}
