package port

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/porter"
	"github.com/agentperf/agentperf-tui/porter/session"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// portEngine ports a run directory.
type portEngine interface {
	Port(ctx context.Context, dir string, opt porter.Options) (*porter.Result, error)
}

// porting is the port of a directory, made anew with each answer that is given.
type porting struct {
	eng portEngine
	ctx context.Context

	dir    string
	opt    porter.Options
	before porter.Options // the last change
	kept   int            // answers that have been written

	gen      int                // of the port that is asked for
	stop     context.CancelFunc // ends it; nil: there was none
	on       bool
	progress porter.Progress
}

type (
	portedMsg struct {
		gen     int
		written written
		names   [2]string
		err     error
	}
	progressMsg struct {
		ctx  context.Context // of the port
		gen  int
		p    porter.Progress
		from <-chan porter.Progress
	}
)

// begin ports another directory.
func (p *porting) begin(dir string) tea.Cmd {
	p.dir, p.opt, p.before, p.kept = dir, porter.Options{}, porter.Options{}, 0
	return p.run()
}

// run reads the directory. A port that is asked for while one runs ends the earlier
// one.
func (p *porting) run() tea.Cmd {
	p.giveUp()
	ctx, stop := context.WithCancel(p.ctx)
	p.on, p.progress, p.stop = true, porter.Progress{}, stop
	gen, eng, dir, opt := p.gen, p.eng, p.dir, p.options()
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

// options are what the port is made with, to be handed to a command.
func (p *porting) options() porter.Options {
	opt := p.opt
	opt.Answers = slices.Clone(opt.Answers)
	return opt
}

// giveUp ends the port that runs, and makes its answer void.
func (p *porting) giveUp() {
	p.gen++
	p.on = false
	if p.stop != nil {
		p.stop()
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

func (p *porting) progressed(m progressMsg) tea.Cmd {
	if m.gen != p.gen || !p.on {
		return nil
	}
	p.progress = m.p
	return wait(m.ctx, m.gen, m.from)
}

// ended says whether the port that is asked for has ended with a message.
func (p *porting) ended(m portedMsg) bool {
	if m.gen != p.gen {
		return false
	}
	p.on = false
	p.stop()
	return true
}

// answer ports again with one answer more.
func (p *porting) answer(a porter.Answer) tea.Cmd {
	if p.on {
		return ui.Do(ui.Toast{Text: "the last answer is still being worked in", Role: ui.Muted})
	}
	p.before = p.opt
	p.opt.Answers = append(slices.Clone(p.opt.Answers), a)
	return p.run()
}

// undo ports again without the last answer.
func (p *porting) undo() tea.Cmd {
	n := len(p.opt.Answers)
	if n == 0 {
		return nil
	}
	p.before = p.opt
	p.opt.Answers = p.opt.Answers[:n-1]
	p.kept = min(p.kept, n-1)
	return p.run()
}

// lookBelow ports again with one more folder that datasets are looked for in.
func (p *porting) lookBelow(root string) tea.Cmd {
	if root == "" || p.on {
		return nil
	}
	p.before = p.opt
	p.opt.DatasetRoots = append(slices.Clone(p.opt.DatasetRoots), root)
	p.opt.Datasets = nil // the index is of the folders before
	return p.run()
}

// takeBack takes the last change back, of which the port could not be made.
func (p *porting) takeBack() { p.opt = p.before }

// unsaved says whether answers were given that are in no file.
func (p *porting) unsaved() bool { return len(p.opt.Answers) > p.kept }

// saved tells that so many answers have been written.
func (p *porting) saved(answers int) { p.kept = min(answers, len(p.opt.Answers)) }

// view says what is being read.
func (p *porting) view(th ui.Theme, w int) string {
	lines := []string{" " + th.Paint(ui.Muted, "reading ") + tail(ui.Clean(p.dir), w-10)}
	if at := p.progress; at.Name != "" {
		text := ui.Clean(at.Name)
		if at.Total > 0 {
			lines = append(lines, " "+th.Bar(min(40, w-4), float64(at.Done)/float64(at.Total), ui.Accent)+"  "+text)
		} else {
			lines = append(lines, " "+th.Paint(ui.Muted, at.Stage+" "+text))
		}
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
