package edit

import (
	"errors"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/recipes"
)

// versions say which texts an answer is about. The zero value is none.
type versions struct{ recipe, workload int }

func (s *Screen) versions() versions {
	return versions{s.sides[recipe].text.Version(), s.sides[workload].text.Version()}
}

type readMsg struct {
	which      int
	path, text string
	err        error
}

func (s *Screen) read(which int) tea.Cmd {
	path := s.sides[which].path
	if path == "" {
		return nil
	}
	return s.readFirst(which, path)
}

// readFirst reads the first of some files that can be read; without one the
// error is about the first.
func (s *Screen) readFirst(which int, paths ...string) tea.Cmd {
	ctx, eng := s.ctx, s.eng
	return func() tea.Msg {
		var first error
		for _, p := range paths {
			data, err := eng.ReadFile(ctx, p)
			if err == nil {
				return readMsg{which: which, path: p, text: string(data)}
			}
			if first == nil {
				first = err
			}
		}
		return readMsg{which: which, path: paths[0], err: first}
	}
}

// find looks for the workload of the recipe: the file that it names, else one
// beside the recipe.
func (s *Screen) find() tea.Cmd {
	path := s.sides[recipe].path
	r, _ := recipes.ParseRecipe(path, []byte(s.sides[recipe].text.Text()))
	stem := strings.TrimSuffix(strings.TrimSuffix(path, ".yaml"), ".yml")
	var tries []string
	if r != nil && r.Benchmark.ConfigPath != "" {
		named := r.Benchmark.ConfigPath
		tries = append(tries, named, filepath.Join(filepath.Dir(path), filepath.Base(named)))
	}
	return s.readFirst(workload, append(tries, stem+".workload.yaml")...)
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
	d := s.draft()
	return func() tea.Msg { return barMsg{at, evaluate(d)} }
}

type checkMsg struct {
	at       versions
	problems []problem
	layout   int
	todos    int // placeholders among the errors
	err      error
}

// check asks the engine for all that is wrong, one request at a time.
func (s *Screen) check() tea.Cmd {
	at := s.versions()
	if s.checkBusy || !s.sides[recipe].loaded {
		return nil
	}
	if s.checked = at == s.checkAt; s.checked {
		return nil
	}
	s.checkBusy = true
	ctx, eng, d := s.ctx, s.eng, s.draft()
	return func() tea.Msg {
		p, err := eng.CheckText(ctx, d)
		if err != nil {
			return checkMsg{at: at, err: err}
		}
		m := checkMsg{at: at, todos: p.Report.Todos, problems: listed(p.Report.Diagnostics, d.RecipePath, d.WorkloadPath)}
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

// save writes what is not saved; nil if there is nothing.
func (s *Screen) save() tea.Cmd {
	var cmds []tea.Cmd
	for i := range s.sides {
		if f := &s.sides[i]; f.unsaved && !f.saving {
			f.saving = true
			ctx, eng, path, text, before := s.ctx, s.eng, f.path, f.text.Text(), f.disk
			cmds = append(cmds, func() tea.Msg {
				err := eng.Save(ctx, path, []byte(text), []byte(before))
				return savedMsg{i, text, err, errors.Is(err, engine.ErrChanged)}
			})
		}
	}
	return tea.Batch(cmds...)
}

// overwrite saves over what someone else has written.
func (s *Screen) overwrite(which int) tea.Cmd {
	f := &s.sides[which]
	f.saving = true
	ctx, eng, path, text := s.ctx, s.eng, f.path, f.text.Text()
	return func() tea.Msg {
		now, err := eng.ReadFile(ctx, path)
		if err == nil {
			err = eng.Save(ctx, path, []byte(text), now)
		}
		return savedMsg{which, text, err, errors.Is(err, engine.ErrChanged)}
	}
}
