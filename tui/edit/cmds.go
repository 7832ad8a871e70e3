package edit

import (
	"context"
	"errors"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
)

// versions say which texts an answer is about. The zero value is none.
type versions struct{ recipe, workload, form int }

func (s *Screen) versions() versions {
	return versions{s.sides[recipe].text.Version(), s.sides[workload].text.Version(), s.form.keys}
}

type readMsg struct {
	which int
	path  string // as given
	file  string // that was read
	text  string
	err   error
	disk  string // as known when the read began: if it is another by now, the answer is about the past
}

func (s *Screen) read(which int) tea.Cmd {
	path := s.sides[which].path
	if path == "" {
		return nil
	}
	ctx, eng, m := s.ctx, s.eng, s.asked(which)
	return func() tea.Msg {
		file := path
		if which == recipe {
			file, _ = recipes.SplitSelector(path)
		}
		return readFirst(ctx, eng, m, [][2]string{{path, file}})
	}
}

// asked is the beginning of a read's answer: what there is now.
func (s *Screen) asked(which int) readMsg {
	f := &s.sides[which]
	return readMsg{which: which, disk: f.disk}
}

// readFirst reads the first of some files that can be read, each with its path as
// given; without one the error is about the first.
func readFirst(ctx context.Context, eng Engine, m readMsg, tries [][2]string) readMsg {
	for i, t := range tries {
		data, err := eng.ReadFile(ctx, t[1])
		if err == nil {
			m.path, m.file, m.text, m.err = t[0], t[1], string(data), nil
			return m
		}
		if i == 0 {
			m.path, m.file, m.err = t[0], t[1], err
		}
	}
	return m
}

// seek looks for the workload of the recipe: the file that it names, as the
// recipe's mounts show it, else one beside the recipe.
func (s *Screen) seek() tea.Cmd {
	path, text := s.sides[recipe].path, []byte(s.sides[recipe].text.Text())
	ctx, eng, m := s.ctx, s.eng, s.asked(workload)
	return func() tea.Msg {
		file, selector := recipes.SplitSelector(path)
		var tries [][2]string
		try := func(p string) { tries = append(tries, [2]string{p, p}) }
		if r, _, _ := recipes.Select(file, text, selector); r != nil && r.Benchmark.ConfigPath != "" {
			named := r.Benchmark.ConfigPath
			if seen := eng.WorkloadOf(ctx, path, text); seen != "" {
				try(seen)
			} else {
				try(named)
			}
			try(filepath.Join(filepath.Dir(file), filepath.Base(named)))
		}
		try(beside(file))
		return readFirst(ctx, eng, m, tries)
	}
}

type barMsg struct {
	at  versions
	bar bar
}

// compute evaluates the timeout rule, one evaluation at a time: what was typed
// meanwhile is taken up when it answers.
func (s *Screen) compute() tea.Cmd {
	at := s.versions()
	if s.barBusy || at == s.barAt || !s.sides[recipe].loaded {
		return nil
	}
	s.barBusy = true
	d, p := s.draft(), s.pending()
	return func() tea.Msg { return barMsg{at, evaluate(p.in(d))} }
}

type checkMsg struct {
	at       versions
	problems []problem
	layout   int
	todos    int // placeholders among the errors
	entries  []entry
	err      error
}

// check asks the engine for all that is wrong, one request at a time.
func (s *Screen) check() tea.Cmd {
	at := s.versions()
	if s.checkBusy || !s.sides[recipe].loaded || at != s.barAt {
		return nil
	}
	if s.checked = at == s.checkAt; s.checked {
		return nil
	}
	s.checkBusy = true
	ctx, eng, d, typed := s.ctx, s.eng, s.draft(), s.pending()
	return func() tea.Msg {
		d := typed.in(d)
		p, err := eng.CheckText(ctx, d)
		if err != nil {
			return checkMsg{at: at, err: err}
		}
		file, _ := recipes.SplitSelector(d.RecipePath)
		m := checkMsg{at: at, todos: p.Report.Todos, problems: listed(p.Report.Diagnostics, file, d.WorkloadPath), entries: entries(p.Recipe, p.Workload)}
		if p.Recipe != nil {
			m.layout = p.Recipe.Schema
		}
		return m
	}
}

func (s *Screen) draft() engine.Draft {
	d := engine.Draft{RecipePath: s.sides[recipe].path, Recipe: []byte(s.sides[recipe].text.Text())}
	if f := &s.sides[workload]; f.loaded {
		d.WorkloadPath, d.Workload = f.path, []byte(f.text.Text())
	}
	return d
}

type savedMsg struct {
	which   int
	text    string // as saved
	err     error
	changed bool // someone else has written the file
}

// save writes what is not saved; nil if there is nothing to start. A side that is
// being saved is saved again afterwards, with what was typed meanwhile; one that
// someone else wrote meanwhile is asked about first.
func (s *Screen) save() tea.Cmd {
	var cmds []tea.Cmd
	for i := range s.sides {
		f := &s.sides[i]
		switch {
		case f.saving:
			s.again = true
		case f.theirs != nil:
			s.submit, s.leaving = false, false
			cmds = append(cmds, s.meet(i, *f.theirs))
		case f.unsaved:
			f.saving = true
			ctx, eng, path, text, before := s.ctx, s.eng, f.file, f.text.Text(), []byte(f.disk)
			if f.fresh {
				before = nil
			}
			cmds = append(cmds, func() tea.Msg {
				err := eng.Save(ctx, path, []byte(text), before)
				return savedMsg{i, text, err, errors.Is(err, engine.ErrChanged)}
			})
		}
	}
	return tea.Batch(cmds...)
}

// saving says whether a save is under way.
func (s *Screen) saving() bool { return s.sides[recipe].saving || s.sides[workload].saving }
