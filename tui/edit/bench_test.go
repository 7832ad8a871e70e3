package edit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// longRecipe returns a recipe of 2,000 lines.
func longRecipe() string {
	var b strings.Builder
	b.WriteString(testRecipe + "environment:\n")
	for i := strings.Count(b.String(), "\n"); i < 2000; i++ {
		fmt.Fprintf(&b, "  VARIABLE_%d: \"value %d\" # its purpose\n", i, i)
	}
	return b.String()
}

// BenchmarkKeystroke measures Update and View of the whole frame for a key typed into a
// recipe of 2,000 lines in a terminal of 200x60. Commands run in the background, as in
// the program, and their messages are measured separately.
func BenchmarkKeystroke(b *testing.B) {
	d := &fakeEngine{files: map[string]string{"/r.yaml": longRecipe(), "/w.yaml": testWorkload}}
	s := New(d, ui.NewTheme(true), "/r.yaml", "/w.yaml")
	defer s.Close()
	m := tui.New(nil, s, tui.Options{Dark: true})
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	drive(s, s.Init())
	s.texts.active = recipe
	s.texts.docs[recipe].text.MoveTo(ui.Pos{Line: 1000, Col: 20})
	answers := make(chan tea.Msg, 64)
	keys := frametest.Keys("a", "b", "backspace", "c", "backspace", "backspace", "down", "x", "backspace", "up")
	took := make([]time.Duration, 0, 4096)
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		cmd := s.Update(keys[i%len(keys)])
		_ = m.View()
		took = append(took, time.Since(began))
		runInBackground(cmd, answers)
		for pending := true; pending; {
			select {
			case msg := <-answers:
				began := time.Now()
				runInBackground(s.Update(msg), answers)
				_ = m.View()
				took = append(took, time.Since(began))
			default:
				pending = false
			}
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
	b.ReportMetric(float64(took[len(took)-1])/1e6, "max-ms")
}

// runInBackground runs a command in a goroutine, as the program does.
func runInBackground(cmd tea.Cmd, answers chan<- tea.Msg) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				runInBackground(c, answers)
			}
		default:
			answers <- msg
		}
	}()
}
