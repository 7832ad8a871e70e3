package edit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine"
	"github.com/agentperf/agentperf-tui/testdata/frametest"
	"github.com/agentperf/agentperf-tui/tui/ui"
)

// blockedEngine is an engine whose methods return only when ctx is done.
type blockedEngine struct{}

func (blockedEngine) ReadFile(ctx context.Context, _ string) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (blockedEngine) CheckText(ctx context.Context, _ engine.Draft) (*engine.Pair, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (blockedEngine) WorkloadOf(ctx context.Context, _ string, _ []byte) string {
	<-ctx.Done()
	return ""
}

func (blockedEngine) KeepUnsaved(ctx context.Context, _, _, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

func (blockedEngine) DiscardUnsaved(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

func (blockedEngine) Unsaved(ctx context.Context, _ string) (u engine.Unsaved, ok bool, err error) {
	<-ctx.Done()
	return u, false, ctx.Err()
}

func (blockedEngine) Editor(string, string) (*engine.EditorCommand, error) {
	return nil, errors.New("none")
}

func (blockedEngine) Ported(ctx context.Context, _ string) (r, w string, err error) {
	<-ctx.Done()
	return "", "", ctx.Err()
}

func (blockedEngine) Save(ctx context.Context, _ string, _, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}

// No key waits for the engine, texts can be edited during a check, and only one check runs
// at a time.
func TestBlockedEngine(t *testing.T) {
	t.Parallel()
	s := New(blockedEngine{}, ui.NewTheme(true), "/r.yaml", "/w.yaml")
	defer s.Close()
	s.SetSize(80, 20)
	s.Init()
	keys := frametest.Keys("x", "ctrl+s", "ctrl+r", "ctrl+f", "ctrl+n", "ctrl+t", "esc", "down", "enter", "f")
	for _, k := range keys {
		s.Update(k)
		_ = s.View()
	}
	s.question, s.diff, s.finder.active = nil, nil, false
	s.Update(readMsg{side: recipe, path: "/r.yaml", text: testRecipe})
	s.Update(readMsg{side: workload, path: "/w.yaml", text: testWorkload})
	s.Update(ruleMsg{versions: s.versions(), rule: evaluateRule(s.texts.draft())})
	if !s.checks.checking {
		t.Fatal("no check was started")
	}
	s.focus, s.texts.active, s.checks.ruleBusy = onText, workload, true
	var cmds int
	for _, k := range frametest.Keys("a", "b", "c") {
		if s.Update(k) != nil { // not run, as it would wait for the engine
			cmds++
		}
	}
	if got := s.texts.docs[workload].text.Lines()[6]; !strings.HasPrefix(got, "abcphase") {
		t.Errorf("typed into %q", got)
	}
	if cmds > 0 {
		t.Errorf("%d requests started during another one", cmds)
	}
	// The result for an older text starts a check of the newer one.
	s.checks.ruleBusy, s.checks.ruleVersions = false, s.versions()
	cmd := s.Update(checkedMsg{versions: versions{1, 1, 0}})
	if cmd == nil || !s.checks.checking || s.versions() == s.checks.checkedVersions {
		t.Error("an outdated result was accepted")
	}
}
