// Package simulate computes the figures that a local run should have. It simulates the users of the
// built-in client and the routing, caches and times of the mock servers, without processes,
// connections or waiting.
package simulate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/renameio/v2"
	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/mockserver"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/replay"
	"github.com/agentperf/agentperf-tui/engine/results"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// WriteReference writes the simulated figures of the local run in dir to path. The file has the keys
// of the client's statistics file, so it can be used as a side of a comparison. An existing file is
// not overwritten.
func WriteReference(ctx context.Context, dir, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("write reference: %s: %w", path, fs.ErrExist)
	}
	p := &plan.Plan{}
	if err := rundir.ReadPlan(dir, p); err != nil {
		return fmt.Errorf("write reference: %w", err)
	}
	if p.Target != plan.Local || len(p.Phases) != 1 {
		return problem.Errorf(problem.ReferenceNotPossible,
			"write reference: %s: must be a local run with 1 phase, got a %s run with %d", dir, p.Target, len(p.Phases))
	}
	w, _, err := recipes.LoadWorkload(filepath.Join(dir, "benchmark_config.yaml"))
	if err != nil {
		return fmt.Errorf("write reference: %w", err)
	}
	phase, err := simulatePhase(ctx, w, p)
	if err != nil {
		return fmt.Errorf("write reference: %w", err)
	}
	doc := map[string]any{
		"about": map[string]any{
			"name": "simulation", "seed": fmt.Sprint(w.Seed),
			"dataset": w.TrajectoryPath, "model": p.Model,
		},
		"phase":                  0,
		"concurrency":            phase.Concurrency,
		"measurement_duration_s": phase.Window.Seconds,
		"requests": map[string]int{
			"total": phase.Total, "measured": phase.Requests.Measured,
			"successful": phase.Requests.Successful, "failed": phase.Requests.Failed,
		},
	}
	for section, values := range phase.Figures.Statistics() {
		doc[section] = values
	}
	data, err := yaml.Marshal(doc)
	if err != nil {
		return fmt.Errorf("write reference: %w", err)
	}
	return renameio.WriteFile(path, data, 0o644)
}

// mockConfig returns the configuration of the mock servers of a local run.
func mockConfig() mockserver.Config {
	m := backend.LocalMock()
	t := mockserver.DefaultTiming()
	t.PrefillBase, t.PrefillPerToken, t.ITL, t.StreamInterval = m.TTFT, m.PrefillPerToken, m.ITL, m.StreamInterval
	return mockserver.Config{Timing: t, BlockTokens: m.BlockTokens}
}

// simulation is the state of a simulated phase. Times are relative to its start.
type simulation struct {
	cfg        replay.Config
	mock       mockserver.Config
	deployment *mockserver.Deployment
	data       *replay.Dataset
	users      []*replay.Script
	queue      []simEvent
	stop       time.Duration // no requests are sent from then on
	figures    *results.Aggregator
	last       time.Duration // end of the last request
}

// epoch is the start of the simulation. Any time will do.
var epoch = time.Unix(1_000_000_000, 0)

// simulatePhase simulates the only phase of the plan and returns its figures.
func simulatePhase(ctx context.Context, w *recipes.Workload, p *plan.Plan) (results.Phase, error) {
	var none results.Phase
	cfg, err := replay.ConfigOf(w, replay.Options{Model: p.Model, DelayKey: replay.DefaultDelayKey})
	if err != nil {
		return none, err
	}
	data, err := replay.OpenDataset(ctx, cfg)
	if err != nil {
		return none, err
	}
	defer data.Close() // opened for reading, so an error does not matter
	workers := 0
	for _, s := range p.Steps {
		if s.Role == schema.Prefill || s.Role == schema.Agg {
			workers++
		}
	}
	mock := mockConfig()
	s := &simulation{
		cfg: cfg, mock: mock, deployment: mockserver.NewDeployment(mock, workers), data: data,
		stop: cfg.PhaseTimeout, figures: results.NewAggregator(),
	}
	n := p.Phases[0].Concurrency
	userStart := func(i int) time.Duration { return time.Duration(float64(i) / cfg.SpawnRate * float64(time.Second)) }
	for i := range n {
		s.users = append(s.users, data.Script(i))
		s.push(simEvent{at: userStart(i), user: i})
	}
	if err := s.run(ctx); err != nil {
		return none, err
	}
	settled := userStart(n-1) + cfg.SettlingTime
	manifest, err := json.Marshal(map[string]any{
		"phase_idx": 0, "settling_end": unixTime(settled),
		"actual_phase_end": unixTime(max(s.last, s.stop)),
	})
	if err != nil {
		return none, err
	}
	if err := s.figures.AddManifestRow(manifest); err != nil {
		return none, err
	}
	run := s.figures.Snapshot(time.Time{})
	if len(run.Phases) != 1 || run.Phases[0].Requests == nil || len(run.Errors) > 0 {
		return none, problem.Errorf(problem.ReferenceNotPossible, "the simulated phase has no figures: %v", run.Errors)
	}
	return run.Phases[0], nil
}

func unixTime(d time.Duration) float64 { return float64(epoch.Unix()) + d.Seconds() }

// simEvent is an event of the simulation: a user sends a request, or a worker finishes a prefill.
type simEvent struct {
	at     time.Duration
	user   int
	prompt *mockserver.Prompt // of a finished prefill; nil if the user sends a request
	worker int
}

func (s *simulation) run(ctx context.Context) error {
	for len(s.queue) > 0 {
		e := s.queue[0]
		s.queue = s.queue[1:]
		if e.prompt != nil {
			s.deployment.FinishPrefill(e.worker, *e.prompt)
			continue
		}
		if e.at >= s.stop {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.request(e); err != nil {
			return err
		}
	}
	return nil
}

// request simulates a request and schedules the end of its prefill and the user's next request.
func (s *simulation) request(e simEvent) error {
	step := s.users[e.user].Next()
	messages, tools, err := s.data.Prompt(step)
	if err != nil {
		return err
	}
	prompt, err := mockserver.ParsePrompt(messages, tools, s.mock.BlockTokens)
	if err != nil {
		return err
	}
	session := replay.SessionID(s.cfg.Seed, 0, e.user, step.Pass)
	worker, cached := s.deployment.Route(session, prompt)
	limit := s.cfg.MaxTokens
	if step.OutputLimit > 0 {
		limit = min(limit, step.OutputLimit)
	}
	tokens := s.mock.OutputTokens(limit)
	t := s.mock.Timing
	ttft := t.Prefill(prompt.Key, prompt.Tokens, cached)
	_, stream := t.Event(prompt.Key, t.Events(tokens)-1, tokens)
	first := e.at + ttft
	end := first + stream
	s.push(simEvent{at: first, worker: worker, prompt: &prompt})
	s.push(simEvent{at: end + step.Delay, user: e.user})
	s.last = max(s.last, end)
	row := map[string]any{
		"phase_idx": 0, "concurrency": len(s.users), "conversation_id": step.Conversation, "conversation_idx": step.Turn,
		"user_id": e.user, "request_id": session[:12], "start_time": unixTime(e.at), "end_time": unixTime(end),
		"server_input_tokens": prompt.Tokens, "server_output_tokens": tokens, "server_cached_tokens": cached,
		"ttft": ttft.Seconds(), "success": true,
	}
	if tokens > 1 {
		row["itl"] = stream.Seconds() / float64(tokens-1)
		row["sse_output_speed"] = float64(tokens-1) / stream.Seconds()
	}
	line, err := json.Marshal(row)
	if err != nil {
		return err
	}
	return s.figures.AddRequestRow(line)
}

// push inserts an event into the queue, which is sorted by time. Among simultaneous events, the ends
// of prefills come before requests, and requests are sorted by user.
func (s *simulation) push(e simEvent) {
	i, _ := slices.BinarySearchFunc(s.queue, e, func(a, b simEvent) int {
		if a.at == b.at && (a.prompt != nil) != (b.prompt != nil) {
			if a.prompt != nil {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.user, b.user))
	})
	s.queue = slices.Insert(s.queue, i, e)
}
