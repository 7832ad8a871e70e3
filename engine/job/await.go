package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"syscall"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// probeTimeout limits one probe of a step. A server that answers more slowly is not ready.
const probeTimeout = 5 * time.Second

// probeClient probes the run's own servers. It ignores the proxy settings of the environment.
var probeClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// probeResult is the result of one probe.
type probeResult struct {
	step     *runningStep
	ready    bool
	healthy  *event.Count // set by health probes only
	lastSeen string       // what the probe found, if the step is not ready
	timedOut bool         // the time limit of the step has passed
}

// await waits until all given steps are ready. It returns a failure if any step exits, the
// run is stopped, or a step is not ready within its time limit.
func (j *orchestrator) await(ctx context.Context, waiting []*runningStep) *failure {
	if len(waiting) == 0 {
		return nil
	}
	probing, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan probeResult)
	for _, st := range waiting {
		if r := st.step.Ready; r.Probe == plan.ProbeHealth {
			j.rec.logLine("INFO", fmt.Sprintf("Polling %s every %.1fs for %d prefills and %d decodes",
				r.Target, r.IntervalSeconds, r.Prefill, r.Decode))
		}
		if st.step.Ready.Probe != plan.ProbeExit { // its exit is in exits
			go j.probeLoop(probing, st, results)
		}
	}
	var last *event.Count
	for remaining := len(waiting); remaining > 0; {
		select {
		case <-ctx.Done():
			return stopFailure(ctx)
		case f := <-j.fatalLines:
			return j.handleFatalLine(f)
		case st := <-j.exits:
			if fail := j.handleExit(st); fail != nil {
				return fail
			}
			if st.step.Ready.Probe == plan.ProbeExit {
				remaining--
			}
		case a := <-results:
			r := a.step.step.Ready
			if a.healthy != nil && (last == nil || *a.healthy != *last) {
				last = a.healthy
				j.rec.event(event.Health, a.step.step.Name,
					event.Data{Have: a.healthy, Want: &event.Count{Prefill: r.Prefill, Decode: r.Decode}})
			}
			if a.timedOut {
				j.rec.logLine("ERROR", fmt.Sprintf("Model did not get healthy in %d seconds", r.TimeoutSeconds))
				return stepFailure(fmt.Sprintf("%s was not ready within %d s; last probe: %s",
					a.step.step.Name, r.TimeoutSeconds, a.lastSeen))
			}
			if a.ready {
				remaining--
				j.rec.event(event.StepReady, a.step.step.Name, event.Data{Seconds: j.Now().Sub(a.step.startedAt).Seconds()})
			}
		}
	}
	return nil
}

// probeLoop probes a step until it is ready, its time limit has passed or ctx ends.
func (j *orchestrator) probeLoop(ctx context.Context, st *runningStep, results chan<- probeResult) {
	r := st.step.Ready
	deadline := time.NewTimer(time.Duration(r.TimeoutSeconds) * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(time.Duration(max(r.IntervalSeconds, 0.05) * float64(time.Second)))
	defer tick.Stop()
	for {
		a := j.probe(ctx, r)
		a.step = st
		if a.ready || a.healthy != nil {
			if !send(ctx, results, a) || a.ready {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-deadline.C:
			send(ctx, results, probeResult{step: st, timedOut: true, lastSeen: a.lastSeen})
			return
		case <-tick.C:
		}
	}
}

func (j *orchestrator) probe(ctx context.Context, r plan.Readiness) probeResult {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if r.Probe == plan.ProbeTCP {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", r.Target)
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			return probeResult{lastSeen: err.Error()}
		}
		return probeResult{ready: true}
	}
	status, body, err := get(ctx, r.Target)
	switch {
	case err != nil:
		return probeResult{lastSeen: err.Error()}
	case status != http.StatusOK:
		return probeResult{lastSeen: fmt.Sprintf("status %d from %s", status, r.Target)}
	case r.Probe == plan.ProbeHTTP:
		return probeResult{ready: true}
	}
	have, err := countInstances(body, j.Components)
	if err != nil {
		return probeResult{lastSeen: err.Error()}
	}
	return probeResult{
		healthy: &have, ready: have.Prefill >= r.Prefill && have.Decode >= r.Decode,
		lastSeen: fmt.Sprintf("%d of %d prefill and %d of %d decode workers", have.Prefill, r.Prefill, have.Decode, r.Decode),
	}
}

func get(ctx context.Context, url string) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := probeClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, body, err
}

// countInstances counts the generate endpoints in a frontend's health response by role.
// Aggregated workers count as decode workers.
func countInstances(body []byte, roles map[string]schema.Role) (event.Count, error) {
	var doc struct {
		Instances []struct {
			Endpoint  string `json:"endpoint"`
			Component string `json:"component"`
		} `json:"instances"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return event.Count{}, fmt.Errorf("health response is not JSON: %w", err)
	}
	var n event.Count
	for _, i := range doc.Instances {
		if i.Endpoint != "generate" {
			continue
		}
		switch roles[i.Component] {
		case schema.Prefill:
			n.Prefill++
		case schema.Decode, schema.Agg:
			n.Decode++
		}
	}
	return n, nil
}

// Wait waits for a command and returns its exit code. As in a shell, it is 128 plus the
// signal number if a signal ended the command. It is 1 if the exit status is unknown.
func Wait(cmd *exec.Cmd) int {
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 1
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return cmd.ProcessState.ExitCode()
}
